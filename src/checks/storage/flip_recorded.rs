//! The server remembers every version that was ever stored.

use crate::checks::shared_trace::{Found, judged, stored_versions};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/flip-recorded",
    title: "flipping the storage version adds the new version to `storedVersions`",
    why: "`storedVersions` prevents the removal of a version while objects are still stored at it.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-flip-is-recorded",
    ],
    severity: Severity::Error,
    since: None,
    help: "report this to the vendor of the API server",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let (before, after) = (trace.definition(StorageStep::Install), trace.definition(StorageStep::Flip));
        let (Some(before), Some(after)) = (before.map(stored_versions), after.map(stored_versions)) else { return };
        let Some(new) = evidence.crd.storage() else { return };
        found.examined += 1;
        let kept = before.iter().all(|version| after.contains(version));
        if !kept || !after.contains(&new.name) {
            let message = format!(
                "storedVersions goes from {before:?} to {after:?} when the storage version becomes {}",
                new.name
            );
            found.failure(&new.name, message, "storedVersions".to_owned());
        }
    })
}
