//! A declaration that no longer applies hides the next loss.

use crate::checks::Breach;
use crate::checks::shared_difference::{differences, field};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Trial;
use crate::subject::field_map::Loss;

pub(crate) const CHECK: Check = Check {
    id: "converter/declared-loss-is-real",
    title: "what is declared lost is lost",
    why: "A loss that is declared but does not happen stays in the file for ever, tells people something \
          untrue, and would hide a real loss of the same field later.",
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
    let mut breaches = Vec::new();
    let (mut examined, mut declared) = (0, 0);
    for (map_index, map) in evidence.subject.field_maps_of(evidence.crd) {
        for (index, loss) in map.lost.iter().enumerate() {
            declared += 1;
            let seen: Vec<bool> = evidence.trials.iter().flat_map(|trial| losses(trial, loss)).collect();
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
                let breach = Breach::new(message).version(&loss.from).key("kept");
                let span = evidence.subject.file_span(&format!("/fieldMaps/{map_index}/lost/{index}/path"));
                breaches.push(Breach { path: Some(loss.path.clone()), span, ..breach });
            }
        }
    }
    if declared == 0 {
        return Verdict::Held { examined: evidence.trials.len().max(1) };
    }
    Verdict::from_breaches(breaches, examined)
}

/// For each round trip of an object that has the field: whether it was lost.
fn losses(trial: &Trial, loss: &Loss) -> Vec<bool> {
    let mut seen = Vec::new();
    if *trial.version != loss.from || !trial.fit.is_valid() {
        return seen;
    }
    for (there, back) in trial.round_trips().filter(|(there, _)| *there.leg.to == loss.to) {
        let Some(served) = back.leg.served() else { continue };
        if there.leg.served().is_none() || !loss.is_set(&trial.input) {
            continue;
        }
        let found = differences(&trial.input, served);
        seen.push(found.iter().any(|difference| loss.covers(&loss.from, &loss.to, &field(&difference.pointer))));
    }
    seen
}
