//! The objects that a converter is tried on: samples, saved counterexamples, and objects out of the schema, in one order.

use std::sync::Arc;

use serde_json::{Value, json};

use super::vary;
use crate::evidence::{Fit, Origin};
use crdproof_schema::generate::{Generator, Phase};
use crdproof_schema::structural::{Schema, canonicalize};

/// One object to be tried.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) origin: Origin,
    pub(super) fit: Fit,
    pub(super) object: Value,
    /// Whether the same is asked again in other company.
    pub(super) again: bool,
    /// Where clients change it between two conversions.
    pub(super) edits: Edits,
}

/// The place where clients change an object between two conversions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edits {
    Nowhere,
    /// At one place of each kind, chosen by a number.
    One(usize),
    /// At many places.
    Many,
    /// At every place.
    All,
}

/// All inputs of one version.
pub(super) struct Inputs<'a> {
    pub(super) version: Arc<str>,
    pub(super) schema: Option<&'a Schema>,
    /// Absent where the version has no schema, or one that no object fits.
    pub(super) generator: Option<Generator<'a>>,
    /// What the author gave, and what was saved.
    pub(super) given: Vec<Input>,
    /// How many are generated.
    pub(super) generated: usize,
    pub(super) seed: u64,
}

/// Out of so many generated objects, how they are shared out among the phases.
const ROUND: usize = 10;

/// The number of objects of a round that show the edges of the schema.
const EDGES: usize = 4;

impl Inputs<'_> {
    /// Returns how many there are at most. Not every number has an object.
    pub(super) fn count(&self) -> usize {
        self.given.len() + if self.generator.is_some() { self.generated } else { 0 }
    }

    /// One of them. The same number gives the same object, whoever asks and when.
    pub(super) fn get(&self, number: usize) -> Option<Input> {
        if let Some(given) = self.given.get(number) {
            return Some(given.clone());
        }
        let index = number - self.given.len();
        if index == LARGE {
            return None;
        }
        self.generated(index)
    }

    /// The one object that is near the limit of etcd, where so many are generated. It is tried by itself: nothing else
    /// takes as much memory, and company would be sent again with it.
    pub(super) fn large(&self) -> Option<Input> {
        self.generated(LARGE)
    }

    fn generated(&self, index: usize) -> Option<Input> {
        let generator = self.generator.as_ref().filter(|_| index < self.generated)?;
        let (round, place) = (index / ROUND, index % ROUND);
        let edge = round * EDGES + place;
        let case = match place {
            _ if index == LARGE => generator.case(Phase::Large, self.seed, 0),
            ..EDGES => generator.case(Phase::Boundary, self.seed, edge as u64),
            7 | 8 => generator.case(Phase::Partial, self.seed, (round * 2 + place - 7) as u64),
            9 => generator.case(Phase::Negative, self.seed, round as u64),
            _ => None,
        };
        let case = match case {
            Some(case) => case,
            None => generator.case(Phase::Random, self.seed, index as u64)?,
        };
        let fit = match (&case.phase, &case.meant) {
            (Phase::Partial, Some(meant)) => Fit::Partial(missing(&meant.path.to_string(), &meant.keyword)),
            (Phase::Negative, Some(meant)) => Fit::Invalid(meant.keyword.clone()),
            _ => Fit::Valid,
        };
        let mut object = case.object;
        if fit.is_valid() {
            let frame = vary::Frame { generator, schema: self.schema };
            if place == 5 {
                object = vary::numbers(frame, object, round);
            } else if place == 6 {
                object = vary::emptiness(frame, object, round);
            }
        }
        if !matches!(fit, Fit::Partial(_)) {
            dress(&mut object, self.given.len() + index);
        }
        canonicalize(self.schema, &mut object);
        let origin = Origin::Generated { phase: case.phase, seed: self.seed, index: case.index };
        let valid = fit.is_valid() && case.phase != Phase::Large;
        // One in so many is enough for what depends on the converter more than on the object.
        let edits = if valid && index % 4 == 1 { Edits::One(round) } else { Edits::Nowhere };
        Some(Input { origin, fit, object, again: index.is_multiple_of(4), edits })
    }

    /// An input that the author gave.
    pub(super) fn sample(schema: Option<&Schema>, origin: Origin, mut object: Value, number: usize) -> Input {
        dress(&mut object, number);
        canonicalize(schema, &mut object);
        Input { origin, fit: Fit::Valid, object, again: true, edits: Edits::Many }
    }

    /// An input that was saved. What it lacks may be what breaks it, so nothing is added; and where it was changed is
    /// not known any more, so it is changed everywhere.
    pub(super) fn saved(schema: Option<&Schema>, origin: Origin, fit: Fit, mut object: Value) -> Input {
        canonicalize(schema, &mut object);
        let edits = if fit.is_valid() { Edits::All } else { Edits::Nowhere };
        Input { origin, fit, object, again: true, edits }
    }
}

/// The number of the generated object that is near the limit of etcd.
const LARGE: usize = 40 * ROUND + 9;

/// Returns what a partial object lacks, in words.
fn missing(path: &str, what: &str) -> String {
    match (path, what) {
        ("." | "", _) => "nothing but its type".to_owned(),
        (path, "absent") => format!("no {}", path.trim_start_matches('.')),
        (path, "alone") => format!("nothing but {}", path.trim_start_matches('.')),
        (path, what) => format!("{what} {}", path.trim_start_matches('.')),
    }
}

/// Metadata as stored objects have it, so that a converter can lose some of it.
fn dress(object: &mut Value, number: usize) {
    let Some(fields) = object.as_object_mut() else { return };
    let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else { return };
    let mut add = |name: &str, value: Value| {
        metadata.entry(name).or_insert(value);
    };
    add("uid", format!("7c9e6679-7425-40de-944b-{number:012x}").into());
    add("resourceVersion", "4711".into());
    add("generation", 3.into());
    add("creationTimestamp", "2026-01-02T03:04:05Z".into());
    add("finalizers", vec!["example.com/crdproof"].into());
    add("labels", json!({"app.kubernetes.io/part-of": "crdproof"}));
    add("annotations", json!({"example.com/note": "keep me"}));
}
