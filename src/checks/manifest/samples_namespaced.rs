//! Server-side appliers refuse namespaced objects without a namespace.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "manifest/samples-namespaced",
    title: "samples of namespaced kinds set metadata.namespace, those of cluster-wide kinds do not",
    why: "Server-side appliers do not fall back to a current namespace: they refuse the object or put it where \
          nobody looks.",
    source: &["https://fluxcd.io/blog/2021/09/server-side-reconciliation-is-coming/"],
    severity: Severity::Note,
    since: None,
    help: "set metadata.namespace in the sample, or leave it out for a cluster-wide kind",
    needs: &[Need::Manifest, Need::Samples],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let mut failures = Vec::new();
    let mut examined = 0;
    for sample in evidence.subject.samples_of(crd) {
        examined += 1;
        let namespace = sample.object["metadata"]["namespace"].as_str().filter(|namespace| !namespace.is_empty());
        let message = match (crd.is_namespaced(), namespace) {
            (true, None) => {
                format!("the sample {} sets no namespace, but {} is namespaced", sample.name(), crd.names.kind)
            }
            (false, Some(_)) => {
                format!("the sample {} sets a namespace, but {} is cluster-wide", sample.name(), crd.names.kind)
            }
            _ => continue,
        };
        let span = sample.node.nearest("/metadata/namespace").span;
        failures.push(Failure::new(message).at(span).version(sample.group_version().1));
    }
    Verdict::from_failures(failures, examined)
}
