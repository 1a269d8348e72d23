//! A declaration that no longer applies hides the next loss.

use crate::checks::Failure;
use crate::checks::shared_difference::{differences, field};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::ConversionRun;
use crate::subject::DeclaredLoss;
use crate::subject::field_map::Loss;
use crdproof_schema::document::pointer;
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/declared-loss-is-real",
    title: "every declared loss happens",
    why: "A declared loss that does not happen misinforms readers, and it would hide a real loss of the same field \
          later.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/field-maps.md#lost-only-in-one-version-given-up",
    ],
    severity: Severity::Warning,
    since: None,
    help: "remove the declaration",
    needs: &[Need::Survey],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let (mut failures, mut examined, mut declared) = by_path(evidence);
    for (map_index, map) in evidence.subject.field_maps_of(evidence.crd) {
        for (index, loss) in map.lost.iter().enumerate() {
            declared += 1;
            let seen: Vec<bool> =
                evidence.conversion_runs.iter().flat_map(|conversion_run| losses(conversion_run, loss)).collect();
            if seen.is_empty() {
                continue;
            }
            examined += 1;
            if !seen.contains(&true) {
                let message = format!(
                    "{} is declared lost from {} to {}, but {} objects kept it",
                    loss.path,
                    loss.from,
                    loss.to,
                    seen.len()
                );
                let failure = Failure::new(message).version(&loss.from).key("kept");
                let span = evidence.subject.file_span(&format!("/fieldMaps/{map_index}/lost/{index}/path"));
                failures.push(Failure { path: Some(loss.path.clone()), span, ..failure });
            }
        }
    }
    if declared == 0 {
        return Verdict::Passed { examined: evidence.conversion_runs.len().max(1) };
    }
    Verdict::from_failures(failures, examined)
}

/// Judges the losses that are declared by path; also returns the number of examined ones, and the total.
fn by_path(evidence: &Evidence<'_>) -> (Vec<Failure>, usize, usize) {
    let (mut failures, mut examined, mut declared) = (Vec::new(), 0, 0);
    let losses = evidence.subject.file.losses.iter().enumerate();
    for (index, loss) in losses.filter(|(_, loss)| loss.is_of(evidence.crd)) {
        declared += 1;
        let seen: Vec<bool> =
            evidence.conversion_runs.iter().flat_map(|conversion_run| losses_by_path(conversion_run, loss)).collect();
        examined += usize::from(!seen.is_empty());
        if !seen.is_empty() && !seen.contains(&true) {
            let message = format!("{} is declared lost, but {} objects kept it", loss.path.as_str(), seen.len());
            let span = evidence.subject.file_span(&format!("/losses/{index}/path"));
            let path = Some(loss.path.as_str().to_owned());
            failures.push(Failure { span, path, ..Failure::new(message).key("kept") });
        }
    }
    (failures, examined, declared)
}

/// For each round trip of an object that has a field with this path: true if one was lost.
fn losses_by_path(conversion_run: &ConversionRun, loss: &DeclaredLoss) -> Vec<bool> {
    if !conversion_run.fit.is_valid() || !has_field(&conversion_run.input, &mut String::new(), loss) {
        return Vec::new();
    }
    let is_lost = |served| {
        let found = differences(&conversion_run.input, served);
        found.iter().any(|difference| loss.path.covers(&field(&difference.pointer)))
    };
    conversion_run.round_trips().filter_map(|(_, back)| Some(is_lost(back.hop.served()?))).collect()
}

/// Returns true if an object has a field with this path.
fn has_field(value: &Value, at: &mut String, loss: &DeclaredLoss) -> bool {
    if loss.path.matches(&field(at)) {
        return true;
    }
    let mut is_below = |name: &str, value: &Value| {
        let length = pointer::descend(at, name);
        let has = has_field(value, at, loss);
        at.truncate(length);
        has
    };
    match value {
        Value::Object(map) => map.iter().any(|(name, value)| is_below(name, value)),
        Value::Array(items) => items.iter().enumerate().any(|(index, item)| is_below(&index.to_string(), item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// For each round trip of an object that has the field: true if it was lost.
fn losses(conversion_run: &ConversionRun, loss: &Loss) -> Vec<bool> {
    let mut seen = Vec::new();
    if *conversion_run.version != loss.from || !conversion_run.fit.is_valid() {
        return seen;
    }
    for (there, back) in conversion_run.round_trips().filter(|(there, _)| *there.hop.to == loss.to) {
        let Some(served) = back.hop.served() else { continue };
        if there.hop.served().is_none() || !loss.is_set(&conversion_run.input) {
            continue;
        }
        let found = differences(&conversion_run.input, served);
        seen.push(found.iter().any(|difference| loss.covers(&loss.from, &loss.to, &field(&difference.pointer))));
    }
    seen
}
