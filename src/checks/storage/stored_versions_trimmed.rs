//! Versions that are no longer stored can be removed from `storedVersions`.

use crate::checks::shared_trace::{Found, judged, stored_versions};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/stored-versions-trimmed",
    title: "after migration `storedVersions` can be trimmed to the stored version",
    why: "The old version cannot be removed while `storedVersions` lists it.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#stored-versions-are-not-validated",
        "docs/api-server-behaviour.md#the-main-endpoint-ignores-status",
        "https://github.com/kubernetes-sigs/cluster-api/issues/6691",
    ],
    severity: Severity::Error,
    since: None,
    help: "update `/status` of the CRD after you have proved that nothing is stored at the old version",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let (Some(new), Some(definition)) = (evidence.crd.storage(), trace.definition(StorageStep::Trim)) else {
            return;
        };
        found.examined += 1;
        let left = stored_versions(definition);
        if left != [new.name.clone()] {
            let message = format!("storedVersions is {left:?} after it was trimmed to {}", new.name);
            found.failure(&new.name, message, "storedVersions".to_owned());
        }
    })
}
