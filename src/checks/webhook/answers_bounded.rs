//! An endpoint that hangs, or answers without end, takes every version but the stored one away from all clients.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Exchange, NO_ANSWER, NotConverted, OUT_OF_PROPORTION, Purpose};

pub(crate) const CHECK: Check = Check {
    id: "webhook/answers-bounded",
    title: "every response arrives in time, and its size is in proportion to the request",
    why: "API servers wait 30 s and read a response into memory. If the endpoint exceeds that, every request at a \
          version other than the stored one fails, or exhausts the API server's memory.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#the-webhook-has-thirty-seconds",
    ],
    severity: Severity::Error,
    since: None,
    help: "check the converter for a deadlock, an endless loop or a call to another service; return each object once",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    // Larger and stranger requests have checks of their own.
    let is_plain = |exchange: &Exchange| {
        matches!(exchange.ask, Purpose::Conversion | Purpose::Afterwards | Purpose::Repeated | Purpose::Concurrent(_))
    };
    shared::each(evidence, is_plain, |exchange| match exchange.converted() {
        Err(NotConverted::Failed(why)) if why.starts_with(NO_ANSWER) => {
            Some(failure(format!("the endpoint hangs: {why}"), "hangs"))
        }
        Err(NotConverted::Failed(why)) if why.starts_with(OUT_OF_PROPORTION) => Some(failure(why, "out of proportion")),
        Err(NotConverted::Failed(_) | NotConverted::Refused(_)) | Ok(_) => None,
    })
}
