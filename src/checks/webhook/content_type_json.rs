//! A response has the content type of JSON.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Outcome;

pub(crate) const CHECK: Check = Check {
    id: "webhook/content-type-json",
    title: "every response has the content type application/json",
    why: "Proxies and meshes between API server and endpoint have to guess the type of a response without one.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#the-request-is-a-json-post",
    ],
    severity: Severity::Note,
    since: None,
    help: "set the header Content-Type: application/json",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each_answer(evidence, |exchange, _, _| {
        let Outcome::Answered { content_type, .. } = &exchange.outcome else { return None };
        let stated = content_type.as_deref().unwrap_or("nothing");
        let media = stated.split(';').next().unwrap_or_default().trim();
        (!media.eq_ignore_ascii_case("application/json"))
            .then(|| failure(format!("the content type is {stated}"), "type"))
    })
}
