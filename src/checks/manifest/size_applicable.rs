//! CRDs grow with every version. Past certain sizes they can no longer be applied.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::document::Node;

pub(crate) const CHECK: Check = Check {
    id: "manifest/size-applicable",
    title: "the CRD fits client-side apply and etcd",
    why: "`kubectl apply` keeps a copy of the CRD in an annotation, and annotations are limited to 262,144 bytes; \
          etcd refuses requests over 1.5 MiB.",
    source: &[
        "docs/api-server-behaviour.md#large-crds-do-not-fit-client-side-apply",
        "https://github.com/kubernetes/kubernetes/issues/110893",
    ],
    severity: Severity::Error,
    since: None,
    help: "install the CRD with server-side apply, or shorten descriptions (controller-gen's maxDescLen)",
    needs: &[Need::Manifest],
    judge,
};

const ANNOTATIONS: usize = 262_144;
const ETCD: usize = 1_572_864;
/// The annotation's own key.
const LAST_APPLIED: usize = "kubectl.kubernetes.io/last-applied-configuration".len();

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let size = crd.node.to_value().to_string().len();
    let annotations = crd.node.at(&["metadata", "annotations"]).map(Node::entries).unwrap_or_default();
    let stated: usize =
        annotations.iter().map(|entry| entry.key.len() + entry.value.as_str().map_or(0, str::len)).sum();
    let span = crd.span_at("/metadata/name");
    let failure = |message: String, key: &str| Failure::new(message).at(span).key(key);
    let failures = if stated > ANNOTATIONS {
        let message = format!("the annotations are {stated} bytes; API servers take at most {ANNOTATIONS}");
        vec![failure(message, "annotations").help("shorten or remove annotations")]
    } else if size > ETCD {
        let message = format!("the CRD is {size} bytes of JSON; etcd takes at most {ETCD} in one request");
        vec![failure(message, "etcd").help("split the CRD or shorten its descriptions")]
    } else if size + 1 + LAST_APPLIED + stated > ANNOTATIONS {
        let message = format!(
            "the CRD is {size} bytes of JSON; client-side apply fails above {ANNOTATIONS} bytes of annotations"
        );
        vec![failure(message, "apply").severity(Severity::Warning)]
    } else {
        Vec::new()
    };
    Verdict::from_failures(failures, 1)
}
