//! Samples convert today as they did when they were recorded.

use serde_json::Value;

use super::shared::{about, each, generic, schema_of};
use crate::checks::shared_difference::differences;
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::Origin;
use crdproof_schema::structural::canonicalize;

pub(crate) const CHECK: Check = Check {
    id: "converter/samples-convert-as-recorded",
    title: "samples convert as recorded",
    why: "Recorded conversions were reviewed. A different result is a change of behaviour without a review.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "https://github.com/tektoncd/pipeline/commit/2952a154c",
    ],
    severity: Severity::Error,
    since: None,
    help: "check the difference; if it is intended, record it again with `crdproof convert SAMPLE --to VERSION`",
    needs: &[Need::ConversionRuns, Need::Recorded],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        let Origin::Sample(name) = &conversion_run.origin else { return };
        let namespace = &conversion_run.input["metadata"]["namespace"];
        for step in conversion_run.first_conversions() {
            let to = &*step.hop.to;
            let recorded = evidence.subject.recorded.iter().find(|recorded| {
                recorded.is_of(evidence.crd)
                    && recorded.name() == name
                    && recorded.group_version().1 == to
                    && recorded.object["metadata"]["namespace"] == *namespace
            });
            let Some(recorded) = recorded else { continue };
            collector.examined();
            if let Some(why) = step.hop.complaint() {
                let message = format!("{name} has a recorded conversion to {to}, and is refused now: {why}");
                collector.failure(about(evidence, conversion_run, step.number, message));
            }
            let Some(served) = step.hop.served() else { continue };
            let mut meant = recorded.object.clone();
            canonicalize(schema_of(evidence, to), &mut meant);
            let sample = evidence.subject.samples_of(evidence.crd).find(|sample| {
                sample.name() == name
                    && sample.group_version().1 == &*conversion_run.version
                    && sample.object["metadata"]["namespace"] == *namespace
            });
            let served = undressed(sample.map(|sample| &sample.object), &conversion_run.input, served);
            for difference in differences(&meant, &served) {
                if ["/metadata/uid", "/metadata/generation", "/metadata/resourceVersion", "/metadata/creationTimestamp"]
                    .contains(&difference.pointer.as_str())
                {
                    continue;
                }
                let path = generic(schema_of(evidence, to), &difference.pointer);
                let message = format!("{path} of {name} at {to} differs from the recorded one");
                let failure = about(evidence, conversion_run, step.number, message).version(to);
                let shown = evidence.redact(Some(to), &meant);
                let story = format!("{}\nrecorded: {shown}", failure.evidence.as_deref().unwrap_or_default());
                let failure = failure
                    .evidence(story)
                    .key(format!("{name} {path}"))
                    .at(recorded.node.nearest(&difference.pointer).span);
                collector.failure(Failure { path: Some(path), ..failure });
            }
        }
    })
}

/// A converted sample without the metadata that the sample got for its conversion run.
fn undressed(sample: Option<&Value>, input: &Value, served: &Value) -> Value {
    let mut served = served.clone();
    let own = |name: &str| sample.is_none_or(|sample| sample["metadata"].get(name).is_some());
    let Some(metadata) = served.get_mut("metadata").and_then(Value::as_object_mut) else { return served };
    for (name, given) in input["metadata"].as_object().into_iter().flatten().filter(|(name, _)| !own(name)) {
        match (given, metadata.get_mut(name)) {
            (Value::Object(given), Some(Value::Object(entries))) => {
                // The converter may have added its own.
                entries.retain(|key, _| !given.contains_key(key));
                if entries.is_empty() {
                    metadata.remove(name);
                }
            }
            _ => drop(metadata.remove(name)),
        }
    }
    served
}
