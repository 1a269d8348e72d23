//! Others write while objects are migrated.

use crate::checks::shared_trace::{Found, counted, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-survives-writers",
    title: "migration and other writers do not disturb each other",
    why: "A cluster is never quiet. A migration that fails because somebody writes, or that undoes what \
          somebody wrote, cannot be run.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#writers-do-not-fail-a-migration",
        "https://github.com/stacklok/toolhive/pull/5362",
    ],
    severity: Severity::Error,
    since: None,
    help: "write only with the resource version that was read, and take a conflict for a rewrite",
    needs: &[Need::Trace],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(new) = evidence.crd.storage() else { return };
        let counts = ["busy: failed", "last: failed", "busy: writes of others that were refused"];
        for what in counts {
            let Some(count) = counted(trace, "storage/busy", what) else { continue };
            found.examined += 1;
            if count > 0 {
                found.breach(
                    &new.name,
                    format!("{what}: {count}, while others wrote during the migration"),
                    what.to_owned(),
                );
            }
        }
        for call in trace.calls("storage/busy").filter(|call| call.what == "written by others") {
            found.examined += 1;
            let last = &call.answered["metadata"]["labels"]["crdproof.dev/busy"];
            if *last != "19" {
                let message = format!("the last of 20 writes by others is not there; the label is {last}");
                found.breach(&new.name, message, "undone".to_owned());
            }
        }
        for (name, version) in trace.stored("storage/busy").last().into_iter().flatten() {
            if *version != new.name {
                found.breach(
                    &new.name,
                    format!("{name} is left at {version} after a migration among writers"),
                    "left".to_owned(),
                );
            }
        }
    })
}
