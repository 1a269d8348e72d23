//! The response has the uid of its request.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "webhook/uid-echoed",
    title: "every response carries the uid of its request",
    why: "API servers treat a response with another uid, or without one, as a failed conversion: every read and \
          write at the version fails.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#response-uid-must-match",
    ],
    severity: Severity::Error,
    since: None,
    help: "copy request.uid into response.uid",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each_answer(evidence, |_, review, answer| {
        let (asked, said) = (&review["request"]["uid"], &answer["response"]["uid"]);
        (asked != said).then(|| failure(format!("the request's uid is {asked}, the answer's is {said}"), "uid"))
    })
}
