//! Objects as server-side apply sends them to a converter: with missing parts, and not valid.

use serde_json::{Value, json};

use super::case::Meant;
use super::generator::Generator;
use super::random::Random;
use crate::structural::{Path, Schema};

impl Generator<'_> {
    pub(super) fn partial(&self, random: &mut Random, index: u64) -> Option<(Value, Option<Meant>)> {
        let mut object = self.random(random)?;
        let root = Path::root();
        let map = object.as_object_mut()?;
        let (path, what) = match index % 6 {
            0 => {
                map.remove("metadata");
                (root.field("metadata"), "absent")
            }
            1 => {
                map.insert("metadata".to_owned(), json!({}));
                (root.field("metadata"), "empty")
            }
            2 => {
                map.remove("spec");
                (root.field("spec"), "absent")
            }
            3 => {
                map.retain(|name, _| matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status"));
                (root.field("status"), "alone")
            }
            4 => {
                map.retain(|name, _| matches!(name.as_str(), "apiVersion" | "kind"));
                (root, "empty")
            }
            _ => (prune(random, self.maker.schema, &mut object), "absent"),
        };
        Some((object, Some(Self::meant(&path, what))))
    }
}

/// Removes a random part of an object, except for its type. Items of keyed lists keep their keys, by which servers tell
/// them apart.
fn prune(random: &mut Random, schema: &Schema, object: &mut Value) -> Path {
    let mut path = Path::root();
    let (mut at, mut schema, mut keys) = (object, Some(schema), ["apiVersion", "kind"].map(str::to_owned).to_vec());
    loop {
        match at {
            Value::Object(map) => {
                let names: Vec<String> = map.keys().filter(|name| !keys.contains(name)).cloned().collect();
                let Some(name) = random.pick(&names) else { return path };
                path = path.field(name);
                let has_parts = map.get(name).is_some_and(|value| value.is_object() || value.is_array());
                if !has_parts || random.chance(1, 3) {
                    map.remove(name);
                    return path;
                }
                (schema, keys) = (schema.and_then(|schema| schema.child(name)), Vec::new());
                match map.get_mut(name) {
                    Some(next) => at = next,
                    None => return path,
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let index = random.index(items.len());
                path = path.item();
                keys = schema.map(|schema| schema.list_map_keys.clone()).unwrap_or_default();
                let has_parts =
                    items[index].as_object().is_some_and(|item| item.keys().any(|name| !keys.contains(name)));
                if random.chance(1, 3) || !has_parts {
                    items.remove(index);
                    return path;
                }
                schema = schema.and_then(|schema| schema.items.as_deref());
                at = &mut items[index];
            }
            _ => return path,
        }
    }
}
