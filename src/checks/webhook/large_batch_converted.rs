//! A page of a list is converted in one request.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Purpose;

pub(crate) const CHECK: Check = Check {
    id: "webhook/large-batch-converted",
    title: "a request with 500 objects is converted completely",
    why: "Clients list in pages of 500, and the API server sends a page as one request.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#one-request-may-hold-many-objects",
    ],
    severity: Severity::Error,
    since: None,
    help: "raise the body limit and the time limit of the endpoint, and convert every object of the request",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::all_convert(evidence, |ask| *ask == Purpose::LargeBatch)
}
