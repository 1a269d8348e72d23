//! Valid objects with values that converters get wrong: numbers with many digits, and things that are there but empty.

use crate::document::pointer;
use serde_json::{Value, json};

use crate::generate::Generator;
use crate::kubernetes::KubeVersion;
use crate::schema::{Schema, keywords};

/// What objects must stay valid by.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) generator: &'a Generator<'a>,
    pub(super) schema: Option<&'a Schema>,
}

impl<'a> Frame<'a> {
    fn schema_at(self, pointer: &str) -> Option<&'a Schema> {
        pointer.split('/').skip(1).map(pointer::unescape).try_fold(self.schema?, |schema, part| {
            schema.items.as_deref().filter(|_| part.parse::<usize>().is_ok()).or_else(|| schema.child(&part))
        })
    }
}

/// The object with numbers that floating point cannot hold, wherever its schema allows one.
pub(super) fn numbers(frame: Frame<'_>, mut object: Value, choice: usize) -> Value {
    let whole = [json!(9_007_199_254_740_993_i64), json!(i64::MAX), json!(-9_007_199_254_740_993_i64)];
    let broken = [json!(1e-7), json!(0.1), json!(123_456_789.123_456_79)];
    for pointer in places(&object, &|value| value.is_number()) {
        let is_whole = object.pointer(&pointer).is_some_and(Value::is_i64);
        let candidates = if is_whole { whole.iter().chain(&broken) } else { broken.iter().chain(&whole) };
        let candidates: Vec<_> = candidates.cloned().collect();
        let first = choice % 3;
        replace(frame, &mut object, &pointer, candidates[first..].iter().chain(&candidates[..first]));
    }
    object
}

/// The object with one of its parts empty, where its schema allows that.
pub(super) fn emptiness(frame: Frame<'_>, mut object: Value, choice: usize) -> Value {
    let found = places(&object, &|value| value.is_string() || value.is_array() || value.is_object());
    let start = if found.is_empty() { 0 } else { choice % found.len() };
    for pointer in found[start..].iter().chain(&found[..start]) {
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

/// Puts the first value that leaves the object valid.
fn replace<'v>(frame: Frame<'_>, object: &mut Value, pointer: &str, values: impl Iterator<Item = &'v Value>) -> bool {
    let schema = frame.schema_at(pointer);
    // Most candidates fail at their own place, which takes less to see than judging the whole object.
    let fits = |value: &&Value| schema.is_none_or(|schema| keywords(schema, value, KubeVersion::NEWEST).is_empty());
    for value in values.filter(fits) {
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

/// Where an object has such values, as JSON pointers. Type and metadata are left alone.
pub(super) fn places(object: &Value, wanted: &dyn Fn(&Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = String::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            collect(value, name, &mut at, wanted, &mut found);
        }
    }
    found
}

fn collect(value: &Value, name: &str, at: &mut String, wanted: &dyn Fn(&Value) -> bool, found: &mut Vec<String>) {
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
        found.push(at.clone());
    }
    at.truncate(length);
}
