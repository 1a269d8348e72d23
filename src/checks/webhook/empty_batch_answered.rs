//! A request without objects gets a response without objects.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Purpose;

pub(crate) const CHECK: Check = Check {
    id: "webhook/empty-batch-answered",
    title: "a request without objects gets a response",
    why: "An endpoint that reads the first object without checking that there is one crashes, and other requests \
          fail with it.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#one-request-may-hold-many-objects",
    ],
    severity: Severity::Warning,
    since: None,
    help: "loop over request.objects instead of reading objects[0]",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each(
        evidence,
        |exchange| exchange.ask == Purpose::EmptyBatch,
        |exchange| {
            let why = exchange.answer().err()?;
            Some(failure(format!("a request without objects failed: {why}"), "empty"))
        },
    )
}
