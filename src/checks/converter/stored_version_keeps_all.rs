//! A declared loss towards the storage version is permanent: the field is gone before the object reaches etcd.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "converter/stored-version-keeps-all",
    title: "no field map declares a loss towards the stored version",
    why: "Every write is converted to the stored version. A field that is lost there is never persisted, the server \
          returns a different object than the one applied, and every apply writes the object again.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/field-maps.md#lost-only-in-one-version-given-up",
        "docs/api-server-behaviour.md#unchanged-bytes-are-not-written",
    ],
    severity: Severity::Error,
    since: None,
    help: "stash the field in an annotation at the stored version, or store the version that has it",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let Some(stored) = evidence.crd.storage() else {
        return Verdict::Inconclusive("there is no storage version".into());
    };
    let mut failures = Vec::new();
    let mut examined = 1;
    for (map_index, map) in evidence.subject.field_maps_of(evidence.crd) {
        for (index, loss) in map.lost.iter().enumerate() {
            examined += 1;
            if loss.to == stored.name {
                let message = format!(
                    "{} is declared lost from {} to {}, which is the stored version: it is never persisted",
                    loss.path, loss.from, loss.to
                );
                let mut failure = Failure::new(message).version(&loss.from).key("stored");
                failure.path = Some(loss.path.clone());
                failure.span = evidence.subject.file_span(&format!("/fieldMaps/{map_index}/lost/{index}/path"));
                failures.push(failure.related(stored.name_span, "stored"));
            }
        }
    }
    Verdict::from_failures(failures, examined)
}
