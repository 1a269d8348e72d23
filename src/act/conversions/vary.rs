//! Valid objects with values that converters get wrong: numbers with many digits, and empty values.

use crdproof_schema::document::pointer;
use serde_json::{Value, json};

use crdproof_schema::generate::Generator;
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Schema, fits};

/// The schema that keeps objects valid.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) generator: &'a Generator<'a>,
    pub(super) schema: Option<&'a Schema>,
}

/// The object with numbers that floating point cannot represent, wherever its schema allows one.
pub(super) fn numbers(frame: Frame<'_>, mut object: Value, choice: usize) -> Value {
    let whole = [json!(9_007_199_254_740_993_i64), json!(i64::MAX), json!(-9_007_199_254_740_993_i64)];
    let broken = [json!(1e-7), json!(0.1), json!(123_456_789.123_456_79)];
    for pointer in places(&object, &|value| value.is_number()).all() {
        let is_whole = object.pointer(pointer).is_some_and(Value::is_i64);
        let candidates = if is_whole { whole.iter().chain(&broken) } else { broken.iter().chain(&whole) };
        let candidates = candidates.cycle().skip(choice % 3).take(whole.len() + broken.len());
        replace(frame, &mut object, pointer, candidates);
    }
    object
}

/// The object with one of its parts empty, if its schema allows that.
pub(super) fn emptiness(frame: Frame<'_>, mut object: Value, choice: usize) -> Value {
    let found = places(&object, &|value| value.is_string() || value.is_array() || value.is_object());
    let start = choice % found.len().max(1);
    for pointer in found.all().cycle().skip(start).take(found.len()) {
        let nothing = match object.pointer(pointer) {
            Some(Value::String(_)) => json!(""),
            Some(Value::Array(_)) => json!([]),
            _ => json!({}),
        };
        if replace(frame, &mut object, pointer, [&nothing, &Value::Null].into_iter()) {
            break;
        }
    }
    object
}

/// Sets the first value that keeps the object valid.
fn replace<'v>(frame: Frame<'_>, object: &mut Value, pointer: &str, values: impl Iterator<Item = &'v Value>) -> bool {
    let schema = frame.schema.and_then(|schema| schema.at_pointer(pointer));
    // Most candidates already fail at their own place, which is faster to check than the whole object.
    let fits_there = |value: &&Value| schema.is_none_or(|schema| fits(schema, value, KubeVersion::NEWEST));
    for value in values.filter(fits_there) {
        let Some(place) = object.pointer_mut(pointer) else { return false };
        let before = std::mem::replace(place, value.clone());
        if before != *value && frame.generator.admits(object) {
            return true;
        }
        if let Some(place) = object.pointer_mut(pointer) {
            *place = before;
        }
    }
    false
}

/// Places in an object, as JSON pointers. Objects have many, so they share one string.
#[derive(Default)]
pub(super) struct Places {
    pointers: String,
    ends: Vec<usize>,
}

impl Places {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.pointers.get(start..end)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    fn push(&mut self, pointer: &str) {
        self.pointers.push_str(pointer);
        self.ends.push(self.pointers.len());
    }
}

/// Returns the places of matching values. Skips type and metadata.
pub(super) fn places(object: &Value, wanted: &dyn Fn(&Value) -> bool) -> Places {
    let mut found = Places::default();
    let mut at = String::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            collect(value, name, &mut at, wanted, &mut found);
        }
    }
    found
}

fn collect(value: &Value, name: &str, at: &mut String, wanted: &dyn Fn(&Value) -> bool, found: &mut Places) {
    let length = pointer::descend(at, name);
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| collect(value, name, at, wanted, found)),
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, &index.to_string(), at, wanted, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    if wanted(value) {
        found.push(at);
    }
    at.truncate(length);
}
