//! Valid objects with values that converters get wrong: numbers with many digits, and things that are there but empty.

use crate::document::pointer;
use serde_json::{Value, json};

use crate::generate::Generator;

/// The object with numbers that floating point cannot hold, wherever its schema allows one.
pub(super) fn numbers(generator: &Generator<'_>, mut object: Value, choice: usize) -> Value {
    let whole = [json!(9_007_199_254_740_993_i64), json!(i64::MAX), json!(-9_007_199_254_740_993_i64)];
    let broken = [json!(1e-7), json!(0.1), json!(123_456_789.123_456_79)];
    for pointer in places(&object, &|value| value.is_number()) {
        let is_whole = object.pointer(&pointer).is_some_and(Value::is_i64);
        let candidates = if is_whole { whole.iter().chain(&broken) } else { broken.iter().chain(&whole) };
        let candidates: Vec<_> = candidates.cloned().collect();
        let first = choice % 3;
        replace(generator, &mut object, &pointer, candidates[first..].iter().chain(&candidates[..first]));
    }
    object
}

/// The object with one of its parts empty, where its schema allows that.
pub(super) fn emptiness(generator: &Generator<'_>, mut object: Value, choice: usize) -> Value {
    let found = places(&object, &|value| value.is_string() || value.is_array() || value.is_object());
    let start = if found.is_empty() { 0 } else { choice % found.len() };
    for pointer in found[start..].iter().chain(&found[..start]) {
        let nothing = match object.pointer(pointer) {
            Some(Value::String(_)) => json!(""),
            Some(Value::Array(_)) => json!([]),
            _ => json!({}),
        };
        if replace(generator, &mut object, pointer, [&nothing, &Value::Null].into_iter()) {
            break;
        }
    }
    object
}

/// Puts the first value that leaves the object valid.
fn replace<'v>(
    generator: &Generator<'_>,
    object: &mut Value,
    pointer: &str,
    values: impl Iterator<Item = &'v Value>,
) -> bool {
    for value in values {
        let Some(place) = object.pointer_mut(pointer) else { return false };
        let before = std::mem::replace(place, value.clone());
        if before != *value && generator.admits(object) {
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
    for (name, value) in object.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            collect(value, format!("/{}", pointer::escape(name)), wanted, &mut found);
        }
    }
    found
}

fn collect(value: &Value, pointer: String, wanted: &dyn Fn(&Value) -> bool, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                collect(value, format!("{pointer}/{}", pointer::escape(name)), wanted, found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, format!("{pointer}/{index}"), wanted, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    if wanted(value) {
        found.push(pointer);
    }
}
