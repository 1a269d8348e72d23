//! An API server writes every object at one version. A CRD that marks none or several is refused.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "manifest/one-storage-version",
    title: "exactly one version is the storage version",
    why: "The API server refuses a CRD without exactly one storage version, so an upgrade stops half-way.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#exactly-one-version-is-stored",
    ],
    severity: Severity::Error,
    since: None,
    help: "set `storage: true` on exactly one version",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let stored: Vec<_> = crd.versions.iter().filter(|version| version.storage).collect();
    let failure = match stored.as_slice() {
        [_] => {
            return Verdict::Passed { examined: crd.versions.len() };
        }
        [] => Failure::new("no version has `storage: true`").at(crd.span_at("/spec/versions")),
        [first, rest @ ..] => {
            let names: Vec<_> = stored.iter().map(|version| version.name.as_str()).collect();
            let failure = Failure::new(format!("{} versions have `storage: true`: {}", names.len(), names.join(", ")));
            let failure = failure.at(first.node.nearest("/storage").span);
            rest.iter()
                .fold(failure, |failure, version| failure.related(version.node.nearest("/storage").span, "and here"))
        }
    };
    Verdict::Failed(vec![failure.key("storage")])
}
