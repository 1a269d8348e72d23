//! Objects are returned one for one, in their order.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "webhook/count-and-order-kept",
    title: "the response has as many objects as the request, in the same order",
    why: "API servers match converted objects with the originals by position. In another order, clients get the \
          content of other objects.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go",
        "docs/api-server-behaviour.md#every-object-must-come-back-in-its-place",
    ],
    severity: Severity::Error,
    since: None,
    help: "convert request.objects one by one, in order, and return all of them",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each_success(evidence, |_, sent, converted| {
        if sent.len() != converted.len() {
            let message = format!("{} objects were sent, {} came back", sent.len(), converted.len());
            return Some(failure(message, "count"));
        }
        let name = |object: &serde_json::Value| object["metadata"]["name"].clone();
        let moved = sent.iter().zip(converted).position(|(sent, converted)| name(sent) != name(converted))?;
        let known = sent.iter().any(|sent| name(sent) == name(&converted[moved]));
        // Another check reports an object with a name that was never sent.
        known.then(|| {
            let message =
                format!("object {moved} is {}, and {} came back there", name(&sent[moved]), name(&converted[moved]));
            failure(message, "order")
        })
    })
}
