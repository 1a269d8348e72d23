//! The response states its result.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "webhook/result-stated",
    title: "every response states Success or Failure in response.result.status",
    why: "API servers treat every status except Success as a failure, and a missing result as a failure without a \
          message.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#the-result-must-be-success",
        "https://github.com/kubernetes-sigs/controller-runtime/pull/443",
    ],
    severity: Severity::Error,
    since: None,
    help: "set response.result.status to Success or Failure",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each_answer(evidence, |_, _, answer| {
        let status = &answer["response"]["result"]["status"];
        let stated = status == "Success" || status == "Failure";
        (!stated).then(|| failure(format!("response.result.status is {status}"), "status"))
    })
}
