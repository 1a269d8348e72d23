//! Every review version of the CRD is answered.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Purpose;

pub(crate) const CHECK: Check = Check {
    id: "webhook/review-versions-answered",
    title: "each review version that the CRD lists gets a response of the same version",
    why: "The API server uses the first version of conversionReviewVersions that it knows, so another release may \
          use another one.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#the-first-known-review-version-is-used",
    ],
    severity: Severity::Error,
    since: None,
    help: "support every version that conversionReviewVersions lists, or list only supported ones",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::all_convert(evidence, |ask| matches!(ask, Purpose::ReviewVersion(_)))
}
