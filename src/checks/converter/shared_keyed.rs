//! Items of lists that have names.

use crdproof_schema::document::pointer;
use serde_json::Value;

use crate::checks::shared_difference::{Difference, Kind, differences};
use crdproof_schema::structural::Schema;

/// Differences between items with the same key in two objects, wherever they are in their list. If `nested` says that
/// the list which a client changed is inside an item, lists without keys inside items are skipped, because they contain
/// what the client wrote.
pub(super) fn moved_between_items<'v>(
    schema: Option<&Schema>,
    was: &'v Value,
    now: &'v Value,
    nested: bool,
) -> Vec<Difference<'v>> {
    let mut walk = Walk { nested, at: String::new(), found: Vec::new() };
    walk.keyed_lists(schema, was, now);
    walk.found
}

struct Walk<'v> {
    nested: bool,
    at: String,
    found: Vec<Difference<'v>>,
}

impl<'v> Walk<'v> {
    fn keyed_lists(&mut self, schema: Option<&Schema>, was: &'v Value, now: &'v Value) {
        match (was, now) {
            (Value::Object(left), Value::Object(right)) => {
                for (name, value) in left {
                    if let Some(other) = right.get(name).filter(|_| self.at != "/metadata") {
                        let length = pointer::descend(&mut self.at, name);
                        self.keyed_lists(schema.and_then(|schema| schema.child(name)), value, other);
                        self.at.truncate(length);
                    }
                }
            }
            (Value::Array(left), Value::Array(right)) => {
                let Some(keys) = shared_keys(schema, left, right) else { return };
                let items = schema.and_then(|schema| schema.items.as_deref());
                for (index, item) in left.iter().enumerate() {
                    let same = right.iter().find(|other| keys.iter().all(|key| other.get(key) == item.get(key)));
                    let Some(same) = same else { continue };
                    let length = pointer::descend(&mut self.at, &index.to_string());
                    self.item(items, item, same);
                    self.at.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// Compares two items with the same key.
    fn item(&mut self, schema: Option<&Schema>, was: &'v Value, now: &'v Value) {
        for difference in differences(was, now) {
            let place = schema.and_then(|schema| schema.at_pointer(&difference.pointer));
            if difference.kind(schema) != Kind::Representation && !(self.nested && is_in_list(was, &difference)) {
                self.found.push(Difference { pointer: format!("{}{}", self.at, difference.pointer), ..difference });
            } else if let (Some(was), Some(now)) = (difference.was, difference.now) {
                let length = self.at.len();
                self.at.push_str(&difference.pointer);
                self.keyed_lists(place, was, now);
                self.at.truncate(length);
            }
        }
    }
}

/// Returns true if a difference is a list, or is inside one.
fn is_in_list(item: &Value, difference: &Difference<'_>) -> bool {
    let mut value = Some(item);
    for part in difference.pointer.split('/').skip(1).map(pointer::unescape) {
        if value.is_some_and(Value::is_array) {
            return true;
        }
        value = value.and_then(|value| value.get(&*part));
    }
    value.is_some_and(Value::is_array)
}

/// Returns the keys of two states of one list, if they are the same.
fn shared_keys(schema: Option<&Schema>, left: &[Value], right: &[Value]) -> Option<Vec<String>> {
    keys(schema, left).filter(|own| keys(schema, right).is_none_or(|keys| keys == *own))
}

/// The fields that identify the items of a list: those that the schema names, or a unique name of every item.
fn keys(schema: Option<&Schema>, items: &[Value]) -> Option<Vec<String>> {
    if let Some(schema) = schema.filter(|schema| schema.list_type.as_deref() == Some("map")) {
        return Some(schema.list_map_keys.clone());
    }
    let names: Vec<&str> = items.iter().map_while(|item| item.get("name")?.as_str()).collect();
    let unique = names.iter().all(|name| names.iter().filter(|other| *other == name).count() == 1);
    (names.len() == items.len() && !items.is_empty() && unique).then(|| vec!["name".to_owned()])
}
