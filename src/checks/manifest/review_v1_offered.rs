//! Webhooks should speak `ConversionReview` v1, and v1beta1 only for servers that need it.

use super::review_versions_known::WRONG_LIST;
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "manifest/review-v1-offered",
    title: "conversionReviewVersions has v1, and v1beta1 if the declared minimum needs it",
    why: "With v1beta1, the API server checks neither uid nor envelope, so defects of the webhook stay hidden until \
          v1 is listed. A 1.16 server, however, requires v1beta1 in the list.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#responses-at-v1beta1-are-barely-checked",
    ],
    severity: Severity::Warning,
    since: None,
    help: "write `conversionReviewVersions: [v1]`, or `[v1, v1beta1]` for Kubernetes 1.16",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let offered = |name: &str| crd.conversion.review_versions.iter().any(|(version, _)| version == name);
    let at = crd.span_at("/spec/conversion/webhook/conversionReviewVersions");
    let mut failures = Vec::new();
    if crd.conversion.strategy == "Webhook" {
        if offered("v1beta1") && !offered("v1") {
            let message = "conversionReviewVersions offers v1beta1 but not v1; under v1beta1 the server checks neither uid nor envelope";
            failures.push(Failure::new(message).at(at).key("v1").complaint(WRONG_LIST));
        }
        let old = evidence.minimum().filter(|minimum| !minimum.at_least(17));
        if let Some(minimum) = old.filter(|_| !offered("v1beta1")) {
            let message =
                format!("the subject claims Kubernetes {minimum}, which demands v1beta1 in conversionReviewVersions");
            failures.push(Failure::new(message).at(at).key("v1beta1"));
        }
    }
    Verdict::from_failures(failures, 1)
}
