//! Changing the storage version rewrites nothing.

use crate::checks::shared_trace::{Found, judged, listed};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/flip-keeps-objects",
    title: "flipping the storage version neither rewrites nor loses objects",
    why: "Objects stay stored at their version until they are written again. The flip alone must not lose anything.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-flip-rewrites-nothing",
    ],
    severity: Severity::Error,
    since: None,
    help: "check what the converter returns for the missing objects",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for before in trace.snapshots(StorageStep::Install) {
            let Some(after) = trace.snapshots(StorageStep::Mixed).find(|after| after.version == before.version) else {
                continue;
            };
            found.examined += 1;
            let (was, now) = (listed(before), listed(after));
            if was != now {
                let message = format!(
                    "a list at {} has {} objects before the flip and {} after it",
                    before.version,
                    was.len(),
                    now.len()
                );
                found.failure(&before.version, message, "objects".to_owned());
            }
            for (name, object) in &before.objects {
                let moved = after
                    .objects
                    .get(name)
                    .is_some_and(|other| other["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"]);
                if moved {
                    found.failure(&before.version, format!("{name} was written by the flip"), "written".to_owned());
                }
            }
        }
    })
}
