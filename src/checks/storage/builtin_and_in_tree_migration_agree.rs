//! Our migration and that of the control plane give the same objects.

use crate::checks::shared_difference::{differences, parts};
use crate::checks::shared_drivers::IN_TREE;
use crate::checks::shared_trace::{Found, content, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/builtin-and-in-tree-migration-agree",
    title: "crdproof's migration and the control plane's migration leave the same objects",
    why: "A result that was proven with one of them must hold for a cluster that the other one migrates.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-migration-moves-every-object",
        "docs/api-server-behaviour.md#a-migration-changes-resource-versions-only",
    ],
    severity: Severity::Error,
    since: Some(37),
    help: "make the converter lossless and deterministic",
    needs: &[Need::Scenario(Scenario::Storage), Need::InTreeMigration],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for ours in trace.snapshots(StorageStep::Migrate) {
            let version = ours.version.as_str();
            let Some(theirs) = trace.snapshots(IN_TREE.done).find(|theirs| theirs.version == version) else { continue };
            for (name, was) in &ours.objects {
                found.examined += 1;
                let Some(now) = theirs.objects.get(name) else {
                    let message = format!("{name} is gone at {version} after migration{}", IN_TREE.by);
                    found.failure(version, message, "gone".to_owned());
                    continue;
                };
                let (was, now) = (content(was), content(now));
                for difference in differences(&was, &now) {
                    let missing = difference.was.is_none() || difference.now.is_none();
                    if missing && is_defaulted(evidence, &difference.pointer) {
                        continue;
                    }
                    let message = format!(
                        "{} of {name} is not the same at {version} after the built-in migration and after one{}",
                        difference.pointer, IN_TREE.by
                    );
                    found.failure(version, message, difference.pointer.clone());
                }
            }
        }
    })
}

/// Returns true if some version has a default there: both migrations write through different versions, and each adds
/// its own defaults.
fn is_defaulted(evidence: &Evidence<'_>, pointer: &str) -> bool {
    evidence.crd.versions.iter().filter_map(|version| version.schema.as_ref()).any(|schema| {
        let mut at = Some(schema);
        parts(pointer).any(|part| {
            at = at.and_then(|schema| schema.child(&part));
            at.is_some_and(|schema| schema.default.is_some())
        })
    })
}
