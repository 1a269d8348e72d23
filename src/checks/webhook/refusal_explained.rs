//! Objects that cannot be converted are refused with a message.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Purpose;

pub(crate) const CHECK: Check = Check {
    id: "webhook/refusal-explained",
    title: "an object that cannot be converted gets HTTP 200, Failure and a message",
    why: "Clients see only the message. An HTTP error or an empty message leaves them with 'conversion webhook \
          failed'.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#errors-belong-in-the-result",
        "https://github.com/Kuadrant/authorino/issues/429",
        "https://github.com/grafana/grafana-app-sdk/pull/116",
    ],
    severity: Severity::Error,
    since: None,
    help: "respond with 200, result {status: Failure, message: REASON} and no convertedObjects",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each(
        evidence,
        |exchange| exchange.ask == Purpose::UnknownVersion,
        |exchange| {
            let problem = match exchange.answer() {
                Err(why) => format!("a request for a version that does not exist failed: {why}"),
                Ok(answer) => {
                    let response = &answer["response"];
                    let message = response["result"]["message"].as_str().unwrap_or_default();
                    let objects = response["convertedObjects"].as_array().map_or(0, Vec::len);
                    if response["result"]["status"] == "Success" {
                        "a request for a version that does not exist got Success".to_owned()
                    } else if message.trim().is_empty() {
                        "a request for a version that does not exist was refused without a message".to_owned()
                    } else if objects > 0 {
                        format!("a refusal carries {objects} objects")
                    } else {
                        return None;
                    }
                }
            };
            Some(failure(problem, "refusal"))
        },
    )
}
