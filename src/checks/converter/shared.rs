//! Shared parts of the checks of this family: selecting conversion runs, and describing failures.

use std::fmt::Write as _;

use serde_json::Value;

use crate::checks::cause::FORM;
use crate::checks::{Evidence, Failure, Verdict};
use crate::evidence::{Act, ConversionRun, Edit, Origin, normalised};
use crate::subject::field_map::declares_lost;
use crdproof_schema::document::Span;
use crdproof_schema::structural::{REDACTED, Schema};
use crdproof_schema::text::truncate;

use crate::checks::shared_difference::{Difference, Kind, field, parts};

/// The size of the excerpt of an object.
const MAX_SHOWN: usize = 1600;

/// Collects the failures of a judge.
pub(super) struct Collector {
    conversion_run: usize,
    examined: usize,
    failures: Vec<Failure>,
}

impl Collector {
    /// Counts one examined item.
    pub(super) fn examined(&mut self) {
        self.examined += 1;
    }

    /// Adds a failure that the current conversion run shows.
    pub(super) fn failure(&mut self, failure: Failure) {
        self.failures.push(Failure { conversion_run: Some(self.conversion_run), ..failure });
    }
}

/// Judges every conversion run by itself; of several failures with one key, keeps the first.
pub(super) fn each(evidence: &Evidence<'_>, judge: impl Fn(&mut Collector, &ConversionRun)) -> Verdict {
    if evidence.conversion_runs.is_empty() {
        return Verdict::Inconclusive("no objects to convert (add samples, or use --objects)".into());
    }
    let mut collector = Collector { conversion_run: 0, examined: 0, failures: Vec::new() };
    for (index, conversion_run) in evidence.conversion_runs.iter().enumerate() {
        collector.conversion_run = index;
        judge(&mut collector, conversion_run);
    }
    let mut failures = collector.failures;
    failures.sort_by(|left, right| left.key.cmp(&right.key));
    failures.dedup_by(|left, right| left.key == right.key);
    Verdict::from_failures(failures, collector.examined)
}

/// A failure that a hop of a conversion run shows at a field of the input's version. `what` follows the field's name.
pub(super) fn at(
    evidence: &Evidence<'_>,
    conversion_run: &ConversionRun,
    number: usize,
    pointer: &str,
    what: &str,
) -> Failure {
    let name = generic(schema_of(evidence, &conversion_run.version), pointer);
    let route = conversion_run.route(number);
    let failure = about(evidence, conversion_run, number, format!("{name} {what}"));
    let failure = failure.key(format!("{route} {name}"));
    Failure { span: span(evidence, conversion_run, pointer), path: Some(name), ..failure }
}

/// A failure for a conversion without an object, with the converter's complaint.
pub(super) fn complains(
    evidence: &Evidence<'_>,
    conversion_run: &ConversionRun,
    number: usize,
    message: impl Into<String>,
    why: &str,
) -> Failure {
    let failure = about(evidence, conversion_run, number, message);
    let key = format!("{} {}", failure.key, normalised(why));
    failure.key(key).complaint(why)
}

/// A failure that a hop of a conversion run shows, without a field.
pub(super) fn about(
    evidence: &Evidence<'_>,
    conversion_run: &ConversionRun,
    number: usize,
    message: impl Into<String>,
) -> Failure {
    let failure = Failure::new(message).version(&conversion_run.version).key(conversion_run.route(number));
    Failure { span: span(evidence, conversion_run, ""), ..failure.evidence(story(evidence, conversion_run, number)) }
}

/// A failure for a difference between two objects, with the difference in its evidence. `on` names the comparison, such
/// as "on the way v2→v1→v2".
pub(super) fn differs(
    evidence: &Evidence<'_>,
    conversion_run: &ConversionRun,
    number: usize,
    difference: &Difference<'_>,
    on: &str,
) -> Failure {
    let schema = schema_of(evidence, &conversion_run.version);
    let secret = !evidence.show_secrets && evidence.secrets.redacts(schema, &conversion_run.input, &difference.pointer);
    let show =
        |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), |value| brief(evidence, value, secret));
    let (was, now) = (show(difference.was), show(difference.now));
    let kind = difference.kind(schema);
    let what = match (kind, difference.was, difference.now) {
        (Kind::Representation, Some(_), None) => format!("({was}) becomes absent {on}"),
        (Kind::Representation, None, _) => format!("becomes {now} where it was absent {on}"),
        (Kind::Representation, ..) => format!("is written {now} instead of {was} {on}"),
        (_, Some(_), None) => format!("({was}) is lost {on}"),
        (_, None, _) => format!("({now}) is added {on}"),
        (_, Some(_), Some(_)) => format!("changes from {was} to {now} {on}"),
    };
    let version = &conversion_run.version;
    let (key, clause) = match kind {
        Kind::Representation => {
            (FORM.to_owned(), "change in form, not in meaning, when they are converted and converted back".to_owned())
        }
        Kind::Lost | Kind::Changed => (
            format!("lost {version}"),
            format!("are lost or changed when {version} objects are converted and converted back"),
        ),
        Kind::Invented => ("added".to_owned(), "are added when objects are converted and converted back".to_owned()),
        Kind::Rounded => (format!("rounded {version}"), format!("lose digits when {version} objects are converted")),
    };
    let failure = at(evidence, conversion_run, number, &difference.pointer, &what).together(key, clause);
    let mut story = failure.evidence.unwrap_or_default();
    let _ = write!(story, "\nat {}\n- {was}\n+ {now}", difference.pointer);
    Failure { evidence: Some(story), ..failure }
}

/// Returns true if the loss of a field of the conversion run's version is declared: by its path, or by a field map on
/// the route to a hop.
pub(super) fn declared(evidence: &Evidence<'_>, conversion_run: &ConversionRun, number: usize, pointer: &str) -> bool {
    let (subject, field) = (evidence.subject, field(pointer));
    let maps: Vec<_> = subject.field_maps_of(evidence.crd).map(|(_, map)| map).collect();
    subject.declares_loss(evidence.crd, &field)
        || !maps.is_empty() && declares_lost(&maps, &conversion_run.way(number), &field)
}

/// The schema of a version.
pub(super) fn schema_of<'e>(evidence: &Evidence<'e>, version: &str) -> Option<&'e Schema> {
    evidence.crd.version(version).and_then(|version| version.schema.as_ref())
}

/// A JSON pointer as a generic path: `.spec.ports[*].name`. Omits keys of maps.
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
    // A boolean next to a secret reveals nothing about it.
    if secret && !value.is_boolean() {
        return REDACTED.into();
    }
    let text = evidence.redact(None, value).to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "…" }
}

/// The objects on the route to a hop's result, one per line.
fn story(evidence: &Evidence<'_>, conversion_run: &ConversionRun, number: usize) -> String {
    let shown =
        |version: &str, object: &Value| truncate(&evidence.redact(Some(version), object).to_string(), MAX_SHOWN);
    let mut lines =
        vec![format!("{} in: {}", conversion_run.version, shown(&conversion_run.version, &conversion_run.input))];
    let mut numbers = Vec::new();
    let mut next = number;
    while let Some(hop) = next.checked_sub(1).and_then(|index| conversion_run.hops.get(index)) {
        numbers.push(next);
        next = if hop.of < next { hop.of } else { 0 };
    }
    for hop in numbers.into_iter().rev().filter_map(|number| conversion_run.hops.get(number - 1)) {
        let did = match &hop.act {
            Act::Convert => "converted".to_owned(),
            Act::Again => "converted again".to_owned(),
            Act::Baseline => "converted by the previous release".to_owned(),
            Act::Edit(edit) => edited(edit),
        };
        let got = hop.served().map(|object| shown(&hop.to, object));
        lines.push(format!("{} {did}: {}", hop.to, got.or(hop.complaint().map(str::to_owned)).unwrap_or_default()));
    }
    lines.join("\n")
}

/// Returns a description of a client's edit.
pub(super) fn edited(edit: &Edit) -> String {
    match edit {
        Edit::Label => "with a label added".into(),
        Edit::Value(pointer) => format!("with {} changed", field(pointer)),
        Edit::Reverse(pointer) => format!("with {} reversed", field(pointer)),
        Edit::Remove(pointer) => format!("without {}[0]", field(pointer)),
        Edit::Strip => "without the converter's annotations".into(),
    }
}

/// The field of the sample that the conversion run started with, or the field's schema. The location of a secret is its
/// schema, because an excerpt of the sample would show it.
fn span(evidence: &Evidence<'_>, conversion_run: &ConversionRun, pointer: &str) -> Option<Span> {
    let schema = schema_of(evidence, &conversion_run.version);
    let described = schema?.at_pointer(pointer);
    let version = evidence.crd.version(&conversion_run.version).map(|version| version.name_span);
    let place = if pointer.is_empty() { version } else { described.map(|schema| schema.span).or(version) };
    let Origin::Sample(name) = &conversion_run.origin else { return place };
    if evidence.secrets.redacts(schema, &conversion_run.input, pointer) {
        return place;
    }
    let mut samples = evidence.subject.samples_of(evidence.crd);
    let sample =
        samples.find(|sample| sample.name() == name && sample.group_version().1 == &*conversion_run.version)?;
    let (parent, last) = pointer.rsplit_once('/').unwrap_or(("", ""));
    let parent = sample.node.nearest(parent);
    Some(parent.entry(last).map_or(parent.span, |entry| entry.key_span))
}
