//! The whole difference between an object and the result of converting it there and back.

use crdproof_schema::document::pointer;
use serde_json::{Map, Value, json};

/// Returns the difference to stash: a list of places, each with the value after converting back (`now`) and the
/// original (`was`). An absent value has no key. `None` if nothing differs. Ignores `apiVersion`, `kind` and metadata.
pub(super) fn difference_between(was: &Value, now: &Value) -> Option<Value> {
    let mut entries = Vec::new();
    compare("", &without_type_and_metadata(was), &without_type_and_metadata(now), &mut entries);
    (!entries.is_empty()).then_some(Value::Array(entries))
}

/// Restores the stashed values where the object still has the value that it had then.
pub(super) fn restore(stashed: &Value, object: &mut Value) {
    for entry in stashed.as_array().into_iter().flatten() {
        let Some(pointer) = entry["at"].as_str() else { continue };
        // Users can write annotations, but must not change `apiVersion`, `kind` or metadata this way.
        let meta = ["/apiVersion", "/kind", "/metadata"].iter().any(|start| pointer.starts_with(start));
        if !meta && object.pointer(pointer) == entry.get("now") {
            set(object, pointer, entry.get("was"));
        }
    }
}

/// An object without `apiVersion`, `kind` and metadata.
pub(super) fn without_type_and_metadata(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        map.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind" | "metadata"));
    }
    object
}

fn compare(at: &str, was: &Value, now: &Value, entries: &mut Vec<Value>) {
    match (was, now) {
        (was, now) if was == now => {}
        (Value::Object(left), Value::Object(right)) => {
            let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                let at = format!("{at}/{}", pointer::escape(name));
                match (left.get(name), right.get(name)) {
                    (Some(was), Some(now)) => compare(&at, was, now, entries),
                    (Some(was), None) => entries.push(json!({"at": at, "was": was})),
                    (None, Some(now)) => entries.push(json!({"at": at, "now": now})),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (was, now)) in left.iter().zip(right).enumerate() {
                compare(&format!("{at}/{index}"), was, now, entries);
            }
        }
        (was, now) => entries.push(json!({"at": at, "now": now, "was": was})),
    }
}

/// Sets or removes the value at a JSON pointer. Does nothing if the parent is missing.
fn set(object: &mut Value, pointer: &str, value: Option<&Value>) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    let name = pointer::unescape(name);
    match (object.pointer_mut(parent), value) {
        (Some(Value::Object(map)), Some(value)) => drop(map.insert(name.into_owned(), value.clone())),
        (Some(Value::Object(map)), None) => drop(map.remove(&*name)),
        (Some(Value::Array(items)), Some(value)) => {
            if let Some(item) = name.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                *item = value.clone();
            }
        }
        _ => {}
    }
}

/// The places where two objects differ, as JSON pointers with the two values.
pub(super) fn places(was: &Value, now: &Value) -> Vec<(String, Map<String, Value>)> {
    let entries = match difference_between(was, now) {
        Some(Value::Array(entries)) => entries,
        _ => Vec::new(),
    };
    let split = entries.into_iter().filter_map(|entry| match entry {
        Value::Object(mut entry) => match entry.remove("at") {
            Some(Value::String(at)) => Some((at, entry)),
            _ => None,
        },
        _ => None,
    });
    split.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stashed_values_are_restored_but_do_not_overwrite_edits() {
        let was = json!({"spec": {"a": 1, "b": [1, {"x": 2}], "c/d": "e"}, "metadata": {"name": "n"}});
        let now = json!({"spec": {"a": 1, "b": [1, {"x": 3}], "f": true}});
        let stash = difference_between(&was, &now).unwrap();
        let mut back = now.clone();
        restore(&stash, &mut back);
        assert_eq!(back["spec"], was["spec"]);
        let mut edited = json!({"spec": {"a": 1, "b": [1, {"x": 4}], "f": false}});
        restore(&stash, &mut edited);
        assert_eq!(edited, json!({"spec": {"a": 1, "b": [1, {"x": 4}], "c/d": "e", "f": false}}));
        assert_eq!(difference_between(&was, &was), None);
        let before = edited.clone();
        restore(&json!("by hand"), &mut edited);
        restore(&json!([{"at": "/metadata", "was": {"name": "other"}}, {"at": "", "was": 1}, 7]), &mut edited);
        assert_eq!(edited, before);
    }
}
