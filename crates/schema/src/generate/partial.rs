//! Objects as server-side apply sends them to a converter: with missing parts, and not valid.

use serde_json::{Value, json};

use super::case::Meant;
use super::generator::Generator;
use super::random::Random;
use crate::structural::Path;

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
            _ => (prune(random, &mut object), "absent"),
        };
        Some((object, Some(Self::meant(&path, what))))
    }
}

/// Removes a random part of an object, except for its type.
fn prune(random: &mut Random, object: &mut Value) -> Path {
    let mut path = Path::root();
    let mut at = object;
    loop {
        let is_root = path.is_root();
        match at {
            Value::Object(map) => {
                let names: Vec<String> = map
                    .keys()
                    .filter(|name| !is_root || !matches!(name.as_str(), "apiVersion" | "kind"))
                    .cloned()
                    .collect();
                let Some(name) = random.pick(&names) else { return path };
                path = path.field(name);
                let has_parts = map.get(name).is_some_and(|value| value.is_object() || value.is_array());
                if !has_parts || random.chance(1, 3) {
                    map.remove(name);
                    return path;
                }
                match map.get_mut(name) {
                    Some(next) => at = next,
                    None => return path,
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let index = random.index(items.len());
                path = path.item();
                if random.chance(1, 3) || !items[index].is_object() {
                    items.remove(index);
                    return path;
                }
                at = &mut items[index];
            }
            _ => return path,
        }
    }
}
