//! Migrating twice is migrating once.

use crate::checks::shared_trace::{Found, counted, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-repeats-as-no-op",
    title: "a second migration writes nothing",
    why: "A converter that is not deterministic makes every write a change: resource versions move for ever, \
          and a migration is never done.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "M-02",
        "C-04",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter deterministic",
    needs: &[Need::Trace],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(rewritten) = counted(trace, "storage/migrate-again", "second: rewritten") else { return };
        found.examined += 1;
        if rewritten > 0 {
            let message = format!("a second migration stored {rewritten} objects anew, although nothing had changed");
            found.breach("", message, "rewritten".to_owned());
        }
    })
}
