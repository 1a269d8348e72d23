//! `x-kubernetes-list-type`: sets without duplicates, and list maps whose keys are unique.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Schema;
use super::place::Place;
use super::print::printed;
use super::verdict::{Reason, Violation};

const LIST_TYPE: &str = "x-kubernetes-list-type";

/// Adds a violation for the first repetition of each item. Below a list that is no list in the
/// object, or an object that is none, there is nothing to check.
pub(super) fn duplicates(schema: &Schema, value: &Value, place: &Place<'_>, found: &mut Vec<Violation>) {
    if place.is_too_deep() {
        return;
    }
    match value {
        Value::Array(items) => {
            match schema.list_type.as_deref() {
                Some("set") => repeated(items.iter().map(identity), |index| {
                    found.push(duplicate(&place.item(index), &items[index]));
                }),
                Some("map") => list_map(schema, items, place, found),
                _ => {}
            }
            if let Some(schema) = schema.items.as_deref() {
                for (index, item) in items.iter().enumerate() {
                    duplicates(schema, item, &place.item(index), found);
                }
            }
        }
        Value::Object(map) => {
            for (name, value) in map {
                if let Some(property) = schema.properties.get(name) {
                    duplicates(property, value, &place.field(name), found);
                } else if let Some(values) = schema.values() {
                    duplicates(values, value, &place.value(name), found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn list_map(schema: &Schema, items: &[Value], place: &Place<'_>, found: &mut Vec<Violation>) {
    let stranger = items.iter().position(|item| !item.is_object() && !item.is_null());
    if let Some(index) = stranger {
        let message = "must be an object, since the list is a map".to_owned();
        found.push(place.item(index).refused(Reason::Invalid, LIST_TYPE, message));
        return;
    }
    // The only item has nobody to be told from.
    if items.len() < 2 {
        return;
    }
    let identities = items.iter().map(|item| match schema.list_map_keys.as_slice() {
        [key] => item.get(key).map(identity).unwrap_or_default(),
        _ => identity(&keys_of(schema, item)),
    });
    repeated(identities, |index| {
        let keys = keys_of(schema, &items[index]);
        found.push(duplicate(&place.item(index), &keys));
    });
}

/// The keys of an entry, without those that it does not have.
fn keys_of(schema: &Schema, item: &Value) -> Value {
    let keys: Map<_, _> =
        schema.list_map_keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect();
    Value::Object(keys)
}

fn duplicate(place: &Place<'_>, value: &Value) -> Violation {
    let message = format!("{value} is there already");
    place.refused(Reason::Duplicate, LIST_TYPE, message)
}

/// Two values are the same to the server if these texts are. Scalars differ by their type, so that 1
/// and 1.0 are two things; lists and objects are compared as they are printed.
fn identity(value: &Value) -> String {
    match value {
        Value::Number(number) if !number.is_i64() => {
            // Zero and minus zero are equal.
            format!("{:?}", number.as_f64().unwrap_or_default() + 0.0)
        }
        Value::Array(_) | Value::Object(_) => printed(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// Calls back for every second appearance of a text.
fn repeated(texts: impl Iterator<Item = String>, mut second: impl FnMut(usize)) {
    let mut seen = BTreeMap::new();
    for (index, text) in texts.enumerate() {
        let times = seen.entry(text).or_insert(0);
        *times += 1;
        if *times == 2 {
            second(index);
        }
    }
}
