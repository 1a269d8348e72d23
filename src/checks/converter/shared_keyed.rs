//! Items of lists that have names of their own.

use crdproof_schema::document::pointer;
use serde_json::Value;

use crate::checks::shared_difference::{Difference, differences};
use crdproof_schema::structural::Schema;

/// Differences between items that bear the same key in two objects, wherever they stand in their list.
pub(super) fn moved_between_items<'v>(schema: Option<&Schema>, was: &'v Value, now: &'v Value) -> Vec<Difference<'v>> {
    let mut found = Vec::new();
    walk(schema, was, now, &mut String::new(), &mut found);
    found
}

fn walk<'v>(schema: Option<&Schema>, was: &'v Value, now: &'v Value, at: &mut String, found: &mut Vec<Difference<'v>>) {
    match (was, now) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                if let Some(other) = right.get(name).filter(|_| at != "/metadata") {
                    let length = pointer::descend(at, name);
                    walk(schema.and_then(|schema| schema.child(name)), value, other, at, found);
                    at.truncate(length);
                }
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            let Some(keys) = keys(schema, left).filter(|keys| *keys == self::keys(schema, right).unwrap_or_default())
            else {
                return;
            };
            for (index, item) in left.iter().enumerate() {
                let same = right.iter().find(|other| keys.iter().all(|key| other.get(key) == item.get(key)));
                let differing = same.map(|same| differences(item, same)).unwrap_or_default();
                found.extend(differing.into_iter().map(|difference| Difference {
                    pointer: format!("{at}/{index}{}", difference.pointer),
                    ..difference
                }));
            }
        }
        _ => {}
    }
}

/// The fields that tell the items of a list apart: those that the schema names, or a name that every item has for
/// itself.
fn keys(schema: Option<&Schema>, items: &[Value]) -> Option<Vec<String>> {
    if let Some(schema) = schema.filter(|schema| schema.list_type.as_deref() == Some("map")) {
        return Some(schema.list_map_keys.clone());
    }
    let names: Vec<&str> = items.iter().map_while(|item| item.get("name")?.as_str()).collect();
    let unique = names.iter().all(|name| names.iter().filter(|other| *other == name).count() == 1);
    (names.len() == items.len() && !items.is_empty() && unique).then(|| vec!["name".to_owned()])
}
