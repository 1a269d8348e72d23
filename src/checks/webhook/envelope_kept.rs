//! The response is a review of the version of the request.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "webhook/envelope-kept",
    title: "every response is a ConversionReview of the request's API version",
    why: "API servers refuse a response of another kind or version, whatever its content.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#response-envelope-must-match",
        "docs/api-server-behaviour.md#responses-at-v1beta1-are-barely-checked",
    ],
    severity: Severity::Error,
    since: None,
    help: "respond with the apiVersion and kind of the request",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each_answer(evidence, |_, review, answer| {
        let wrong = ["apiVersion", "kind"].into_iter().find(|name| review[*name] != answer[*name])?;
        let message = format!("{wrong} of the request is {}, of the answer {}", review[wrong], answer[wrong]);
        Some(failure(message, wrong))
    })
}
