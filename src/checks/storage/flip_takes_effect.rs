//! After a change of the storage version, writes are stored at the new version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/flip-takes-effect",
    title: "after the flip, writes are stored at the new version",
    why: "A migration that begins while some writes are still stored at the old version misses those objects.",
    source: &[
        "docs/api-server-behaviour.md#a-flip-takes-time",
        "https://github.com/kubernetes/kubernetes/issues/130235",
    ],
    severity: Severity::Error,
    since: None,
    help: "wait until writes are stored at the new version; discovery changes earlier",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(settled) = trace.settled(StorageStep::Flip).next() else { return };
        found.examined += 1;
        if !settled.has_taken_effect() {
            let message = "writes did not land at the new storage version within the time given".to_owned();
            found.failure("", message, "flip".to_owned());
        }
    })
}
