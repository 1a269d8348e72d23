//! After migration nothing is stored at the old version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-rewrites-all",
    title: "migration stores every object at the new version",
    why: "An object that is left behind keeps the old version from being removed, or is lost with it.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "M-01",
    ],
    severity: Severity::Error,
    since: None,
    help: "migrate again, and look at what refuses the writes",
    needs: &[Need::Trace],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(new) = evidence.crd.storage() else { return };
        let Some(stored) = trace.stored("storage/migrate").last() else { return };
        for (name, version) in stored {
            found.examined += 1;
            if *version != new.name {
                found.breach(version, format!("{name} is still stored at {version}"), "left".to_owned());
            }
        }
    })
}
