//! An interrupted migration can be resumed.

use crate::checks::shared_trace::{Found, alike, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-resumes",
    title: "an interrupted migration can be started again, and completes",
    why: "Migrating many objects takes long, and restarts and deadlines interrupt it. Then both versions are stored.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-migration-moves-every-object",
        "docs/api-server-behaviour.md#some-errors-end-a-migration-others-repeat-it",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter deterministic, so that objects that were migrated before are not written again",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(new) = evidence.crd.storage() else { return };
        let (Some(cut), Some(resumed)) =
            (trace.stored(StorageStep::Cut).last(), trace.stored(StorageStep::Resume).last())
        else {
            return;
        };
        // A migration that was not interrupted halfway shows nothing.
        if cut.values().all(|version| *version == new.name) || cut.values().all(|version| *version != new.name) {
            return;
        }
        for driven in trace.driven(StorageStep::Resume) {
            found.examined += 1;
            if !driven.done {
                let message = format!("a migration that was started again is not done: {}", driven.said);
                found.failure(&new.name, message, "done".to_owned());
            }
        }
        for (name, version) in resumed {
            found.examined += 1;
            if *version != new.name {
                let message = format!("{name} is still stored at {version} after the migration was started again");
                found.failure(version, message, "left".to_owned());
            }
        }
        let when = "after a migration that was cut and started again";
        alike(evidence, trace, (StorageStep::Cut, StorageStep::Resume), when, found);
    })
}
