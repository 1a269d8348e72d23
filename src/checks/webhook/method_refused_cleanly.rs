//! Only POST converts.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Outcome, Purpose};

pub(crate) const CHECK: Check = Check {
    id: "webhook/method-refused-cleanly",
    title: "methods other than POST are refused with a 4xx status",
    why: "Probes and scanners send GET. A 5xx status triggers alerts, and a success hides a wrong route.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#the-request-is-a-json-post",
    ],
    severity: Severity::Warning,
    since: None,
    help: "respond with 405 to every method except POST",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each(
        evidence,
        |exchange| exchange.ask == Purpose::Method,
        |exchange| {
            let said = match &exchange.outcome {
                Outcome::Answered { status: 400..=499, .. } | Outcome::Met(_) => return None,
                Outcome::Answered { status, .. } => format!("HTTP {status}"),
                Outcome::Failed(why) => format!("no answer ({why})"),
            };
            Some(failure(format!("{} was answered by {said}", exchange.method), "method"))
        },
    )
}
