//! Converts inputs, and records the results as conversion runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::input::{Edits, Input, Inputs};
use super::vary::{Places, places};
use crate::act::Stop;
use crate::converter::Converter;
use crate::evidence::{Act, Answer, ConversionRun, Edit, Hop, Object, Reply};
use crate::subject::Crd;
use crdproof_schema::structural::canonicalize;

/// The converter and the routes of a search.
#[derive(Clone)]
pub(super) struct Actor<'a> {
    pub(super) crd: &'a Crd,
    /// Its name, for all conversion runs.
    pub(super) name: Arc<str>,
    pub(super) converter: &'a Converter<'a>,
    /// The previous release's converter.
    pub(super) baseline: Option<&'a Converter<'a>>,
    /// The inputs of every version; edits must leave objects valid.
    pub(super) versions: &'a [Inputs<'a>],
    /// The refusals of each pair of versions among the first objects.
    pub(super) pairs: Arc<Pairs>,
    /// Once it is requested, nothing more is converted: a batch of a slow converter may take minutes.
    pub(super) stop: Option<&'a Stop>,
    /// The same after this time.
    pub(super) end: Instant,
}

/// The refusals of each pair of versions among the first objects.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Pairs that convert nothing, which are not tried again.
    dead: BTreeSet<(String, String)>,
    /// Pairs that refuse many objects. One refused object fails a whole review, so each is sent alone.
    refusing: BTreeSet<(String, String)>,
}

/// If more than one object in this many is refused, reviews of many objects are a waste.
const MANY_REFUSED: usize = 20;

impl Pairs {
    /// Learns from the first batch of every version.
    pub(super) fn learn(survey: &[ConversionRun]) -> Self {
        #[derive(Default)]
        struct Count {
            valid: usize,
            converted: usize,
            all: usize,
            refused: usize,
        }
        let mut counts: BTreeMap<(String, String), Count> = BTreeMap::new();
        for conversion_run in survey {
            for step in conversion_run.first_conversions() {
                let count = counts.entry((step.from.to_owned(), step.hop.to.to_string())).or_default();
                let is_converted = step.hop.answer().is_some();
                count.all += 1;
                count.refused += usize::from(!is_converted);
                if conversion_run.fit.is_valid() {
                    count.valid += 1;
                    count.converted += usize::from(is_converted);
                }
            }
        }
        let mut pairs = Self::default();
        for (pair, count) in counts {
            if count.valid > 1 && count.converted == 0 {
                pairs.dead.insert(pair);
            } else if count.refused * MANY_REFUSED >= count.all {
                pairs.refusing.insert(pair);
            }
        }
        pairs
    }

    fn is_in(pairs: &BTreeSet<(String, String)>, from: &str, to: &str) -> bool {
        !pairs.is_empty() && pairs.contains(&(from.to_owned(), to.to_owned()))
    }
}

impl Actor<'_> {
    /// The same with another end.
    pub(super) fn until(&self, end: Instant) -> Self {
        Self { end, ..self.clone() }
    }

    fn is_over(&self) -> bool {
        self.stop.is_some_and(Stop::is_requested) || Instant::now() >= self.end
    }

    /// Tries inputs of one version, all together.
    pub(super) fn act(&self, version: &Arc<str>, inputs: Vec<Input>) -> Vec<ConversionRun> {
        let extras: Vec<(bool, Edits)> = inputs.iter().map(|input| (input.again, input.edits)).collect();
        let mut conversion_runs: Vec<ConversionRun> =
            inputs.into_iter().map(|input| self.conversion_run(version, input)).collect();
        let (objects, others) = (conversion_runs.len(), self.others(version).count());
        for (number, to) in self.others(version).enumerate() {
            let all: Vec<(usize, usize)> = (0..objects)
                .filter(|object| is_tried(*object, number, others, objects))
                .map(|object| (object, 0))
                .collect();
            let there = self.convert(&mut conversion_runs, &all, version, to, &Act::Convert);
            let back = self.convert(&mut conversion_runs, &there, to, version, &Act::Convert);
            for (place, third) in self.others(version).enumerate().filter(|(_, third)| *third != to) {
                let onward: Vec<(usize, usize)> = there
                    .iter()
                    .copied()
                    .filter(|(object, _)| is_tried(object + number, place, others, others))
                    .collect();
                self.convert(&mut conversion_runs, &onward, to, third, &Act::Convert);
            }
            // In reverse order, and the last one alone: the other objects of a review and their order must not matter.
            let mut again: Vec<_> =
                all.iter().copied().filter(|(conversion_run, _)| extras[*conversion_run].0).rev().collect();
            let alone = again.pop();
            self.convert(&mut conversion_runs, &again, version, to, &Act::Again);
            self.convert(&mut conversion_runs, alone.as_slice(), version, to, &Act::Again);
            // The order of a map's entries may be right by chance, so objects with several entries are converted once
            // more.
            again.retain(|(conversion_run, _)| has_several(&conversion_runs[*conversion_run].input));
            self.convert(&mut conversion_runs, &again, version, to, &Act::Again);
            if self.baseline.is_some() {
                self.skew(&mut conversion_runs, &all, &there, version, to);
            }
            let survived: BTreeSet<usize> = back.iter().map(|(conversion_run, _)| *conversion_run).collect();
            let edited = there.iter().filter(|(conversion_run, _)| survived.contains(conversion_run));
            let edited: Vec<_> =
                edited.map(|(conversion_run, of)| (*conversion_run, *of, extras[*conversion_run].1)).collect();
            self.edit(&mut conversion_runs, &edited, version, to);
        }
        conversion_runs
    }

    fn conversion_run(&self, version: &Arc<str>, input: Input) -> ConversionRun {
        ConversionRun {
            crd: Arc::clone(&self.name),
            version: Arc::clone(version),
            origin: input.origin,
            fit: input.fit,
            input: input.object.into(),
            hops: Vec::new(),
        }
    }

    fn inputs(&self, version: &str) -> Option<&Inputs<'_>> {
        self.versions.iter().find(|inputs| *inputs.version == *version)
    }

    /// The versions that objects of one can be converted to.
    fn others(&self, version: &str) -> impl Iterator<Item = &Arc<str>> {
        let names = self.versions.iter().map(|inputs| &inputs.version);
        names.filter(move |name| ***name != *version && !self.is_dead(version, name))
    }

    fn is_dead(&self, from: &str, to: &str) -> bool {
        Pairs::is_in(&self.pairs.dead, from, to)
    }

    /// Adds a hop to each of these, and returns the hops that have an object.
    fn convert(
        &self,
        conversion_runs: &mut [ConversionRun],
        starts: &[(usize, usize)],
        from: &str,
        to: &Arc<str>,
        act: &Act,
    ) -> Vec<(usize, usize)> {
        let converter = match (act, self.baseline) {
            (Act::Baseline, Some(baseline)) => baseline,
            _ => self.converter,
        };
        if starts.is_empty() || self.is_over() || (*from != **to && self.is_dead(from, to)) {
            return Vec::new();
        }
        let objects: Vec<&Object> =
            starts.iter().filter_map(|(conversion_run, of)| object(&conversion_runs[*conversion_run], *of)).collect();
        let replies = if Pairs::is_in(&self.pairs.refusing, from, to) {
            converter.convert_each(&objects, from, to)
        } else {
            converter.convert_all(&objects, from, to)
        };
        let mut reached = Vec::new();
        for ((conversion_run, of), reply) in starts.iter().zip(replies) {
            if let Some(number) = add(&mut conversion_runs[*conversion_run], *of, act.clone(), to, reply) {
                reached.push((*conversion_run, number));
            }
        }
        reached
    }

    /// Converts with the previous release alone, and lets each release read the result of the other.
    fn skew(
        &self,
        conversion_runs: &mut [ConversionRun],
        all: &[(usize, usize)],
        there: &[(usize, usize)],
        version: &Arc<str>,
        to: &Arc<str>,
    ) {
        let old = self.convert(conversion_runs, all, version, to, &Act::Baseline);
        self.convert(conversion_runs, &old, to, version, &Act::Baseline);
        self.convert(conversion_runs, &old, to, version, &Act::Convert);
        self.convert(conversion_runs, there, to, version, &Act::Baseline);
    }

    /// Clients of the other version change the object and write it back, then it is read again.
    fn edit(
        &self,
        conversion_runs: &mut [ConversionRun],
        starts: &[(usize, usize, Edits)],
        version: &Arc<str>,
        to: &Arc<str>,
    ) {
        let generator = self.inputs(to).and_then(|inputs| inputs.generator.as_ref());
        let mut edited = Vec::new();
        for (conversion_run, of, places) in starts.iter().filter(|(_, _, places)| *places != Edits::Nowhere) {
            let Some(read) = object(&conversion_runs[*conversion_run], *of) else { continue };
            for (edit, changed) in edits(&conversion_runs[*conversion_run].input, read, *places) {
                let free = matches!(edit, Edit::Label | Edit::Strip);
                if free || generator.is_some_and(|generator| generator.admits(&changed)) {
                    let reply = Reply::Object(Answer { raw: changed.into(), served: None });
                    edited.extend(
                        add(&mut conversion_runs[*conversion_run], *of, Act::Edit(edit), to, reply)
                            .map(|hop| (*conversion_run, hop)),
                    );
                }
            }
        }
        let written = self.convert(conversion_runs, &edited, to, version, &Act::Convert);
        self.convert(conversion_runs, &written, version, to, &Act::Convert);
    }
}

/// Each object is converted to at most this many other versions. If there are more, objects take turns, so that every
/// version is tried and the work grows with the number of versions, not with its cube.
pub(super) const MAX_OTHERS: usize = 6;

/// Returns true if an object is converted to a version, by their numbers, of `others` versions and `objects` objects.
fn is_tried(object: usize, version: usize, others: usize, objects: usize) -> bool {
    let turns = others.div_ceil(MAX_OTHERS).min(objects).max(1);
    (object + version).is_multiple_of(turns)
}

/// The object that a hop returned; number 0 is the input.
fn object(conversion_run: &ConversionRun, number: usize) -> Option<&Object> {
    match number.checked_sub(1) {
        None => Some(&conversion_run.input),
        Some(index) => conversion_run.hops.get(index)?.served(),
    }
}

/// Returns true if a list or map outside metadata has several entries, whose order could get lost.
fn has_several(object: &Value) -> bool {
    let is_several = |value: &Value| value.as_array().is_some_and(|items| items.len() > 1);
    places(object, &is_several).len() > 0
        || places(object, &|value| value.as_object().is_some_and(|map| map.len() > 1)).len() > 1
}

/// Adds a hop, and returns its number if it has an object.
fn add(conversion_run: &mut ConversionRun, of: usize, act: Act, to: &Arc<str>, reply: Reply) -> Option<usize> {
    let reached = matches!(reply, Reply::Object(_));
    conversion_run.hops.push(Hop { of, act, to: Arc::clone(to), reply });
    reached.then_some(conversion_run.hops.len())
}

/// Returns possible edits by clients that read an object, with the object afterwards.
fn edits(input: &Value, read: &Value, wanted: Edits) -> Vec<(Edit, Value)> {
    let mut edits = Vec::new();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut object = read.clone();
        change(&mut object);
        object
    };
    edits.extend(Edit::add_label(read).map(|labelled| (Edit::Label, labelled)));
    let own = input["metadata"]["annotations"].as_object();
    let is_own = |name: &String| own.is_some_and(|own| own.contains_key(name));
    let annotations = read["metadata"]["annotations"].as_object();
    if annotations.is_some_and(|annotations| annotations.keys().any(|name| !is_own(name))) {
        let strip = |object: &mut Value| {
            if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
                annotations.retain(|name, _| is_own(name));
            }
        };
        edits.push((Edit::Strip, changed(&strip)));
    }
    let scalars = places(read, &|value| value.is_string() || value.is_number() || value.is_boolean());
    for pointer in pick(&scalars, wanted) {
        let change = |object: &mut Value| object.pointer_mut(pointer).into_iter().for_each(another);
        edits.push((Edit::Value(pointer.to_owned()), changed(&change)));
    }
    let lists = places(read, &|value| value.as_array().is_some_and(|items| items.len() > 1));
    for pointer in pick(&lists, wanted) {
        let list = |object: &mut Value, change: &dyn Fn(&mut Vec<Value>)| {
            object.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().for_each(change);
        };
        edits.push((Edit::Reverse(pointer.to_owned()), changed(&|object| list(object, &|items| items.reverse()))));
        edits.push((Edit::Remove(pointer.to_owned()), changed(&|object| list(object, &|items| drop(items.remove(0))))));
    }
    edits
}

/// Maximum number of places of an object that are changed, one after the other.
const MANY: usize = 12;

fn pick(places: &Places, wanted: Edits) -> impl Iterator<Item = &str> {
    let (first, count) = match wanted {
        Edits::One(number) => (number % places.len().max(1), 1),
        Edits::Many => (0, MANY),
        Edits::All => (0, places.len()),
        Edits::Nowhere => (0, 0),
    };
    places.all().skip(first).take(count)
}

/// Another value of the same type.
fn another(value: &mut Value) {
    *value = match &*value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => json!(whole.checked_add(1).unwrap_or(0)),
            None => json!(number.as_f64().unwrap_or_default() / 2.0),
        },
        Value::String(text) => json!(another_text(text)),
        other => other.clone(),
    };
    // Half of a tiny number is zero, and half of a huge one may be an integer: servers hold both as integers.
    canonicalize(None, value);
}

/// Another text of the same kind: in durations, quantities, times and the like a digit changes, which keeps them valid;
/// a word gets a letter.
fn another_text(text: &str) -> String {
    let is_measure = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    let digit = text.char_indices().rfind(|(_, c)| c.is_ascii_digit()).filter(|_| is_measure);
    match digit {
        Some((at, digit)) => {
            let other = if digit == '1' { '2' } else { '1' };
            format!("{}{other}{}", &text[..at], &text[at + 1..])
        }
        None => format!("{text}x"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Otherwise the value as servers print it would look like a change.
    #[rstest]
    #[case(json!(0.5), json!(0.25))]
    #[case(json!(5e-324), json!(0))]
    #[case(json!(1e19), json!(5_000_000_000_000_000_000_i64))]
    #[case(json!(i64::MAX), json!(0))]
    #[case(json!("a"), json!("ax"))]
    #[case(json!("30s"), json!("31s"))]
    #[case(json!("1Gi"), json!("2Gi"))]
    #[case(json!("2026-01-02T03:04:05Z"), json!("2026-01-02T03:04:01Z"))]
    fn another_value_is_one_that_servers_hold(#[case] mut value: Value, #[case] meant: Value) {
        another(&mut value);
        assert_eq!(value, meant);
    }
}
