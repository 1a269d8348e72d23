//! Samples convert today as they did when they were recorded.

use serde_json::Value;

use super::shared::{about, each, generic, schema_of};
use crate::checks::shared_difference::differences;
use crate::checks::{Breach, Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Origin;
use crdproof_schema::structural::as_held;

pub(crate) const CHECK: Check = Check {
    id: "converter/samples-convert-as-recorded",
    title: "samples convert as they were recorded",
    why: "A recorded conversion was reviewed by people. A different one is a change of behaviour that nobody \
          looked at.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "https://github.com/tektoncd/pipeline/commit/2952a154c",
    ],
    severity: Severity::Error,
    since: None,
    help: "look at the difference; where it is meant, record anew with `crdproof convert SAMPLE --to VERSION`",
    needs: &[Need::Trials, Need::Recorded],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        let Origin::Sample(name) = &trial.origin else { return };
        let namespace = &trial.input["metadata"]["namespace"];
        for step in trial.first_conversions() {
            let to = &*step.leg.to;
            let recorded = evidence.subject.recorded.iter().find(|recorded| {
                recorded.is_of(evidence.crd)
                    && recorded.name() == name
                    && recorded.group_version().1 == to
                    && recorded.object["metadata"]["namespace"] == *namespace
            });
            let Some(recorded) = recorded else { continue };
            tell.examined();
            if let Some(why) = step.leg.complaint() {
                let message = format!("{name} was converted to {to} when it was recorded, and is refused now: {why}");
                tell.breach(about(evidence, trial, step.number, message));
            }
            let Some(served) = step.leg.served() else { continue };
            let mut meant = recorded.object.clone();
            as_held(schema_of(evidence, to), &mut meant);
            let sample = evidence.subject.samples_of(evidence.crd).find(|sample| {
                sample.name() == name
                    && sample.group_version().1 == &*trial.version
                    && sample.object["metadata"]["namespace"] == *namespace
            });
            let served = undressed(sample.map(|sample| &sample.object), &trial.input, served);
            for difference in differences(&meant, &served) {
                if ["/metadata/uid", "/metadata/generation", "/metadata/resourceVersion", "/metadata/creationTimestamp"]
                    .contains(&difference.pointer.as_str())
                {
                    continue;
                }
                let path = generic(schema_of(evidence, to), &difference.pointer);
                let message = format!("{path} of {name} at {to} is not what was recorded");
                let breach = about(evidence, trial, step.number, message).version(to);
                let shown = evidence.mask(Some(to), &meant);
                let story = format!("{}\nrecorded: {shown}", breach.evidence.as_deref().unwrap_or_default());
                let breach = breach
                    .evidence(story)
                    .key(format!("{name} {path}"))
                    .at(recorded.node.nearest(&difference.pointer).span);
                tell.breach(Breach { path: Some(path), ..breach });
            }
        }
    })
}

/// A converted sample without the metadata that was given to the sample for its trial.
fn undressed(sample: Option<&Value>, input: &Value, served: &Value) -> Value {
    let mut served = served.clone();
    let own = |name: &str| sample.is_none_or(|sample| sample["metadata"].get(name).is_some());
    let Some(metadata) = served.get_mut("metadata").and_then(Value::as_object_mut) else { return served };
    for (name, given) in input["metadata"].as_object().into_iter().flatten().filter(|(name, _)| !own(name)) {
        match (given, metadata.get_mut(name)) {
            (Value::Object(given), Some(Value::Object(entries))) => {
                // The converter may have added some of its own.
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
