//! One request may contain objects of several versions.

use serde_json::Value;

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Exchange, Purpose};

pub(crate) const CHECK: Check = Check {
    id: "webhook/mixed-batch-converted",
    title: "a request with objects of several versions is converted completely, each object as if it were alone",
    why: "A list of objects that are stored at different versions is one request. During a storage migration this is \
          the normal case.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#one-request-may-hold-many-objects",
        "https://github.com/stackabletech/operator-rs/commit/7d83ffe7",
    ],
    severity: Severity::Error,
    since: None,
    help: "read the apiVersion of each object, not only of the first",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mixed = |exchange: &Exchange| exchange.ask == Purpose::MixedBatch;
    match shared::all_convert(evidence, |ask| *ask == Purpose::MixedBatch) {
        Verdict::Passed { .. } => shared::each(evidence, mixed, |exchange| {
            let request = exchange.review()["request"].take();
            let sent = request["objects"].as_array()?.iter();
            let answered = exchange.converted().ok()?;
            let differs = |(object, answer): &(&Value, &Value)| {
                alone(evidence, object, &request["desiredAPIVersion"]).is_some_and(|alone| alone != nameless(answer))
            };
            let (object, _) = sent.zip(&answered).find(differs)?;
            let message =
                format!("an object of {} converts differently in a mixed batch than alone", object["apiVersion"]);
            Some(failure(message, "alone"))
        }),
        decided => decided,
    }
}

/// Returns the result for the same object in a separate request.
fn alone(evidence: &Evidence<'_>, object: &Value, desired: &Value) -> Option<Value> {
    let object = nameless(object);
    let same = |exchange: &&Exchange| {
        let request = exchange.review()["request"].take();
        exchange.ask == Purpose::Conversion
            && request["desiredAPIVersion"] == *desired
            && request["objects"].get(0).is_some_and(|sent| nameless(sent) == object)
    };
    let exchange = evidence.exchanges.iter().find(same)?;
    exchange.converted().ok()?.first().map(nameless)
}

/// An object without the fields that distinguish its copies.
fn nameless(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| !matches!(name.as_str(), "name" | "uid"));
    }
    object
}
