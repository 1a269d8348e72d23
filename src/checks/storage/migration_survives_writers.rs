//! Migration works while others write.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, PassName, Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-survives-writers",
    title: "migration and other writers do not disturb each other",
    why: "Clusters are never idle. A migration that fails because of other writes, or that reverts them, cannot be \
          used.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#writers-do-not-fail-a-migration",
        "https://github.com/stacklok/toolhive/pull/5362",
    ],
    severity: Severity::Error,
    since: None,
    help: "send the resource version that was read with each write, and treat a conflict as a write at the new version",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(new) = evidence.crd.storage() else { return };
        let failed = |name| trace.pass(StorageStep::Busy, name).map(|pass| pass.failed);
        let refused = trace.refused_writes(StorageStep::Busy).next().copied();
        let counts = [
            ("busy: failed", failed(PassName::Busy)),
            ("last: failed", failed(PassName::Last)),
            ("busy: writes of others that were refused", refused),
        ];
        for (what, count) in counts {
            let Some(count) = count else { continue };
            found.examined += 1;
            if count > 0 {
                found.failure(
                    &new.name,
                    format!("{what}: {count}, while others wrote during the migration"),
                    what.to_owned(),
                );
            }
        }
        for call in trace.calls(StorageStep::Busy).filter(|call| call.action == Action::WrittenByOthers) {
            found.examined += 1;
            let last = &call.answered["metadata"]["labels"]["crdproof.dev/busy"];
            if *last != "19" {
                let message = format!("the last of 20 writes by others is lost; the label is {last}");
                found.failure(&new.name, message, "undone".to_owned());
            }
        }
        for (name, version) in trace.stored(StorageStep::Busy).last().into_iter().flatten() {
            if *version != new.name {
                found.failure(
                    &new.name,
                    format!("{name} is left at {version} after a migration among writers"),
                    "left".to_owned(),
                );
            }
        }
    })
}
