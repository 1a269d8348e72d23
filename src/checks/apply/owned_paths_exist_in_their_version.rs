//! Owned fields are fields of the version at which they are owned.

use crate::checks::shared_trace::{Found, judged, owned};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{ApplyStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/owned-paths-exist-in-their-version",
    title: "every owned field exists in the schema of its version",
    why: "A managedFields entry with a path that its version does not have makes the next apply fail, or drops the \
          ownership.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#owned-paths-exist-in-their-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "let the converter write only fields that the target version's schema has",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for snapshot in trace.snapshots(ApplyStep::Owners) {
            for (name, object) in &snapshot.objects {
                for (manager, version, path) in owned(object) {
                    let Some(schema) = evidence.crd.version(&version).and_then(|version| version.schema.as_ref())
                    else {
                        continue;
                    };
                    found.examined += 1;
                    let unknown = path.iter().try_fold(schema, |schema, part| match part.as_str() {
                        "[*]" => schema.items.as_deref().or_else(|| schema.values()),
                        part if schema.preserves_unknown() && schema.child(part).is_none() => Some(schema),
                        part => schema.child(part),
                    });
                    if unknown.is_none() {
                        let message = format!(
                            "{manager} owns {} of {name} at {version}, which has no such field",
                            path.join(".")
                        );
                        found.failure(&version, message, path.join("."));
                    }
                }
            }
        }
    })
}
