//! A newer API server may send additional fields.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Purpose;

pub(crate) const CHECK: Check = Check {
    id: "webhook/unknown-review-fields-tolerated",
    title: "review fields that a newer API server adds are ignored",
    why: "An endpoint that decodes strictly fails on the day the cluster is upgraded.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#the-request-carries-a-fresh-uid-and-an-empty-response",
    ],
    severity: Severity::Error,
    since: None,
    help: "ignore unknown fields of the review",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::all_convert(evidence, |ask| *ask == Purpose::NewerReview)
}
