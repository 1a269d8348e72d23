//! After a flip, writes are stored at the new version.

use crate::checks::shared_trace::{Found, counted, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "storage/flip-takes-effect",
    title: "after the flip writes are stored at the new version",
    why: "A migration that begins while some writes still go to the old version misses them.",
    source: &[
        "docs/api-server-behaviour.md#a-flip-takes-time",
        "https://github.com/kubernetes/kubernetes/issues/130235",
    ],
    severity: Severity::Error,
    since: None,
    help: "wait until writes are seen at the new version; discovery changes sooner",
    needs: &[Need::Trace],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(row) = counted(trace, "storage/flip", "writes at the new version in a row") else { return };
        found.examined += 1;
        if row < 5 {
            let message = "writes did not land at the new storage version within the time given".to_owned();
            found.breach("", message, "flip".to_owned());
        }
    })
}
