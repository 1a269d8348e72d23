//! An object that goes to another version and comes back must be the same object.

use crate::checks::{Breach, Check, Evidence, Need, Severity, Verdict};
use crate::document::Span;
use crate::field_map::declares_lost;
use crate::observe::{Leg, Origin, Reply, Trial};
use crate::schema::{is_secret, mask};

use super::shared_changes::{changes, field};

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
    if evidence.trials.is_empty() {
        return Verdict::Undecided("no object was converted; give samples".into());
    }
    let mut breaches: Vec<_> = evidence.trials.iter().flat_map(|trial| judge_trial(evidence, trial)).collect();
    breaches.sort_by(|left, right| left.key.cmp(&right.key));
    breaches.dedup_by(|left, right| left.key == right.key);
    Verdict::from_breaches(breaches, evidence.trials.len())
}

fn judge_trial(evidence: &Evidence<'_>, trial: &Trial) -> Vec<Breach> {
    let breach = |message: String, pointer: &str, key: String| {
        let breach = Breach::new(message).version(&trial.version).key(key);
        Breach { span: span(evidence, trial, pointer), ..breach }
    };
    if let Some(Leg { to, reply: Reply::Refused(message) }) = trial.legs.last() {
        let route = trial.route();
        return vec![breach(format!("the conversion to {to} was refused: {message}"), "", format!("refused {route}"))];
    }
    let Some(output) = trial.output() else { return Vec::new() };
    let schema = evidence.crd.version(&trial.version).and_then(|version| version.schema.as_ref());
    let found = changes(schema, &trial.input, output).into_iter();
    found
        .filter(|change| !declared(evidence, trial, &field(&change.pointer)))
        .map(|change| {
            let name = field(&change.pointer);
            let message = format!("{name} {} on the way {}", change.what, trial.route());
            let breach = breach(message, &change.pointer, format!("{} {}", trial.route(), change.pointer));
            let breach = breach.evidence(format!("in:  {}\nout: {}", mask(schema, &trial.input), mask(schema, output)));
            Breach { path: Some(name), ..breach }
        })
        .collect()
}

/// Whether a field map declares the loss on any leg of the trial.
fn declared(evidence: &Evidence<'_>, trial: &Trial, field: &str) -> bool {
    let maps: Vec<_> = evidence.subject.field_maps_of(evidence.crd).map(|(_, map)| map).collect();
    let legs = trial.legs.iter().map(|leg| leg.to.as_str());
    let way: Vec<_> = std::iter::once(trial.version.as_str()).chain(legs).collect();
    declares_lost(&maps, &way, field)
}

/// The field of the sample that the trial began with; a secret's place is its schema, since an
/// excerpt of the sample would show it.
fn span(evidence: &Evidence<'_>, trial: &Trial, pointer: &str) -> Option<Span> {
    let schema = evidence.crd.version(&trial.version).and_then(|version| version.schema.as_ref());
    let described = pointer.split('/').skip(1).try_fold(schema?, |schema, step| schema.child(step));
    if is_secret(pointer.rsplit('/').next().unwrap_or_default(), described) {
        return described.or(schema).map(|schema| schema.span);
    }
    let Origin::Sample(name) = &trial.origin else { return None };
    let mut samples = evidence.subject.samples_of(evidence.crd);
    let sample = samples.find(|sample| sample.name() == name && sample.group_version().1 == trial.version)?;
    let (parent, last) = pointer.rsplit_once('/').unwrap_or(("", ""));
    let parent = sample.node.nearest(parent);
    Some(parent.entry(last).map_or(parent.span, |entry| entry.key_span))
}
