//! Changing the storage version rewrites nothing.

use crate::checks::shared_trace::{Found, judged, listed};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/flip-keeps-objects",
    title: "flipping the storage version neither rewrites nor loses objects",
    why: "Objects stay where they are until they are written. Nothing may be lost by a flip alone.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-flip-rewrites-nothing",
    ],
    severity: Severity::Error,
    since: None,
    help: "look at what the converter does with the objects that are missing",
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
