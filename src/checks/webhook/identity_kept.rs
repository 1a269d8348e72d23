//! An object keeps its identity.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "webhook/identity-kept",
    title: "kind, name, namespace and uid of every object are unchanged, and its apiVersion is the desired one",
    why: "API servers refuse an object that is returned with another identity or at another version than the desired \
          one.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#identity-must-come-back-unchanged",
    ],
    severity: Severity::Error,
    since: None,
    help: "set apiVersion to desiredAPIVersion, and leave kind and metadata unchanged",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each_success(evidence, |exchange, sent, converted| {
        let desired = &exchange.review()["request"]["desiredAPIVersion"];
        sent.iter().zip(converted).enumerate().find_map(|(index, (sent, converted))| {
            if converted["apiVersion"] != *desired {
                let message =
                    format!("object {index} came back at {}, asked for was {desired}", converted["apiVersion"]);
                return Some(failure(message, "apiVersion"));
            }
            let changed = ["/kind", "/metadata/name", "/metadata/namespace", "/metadata/uid"]
                .into_iter()
                .find(|pointer| sent.pointer(pointer) != converted.pointer(pointer))?;
            let shown = |object: &serde_json::Value| object.pointer(changed).cloned().unwrap_or_default();
            let message = format!("object {index}: {changed} was {} and is {}", shown(sent), shown(converted));
            Some(failure(message, changed))
        })
    })
}
