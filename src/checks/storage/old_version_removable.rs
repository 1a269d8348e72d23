//! After migration the old version can be removed.

use crate::checks::shared_trace::{Found, judged, listed};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/old-version-removable",
    title: "after migration the old version can be removed, and every object stays readable",
    why: "Removing the old version is the purpose of a migration.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#the-old-version-can-go-after-a-migration",
    ],
    severity: Severity::Error,
    since: None,
    help: "read the message of the API server, and check `storedVersions`",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(StorageStep::Retire) {
            found.examined += 1;
            let wanted = if call.action == Action::ListRemoved { call.status == 404 } else { call.is_success() };
            if !wanted {
                found.failure(
                    &call.version,
                    format!("{} is answered with {}", call.action, call.message()),
                    call.action.to_string(),
                );
            }
        }
        for after in trace.snapshots(StorageStep::Retire) {
            let before = trace.snapshots(StorageStep::Migrate).find(|before| before.version == after.version);
            if let Some(before) = before.filter(|before| listed(before) != listed(after)) {
                let message = format!(
                    "{} objects of {} are left at {}",
                    after.objects.len(),
                    before.objects.len(),
                    after.version
                );
                found.failure(&after.version, message, "objects".to_owned());
            }
        }
    })
}
