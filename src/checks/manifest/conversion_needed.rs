//! A webhook for a single version converts nothing and can only break things.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "manifest/conversion-needed",
    title: "only CRDs with several versions declare a conversion webhook",
    why: "A conversion stanza left by scaffolding makes the CRD depend on a webhook that never converts anything. \
          When that webhook is gone, the CRD can no longer be installed.",
    source: &[
        "docs/api-server-behaviour.md#a-webhook-that-nobody-needs-is-a-risk",
        "https://github.com/kubernetes-retired/hierarchical-namespaces/pull/102",
        "https://github.com/crossplane/crossplane/issues/6914",
    ],
    severity: Severity::Warning,
    since: None,
    help: "write `conversion: {strategy: None}` until there is a second version",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    match crd.versions.as_slice() {
        [only] if crd.conversion.strategy == "Webhook" => {
            let message = format!("a conversion webhook is declared, but {} is the only version", only.name);
            Verdict::Failed(vec![Failure::new(message).at(crd.conversion.span).key("webhook")])
        }
        _ => Verdict::Passed { examined: 1 },
    }
}
