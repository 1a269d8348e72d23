//! `conversionReviewVersions` names versions of the review, not of the CRD.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::is_dns_label_1035;

pub(crate) const CHECK: Check = Check {
    id: "manifest/review-versions-known",
    title: "conversionReviewVersions lists versions of ConversionReview",
    why: "API servers use the first entry that they know and skip the others. They refuse a list with versions of \
          the CRD, or read it differently than its author meant.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#review-versions-must-be-known",
        "docs/api-server-behaviour.md#the-first-known-review-version-is-used",
    ],
    severity: Severity::Error,
    since: None,
    help: "write `conversionReviewVersions: [v1]`; the entries are versions of ConversionReview, not of your CRD",
    needs: &[Need::Manifest],
    judge,
};

/// The complaint about a list with versions of something else: its author did not mean versions of reviews.
pub(super) const WRONG_LIST: &str = "conversionReviewVersions contains other versions";

/// The versions of `ConversionReview` that API servers support.
const KNOWN: [&str; 2] = ["v1", "v1beta1"];

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let conversion = &crd.conversion;
    if conversion.strategy != "Webhook" {
        return Verdict::Passed { examined: 1 };
    }
    let versions = &conversion.review_versions;
    let span = crd.span_at("/spec/conversion/webhook/conversionReviewVersions");
    let mut failures = Vec::new();
    if versions.is_empty() {
        failures.push(
            Failure::new("conversionReviewVersions is missing or empty")
                .at(conversion.webhook.unwrap_or(conversion.span)),
        );
    } else if !versions.iter().any(|(name, _)| KNOWN.contains(&name.as_str())) {
        let names: Vec<_> = versions.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("conversionReviewVersions ({}) contains neither v1 nor v1beta1", names.join(", "));
        failures.push(Failure::new(message).at(span));
    } else {
        for (index, (name, span)) in versions.iter().enumerate() {
            let failure = |message: String| Failure::new(message).at(*span);
            if versions[..index].iter().any(|(other, _)| other == name) {
                failures.push(
                    failure(format!("{name:?} is listed twice in conversionReviewVersions")).help("keep it once"),
                );
            } else if !is_dns_label_1035(name) {
                failures.push(failure(format!("{name:?} in conversionReviewVersions is not valid")));
            } else if !KNOWN.contains(&name.as_str()) {
                let own = if crd.version(name).is_some() { "; it is a version of the CRD" } else { "" };
                let message = format!("{name:?} is not a version of ConversionReview{own}");
                failures.push(failure(message).severity(Severity::Warning).complaint(WRONG_LIST));
            }
        }
    }
    Verdict::from_failures(failures, versions.len().max(1))
}
