//! A second migration changes nothing.

use crate::checks::shared_drivers::judged_by_driver;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{PassName, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-repeats-as-no-op",
    title: "a second migration writes nothing",
    why: "With a converter that is not deterministic, every write is a change: resource versions keep changing, and \
          a migration is never complete.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-migration-changes-resource-versions-only",
        "docs/api-server-behaviour.md#conversion-must-be-deterministic",
        "docs/api-server-behaviour.md#unchanged-bytes-are-not-written",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter deterministic",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged_by_driver(evidence, |trace, driver, found| {
        let Some(pass) = trace.pass(driver.again, PassName::Second) else { return };
        let rewritten = pass.rewritten;
        found.examined += 1;
        if rewritten > 0 {
            let after = if driver.by.is_empty() { String::new() } else { format!(" after one{}", driver.by) };
            let message =
                format!("a second migration{after} rewrote {rewritten} objects, although nothing had changed");
            found.failure("", message, format!("rewritten{}", driver.by));
        }
    })
}
