//! The inputs of a converter: samples, saved counterexamples, and generated objects, in one order.

use std::sync::Arc;

use serde_json::{Value, json};

use super::vary;
use crate::evidence::{Origin, Validity};
use crdproof_schema::generate::{Generator, Phase};
use crdproof_schema::structural::{Schema, canonicalize};

/// One input.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) origin: Origin,
    pub(super) fit: Validity,
    pub(super) object: Value,
    /// True if the same conversion is repeated together with other objects.
    pub(super) again: bool,
    /// The places where clients change it between two conversions.
    pub(super) edits: Edits,
}

/// The places where clients change an object between two conversions.
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
    /// `None` if the version has no schema, or one that no object satisfies.
    pub(super) generator: Option<Generator<'a>>,
    /// Samples and saved counterexamples.
    pub(super) given: Vec<Input>,
    /// The number of generated objects.
    pub(super) generated: usize,
    pub(super) seed: u64,
}

/// The phases share generated objects in rounds of this size.
const ROUND: usize = 10;

/// The number of objects of a round at the boundaries of the schema.
const EDGES: usize = 4;

impl Inputs<'_> {
    /// Returns the maximum number of inputs. Not every number has an object.
    pub(super) fn count(&self) -> usize {
        self.given.len() + if self.generator.is_some() { self.generated } else { 0 }
    }

    /// Returns one of them. The same number always gives the same object.
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

    /// The one object near the size limit of etcd, if that many are generated. It is tried alone, because of its
    /// memory, and because a failed review would send other objects again.
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
            (Phase::Partial, Some(meant)) => Validity::Partial(missing(&meant.path.to_string(), &meant.keyword)),
            (Phase::Negative, Some(meant)) => Validity::Invalid(meant.keyword.clone()),
            _ => Validity::Valid,
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
        if !matches!(fit, Validity::Partial(_)) {
            dress(&mut object, self.given.len() + index);
        }
        canonicalize(self.schema, &mut object);
        let origin = Origin::Generated { phase: case.phase, seed: self.seed, index: case.index };
        let valid = fit.is_valid() && case.phase != Phase::Large;
        // One in this many is enough for behaviour that depends on the converter more than on the object.
        let edits = if valid && index % 4 == 1 { Edits::One(round) } else { Edits::Nowhere };
        Some(Input { origin, fit, object, again: index.is_multiple_of(4), edits })
    }

    /// An input from a sample.
    pub(super) fn sample(schema: Option<&Schema>, origin: Origin, mut object: Value, number: usize) -> Input {
        dress(&mut object, number);
        canonicalize(schema, &mut object);
        Input { origin, fit: Validity::Valid, object, again: true, edits: Edits::Many }
    }

    /// An input from a saved counterexample. Nothing is added, because a missing part may be the cause; and it is
    /// edited everywhere, because the original edit is not known any more.
    pub(super) fn saved(schema: Option<&Schema>, origin: Origin, fit: Validity, mut object: Value) -> Input {
        canonicalize(schema, &mut object);
        let edits = if fit.is_valid() { Edits::All } else { Edits::Nowhere };
        Input { origin, fit, object, again: true, edits }
    }
}

/// The number of the generated object near the size limit of etcd.
const LARGE: usize = 40 * ROUND + 9;

/// Returns a description of the missing parts of a partial object.
fn missing(path: &str, what: &str) -> String {
    match (path, what) {
        ("." | "", _) => "nothing but its type".to_owned(),
        (path, "absent") => format!("no {}", path.trim_start_matches('.')),
        (path, "alone") => format!("nothing but {}", path.trim_start_matches('.')),
        (path, what) => format!("{what} {}", path.trim_start_matches('.')),
    }
}

/// Adds metadata as stored objects have it, so that a converter can lose some of it.
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
