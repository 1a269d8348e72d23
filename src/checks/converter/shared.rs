//! What the checks of this family share: which trials they look at, and how a breach is told.

use std::fmt::Write as _;

use serde_json::Value;

use crate::checks::{Breach, Evidence, Verdict};
use crate::evidence::{Act, Edit, Origin, Trial};
use crate::subject::field_map::declares_lost;
use crdproof_schema::document::Span;
use crdproof_schema::structural::{MASK, Schema};
use crdproof_schema::text::truncate;

use crate::checks::shared_difference::{Difference, field, parts};

/// How much of an object is worth showing.
const SHOWN: usize = 1600;

/// Collects what a judge finds.
pub(super) struct Tell {
    trial: usize,
    examined: usize,
    breaches: Vec<Breach>,
}

impl Tell {
    /// Counts something that was looked at.
    pub(super) fn examined(&mut self) {
        self.examined += 1;
    }

    /// Adds a breach that the trial at hand shows.
    pub(super) fn breach(&mut self, breach: Breach) {
        self.breaches.push(Breach { trial: Some(self.trial), ..breach });
    }
}

/// Judges every trial by itself; of several breaches with one key the first is told.
pub(super) fn each(evidence: &Evidence<'_>, judge: impl Fn(&mut Tell, &Trial)) -> Verdict {
    if evidence.trials.is_empty() {
        return Verdict::Undecided("no object was converted; give samples, or have objects generated".into());
    }
    let mut tell = Tell { trial: 0, examined: 0, breaches: Vec::new() };
    for (index, trial) in evidence.trials.iter().enumerate() {
        tell.trial = index;
        judge(&mut tell, trial);
    }
    let mut breaches = tell.breaches;
    breaches.sort_by(|left, right| left.key.cmp(&right.key));
    breaches.dedup_by(|left, right| left.key == right.key);
    Verdict::from_breaches(breaches, tell.examined)
}

/// A breach that a leg of a trial shows at a place of the input's version. `what` follows the field's name.
pub(super) fn at(evidence: &Evidence<'_>, trial: &Trial, number: usize, pointer: &str, what: &str) -> Breach {
    let name = generic(schema_of(evidence, &trial.version), pointer);
    let route = trial.route(number);
    let breach = about(evidence, trial, number, format!("{name} {what}"));
    let breach = breach.key(format!("{route} {name}"));
    Breach { span: span(evidence, trial, pointer), path: Some(name), ..breach }
}

/// A breach that a leg of a trial shows, at no place in particular.
pub(super) fn about(evidence: &Evidence<'_>, trial: &Trial, number: usize, message: impl Into<String>) -> Breach {
    let breach = Breach::new(message).version(&trial.version).key(trial.route(number));
    Breach { span: span(evidence, trial, ""), ..breach.evidence(story(evidence, trial, number)) }
}

/// A breach for a difference between two objects, with the difference in its evidence. Which comparison it was is said
/// by `on`, such as "on the way v2→v1→v2".
pub(super) fn differs(
    evidence: &Evidence<'_>,
    trial: &Trial,
    number: usize,
    difference: &Difference<'_>,
    on: &str,
) -> Breach {
    let schema = schema_of(evidence, &trial.version);
    let secret = !evidence.show_secrets && evidence.secrets.hides(schema, &trial.input, &difference.pointer);
    let show =
        |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), |value| brief(evidence, value, secret));
    let (was, now) = (show(difference.was), show(difference.now));
    let what = match (difference.was, difference.now) {
        (Some(_), None) => format!("({was}) is lost {on}"),
        (None, _) => format!("({now}) is invented {on}"),
        (Some(_), Some(_)) => format!("changes from {was} to {now} {on}"),
    };
    let breach = at(evidence, trial, number, &difference.pointer, &what);
    let mut story = breach.evidence.unwrap_or_default();
    let _ = write!(story, "\nat {}\n- {was}\n+ {now}", difference.pointer);
    Breach { evidence: Some(story), ..breach }
}

/// Whether a field map declares the loss of a field of the trial's version on the way to a leg.
pub(super) fn declared(evidence: &Evidence<'_>, trial: &Trial, number: usize, pointer: &str) -> bool {
    let maps: Vec<_> = evidence.subject.field_maps_of(evidence.crd).map(|(_, map)| map).collect();
    !maps.is_empty() && declares_lost(&maps, &trial.way(number), &field(pointer))
}

/// The schema of a version.
pub(super) fn schema_of<'e>(evidence: &Evidence<'e>, version: &str) -> Option<&'e Schema> {
    evidence.crd.version(version).and_then(|version| version.schema.as_ref())
}

/// A JSON pointer as the path of a kind of place: `.spec.ports[*].name`. Keys of maps are no part of it.
pub(super) fn generic(schema: Option<&Schema>, pointer: &str) -> String {
    let mut path = String::new();
    let mut schema = schema;
    for part in parts(pointer) {
        let items = schema.and_then(|schema| schema.items.as_deref());
        if items.is_some() || (schema.is_none() && part.parse::<usize>().is_ok()) {
            path.push_str("[*]");
            schema = items;
            continue;
        }
        let is_key = schema.is_some_and(|schema| schema.values().is_some() && !schema.properties.contains_key(&*part));
        let _ = if is_key { write!(path, "[*]") } else { write!(path, ".{part}") };
        schema = schema.and_then(|schema| schema.child(&part));
    }
    if path.is_empty() { ".".to_owned() } else { path }
}

fn brief(evidence: &Evidence<'_>, value: &Value, secret: bool) -> String {
    if secret {
        return MASK.into();
    }
    let text = evidence.mask(None, value).to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "…" }
}

/// The objects on the way to what a leg gave, one to a line.
fn story(evidence: &Evidence<'_>, trial: &Trial, number: usize) -> String {
    let shown = |version: &str, object: &Value| truncate(&evidence.mask(Some(version), object).to_string(), SHOWN);
    let mut lines = vec![format!("{} in: {}", trial.version, shown(&trial.version, &trial.input))];
    let mut numbers = Vec::new();
    let mut next = number;
    while let Some(leg) = next.checked_sub(1).and_then(|index| trial.legs.get(index)) {
        numbers.push(next);
        next = if leg.of < next { leg.of } else { 0 };
    }
    for leg in numbers.into_iter().rev().filter_map(|number| trial.legs.get(number - 1)) {
        let did = match &leg.act {
            Act::Convert => "converted".to_owned(),
            Act::Again => "converted again".to_owned(),
            Act::Baseline => "converted by the previous release".to_owned(),
            Act::Edit(edit) => edited(edit),
        };
        let got = leg.served().map(|object| shown(&leg.to, object));
        lines.push(format!("{} {did}: {}", leg.to, got.or(leg.complaint().map(str::to_owned)).unwrap_or_default()));
    }
    lines.join("\n")
}

/// What a client did, in words.
pub(super) fn edited(edit: &Edit) -> String {
    match edit {
        Edit::Label => "with a label added".into(),
        Edit::Value(pointer) => format!("with {} changed", field(pointer)),
        Edit::Reverse(pointer) => format!("with {} reversed", field(pointer)),
        Edit::Remove(pointer) => format!("without {}[0]", field(pointer)),
        Edit::Strip => "without the converter's annotations".into(),
    }
}

/// The field of the sample that the trial began with, or the field's schema. A secret's place is its schema, since an
/// excerpt of the sample would show it.
fn span(evidence: &Evidence<'_>, trial: &Trial, pointer: &str) -> Option<Span> {
    let schema = schema_of(evidence, &trial.version);
    let described = parts(pointer).try_fold(schema?, |schema, part| {
        schema.items.as_deref().filter(|_| part.parse::<usize>().is_ok()).or_else(|| schema.child(&part))
    });
    let version = evidence.crd.version(&trial.version).map(|version| version.name_span);
    let place = if pointer.is_empty() { version } else { described.map(|schema| schema.span).or(version) };
    let Origin::Sample(name) = &trial.origin else { return place };
    if evidence.secrets.hides(schema, &trial.input, pointer) {
        return place;
    }
    let mut samples = evidence.subject.samples_of(evidence.crd);
    let sample = samples.find(|sample| sample.name() == name && sample.group_version().1 == &*trial.version)?;
    let (parent, last) = pointer.rsplit_once('/').unwrap_or(("", ""));
    let parent = sample.node.nearest(parent);
    Some(parent.entry(last).map_or(parent.span, |entry| entry.key_span))
}
