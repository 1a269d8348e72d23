//! An object that goes to another version and comes back must be the same object.

use serde_json::Value;

use crate::checks::{Breach, Check, Evidence, Need, Severity, Verdict};
use crate::observe::{Leg, Origin, Reply, Trial};

pub(crate) const CHECK: Check = Check {
    id: "converter/round-trip-lossless",
    title: "a round trip through any version loses nothing",
    why: "API servers convert on every read and write through another version. What a round trip loses is lost for \
          everybody, without an error.",
    source: &["https://book.kubebuilder.io/multiversion-tutorial/conversion-concepts", "C-01", "H01", "H05"],
    severity: Severity::Error,
    since: None,
    help: "carry the field through the other version: add it there, or stash it in an annotation",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut breaches = Vec::new();
    for trial in evidence.trials {
        if let Some(Leg { to, reply: Reply::Refused(message) }) = trial.legs.last() {
            let breach = Breach::new(format!("the conversion to {to} was refused: {message}"));
            breaches.push(place(breach, evidence, trial, "refused").key(format!("refused {}", trial.route())));
            continue;
        }
        let Some(output) = trial.output() else { continue };
        for (pointer, change) in changes(&trial.input, output) {
            if declared(evidence, trial, &field(&pointer)) {
                continue;
            }
            let message = format!("{} {change} on the way {}", field(&pointer), trial.route());
            let mut breach =
                place(Breach::new(message), evidence, trial, &pointer).key(format!("{} {pointer}", trial.route()));
            breach.path = Some(field(&pointer));
            breaches.push(breach.evidence(format!("in:  {}\nout: {}", trial.input, output)));
        }
    }
    breaches.sort_by(|left, right| left.key.cmp(&right.key));
    breaches.dedup_by(|left, right| left.key == right.key);
    if evidence.trials.is_empty() {
        return Verdict::Undecided("no object was converted; give samples".into());
    }
    Verdict::from_breaches(breaches, evidence.trials.len())
}

/// Whether a field map declares the loss on any leg of the trial.
fn declared(evidence: &Evidence<'_>, trial: &Trial, field: &str) -> bool {
    let from = std::iter::once(&trial.version).chain(trial.legs.iter().map(|leg| &leg.to));
    let pairs: Vec<_> = from.zip(trial.legs.iter().map(|leg| &leg.to)).collect();
    let mut maps = evidence.subject.field_maps_of(evidence.crd);
    maps.any(|(_, map)| pairs.iter().any(|(from, to)| map.declares_lost(from, to, field)))
}

/// Points at the field of the sample that the trial began with.
fn place(breach: Breach, evidence: &Evidence<'_>, trial: &Trial, pointer: &str) -> Breach {
    let breach = breach.version(&trial.version);
    let Origin::Sample(name) = &trial.origin else { return breach };
    let mut samples = evidence.subject.samples_of(evidence.crd);
    match samples.find(|sample| sample.name() == name && sample.object == trial.input) {
        Some(sample) => breach.at(sample.node.nearest(pointer).span),
        None => breach,
    }
}

/// The topmost places where two objects differ, as JSON pointer and what became of it.
fn changes(input: &Value, output: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    compare(input, output, "", &mut found);
    found
}

fn compare(input: &Value, output: &Value, at: &str, found: &mut Vec<(String, String)>) {
    match (input, output) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                match right.get(name) {
                    Some(other) => compare(value, other, &at, found),
                    None => found.push((at, format!("({}) is lost", brief(value)))),
                }
            }
            for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
                found.push((format!("{at}/{name}"), format!("({}) is invented", brief(value))));
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(left, right, &format!("{at}/{index}"), found);
            }
        }
        (left, right) if left == right => {}
        (left, right) => found.push((at.to_owned(), format!("changes from {} to {}", brief(left), brief(right)))),
    }
}

fn brief(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "…" }
}

fn field(pointer: &str) -> String {
    let parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    parts.map(|part| if part.parse::<usize>().is_ok() { format!("[{part}]") } else { format!(".{part}") }).collect()
}
