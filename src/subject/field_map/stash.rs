//! Values in annotations, and the list items that they belong to.

use serde_json::{Map, Value};

use super::codec::{Side, write_text};
use super::operator::Write;
use super::path::{Emptied, FieldPath, Key, Step};
use crdproof_schema::structural::Schema;

/// A field of one side that an annotation keeps on the other.
#[derive(Debug)]
pub(super) struct Kept {
    side: Side,
    pub(super) path: FieldPath,
    annotation: String,
    /// For each `[*]` of the path: the key fields of the items of that list, if the schema names some.
    names: Vec<Vec<String>>,
}

impl Kept {
    /// Keeps the values at a path. The schema is that of the side that has them.
    pub(super) fn new(side: Side, path: FieldPath, annotation: String, schema: Option<&Schema>) -> Self {
        let mut names: Vec<_> = path.containers().map(|list| item_keys(&list, schema)).collect();
        // Whole items that are kept leave no keys to find them by.
        if let Some(last) = names.last_mut().filter(|_| path.ends_with_each()) {
            last.clear();
        }
        Self { side, path, annotation, names }
    }

    /// Takes the values out of an object of their own side, or the annotation out of one of the other. `source` is the
    /// whole unchanged object.
    pub(super) fn take(&self, from: Side, source: &Value, object: &mut Value) -> Vec<Write> {
        if self.side == from {
            // If the object has the field, only the field counts; a leftover annotation would replace it when
            // converting back.
            take_annotation(object, &self.annotation);
            let mut taken = self.path.take(object, Emptied::Stay);
            for (keys, _) in &mut taken {
                self.name(keys, source);
            }
            return bundle(&self.path, taken).map(|value| annotate(&self.annotation, &value)).into_iter().collect();
        }
        let stashed = take_annotation(object, &self.annotation);
        stashed.map(|stashed| unbundle(&self.path, stashed)).unwrap_or_default()
    }

    /// Identifies items by their keys instead of their indexes, which change when the list is edited.
    fn name(&self, keys: &mut [Key], source: &Value) -> Option<()> {
        let mut at = source;
        let mut items = keys.iter_mut().zip(&self.names);
        for step in self.path.steps() {
            at = match step {
                Step::Field(name) => at.get(name)?,
                Step::Each => {
                    let (key, names) = items.next()?;
                    let item = match &key {
                        Key::Index(index) => at.get(index)?,
                        Key::Name(name) => at.get(name)?,
                        Key::Item(_) => return None,
                    };
                    let same = |other: &&Value| names.iter().all(|name| other.get(name) == item.get(name));
                    if !names.is_empty() && at.as_array()?.iter().filter(same).count() == 1 {
                        let own = names.iter().map(|name| Some((name.clone(), item.get(name)?.clone())));
                        *key = Key::Item(Value::Object(own.collect::<Option<Map<_, _>>>()?).to_string());
                    }
                    item
                }
            };
        }
        Some(())
    }
}

/// The key fields of the items of a list, by the schema.
fn item_keys(list: &FieldPath, schema: Option<&Schema>) -> Vec<String> {
    let found = list.steps().iter().try_fold(schema, |schema, step| match step {
        Step::Field(name) => schema.map(|schema| schema.child(name)),
        Step::Each => schema.map(|schema| schema.items.as_deref().or_else(|| schema.values())),
    });
    let keyed = found.flatten().filter(|schema| schema.list_type.as_deref() == Some("map"));
    keyed.map(|schema| schema.list_map_keys.clone()).unwrap_or_default()
}

/// The indexes of the items with these keys in an object. `None` if one is missing.
pub(super) fn resolved(path: &FieldPath, keys: Vec<Key>, object: &Value) -> Option<Vec<Key>> {
    let mut at = Some(object);
    let mut found = Vec::new();
    let mut keys = keys.into_iter();
    for step in path.steps() {
        at = match step {
            Step::Field(name) => at.and_then(|at| at.get(name)),
            Step::Each => {
                let (key, item) = match keys.next() {
                    Some(Key::Item(name)) => {
                        let name: Map<String, Value> = serde_json::from_str(&name).ok()?;
                        let items = at?.as_array()?;
                        let own = |item: &Value| name.iter().all(|(field, value)| item.get(field) == Some(value));
                        let index = items.iter().position(own)?;
                        (Key::Index(index), items.get(index))
                    }
                    Some(Key::Index(index)) => (Key::Index(index), at.and_then(|at| at.get(index))),
                    Some(Key::Name(name)) => {
                        let item = at.and_then(|at| at.get(&name));
                        (Key::Name(name), item)
                    }
                    None => return Some(found),
                };
                found.push(key);
                item
            }
        };
    }
    Some(found)
}

/// Returns the content of an annotation for the values of a path: the value itself or, if the path has `[*]`, a list of
/// values, each with its items.
pub(super) fn bundle(path: &FieldPath, mut taken: Vec<(Vec<Key>, Value)>) -> Option<Value> {
    if taken.is_empty() {
        return None;
    }
    if path.each_count() == 0 {
        return taken.pop().map(|(_, value)| value);
    }
    let key = |key: Key| match key {
        Key::Index(index) => Value::from(index),
        Key::Name(name) => Value::String(name),
        Key::Item(name) => serde_json::from_str(&name).unwrap_or_default(),
    };
    let entries = taken
        .into_iter()
        .map(|(keys, value)| Value::Array(vec![keys.into_iter().map(key).collect::<Vec<_>>().into(), value]));
    Some(Value::Array(entries.collect()))
}

/// The values of a path in an annotation.
pub(super) fn unbundle(path: &FieldPath, stashed: Value) -> Vec<Write> {
    let write = |keys, value| Write { from_stash: true, ..Write::new(path, keys, value) };
    if path.each_count() == 0 {
        return vec![write(Vec::new(), stashed)];
    }
    let key = |key: &Value| match key {
        Value::String(name) => Some(Key::Name(name.clone())),
        Value::Object(_) => Some(Key::Item(key.to_string())),
        other => other.as_u64().and_then(|index| usize::try_from(index).ok()).map(Key::Index),
    };
    let Value::Array(entries) = stashed else { return Vec::new() };
    let read = entries.into_iter().filter_map(|mut entry| {
        let keys: Vec<Key> = entry.get(0)?.as_array()?.iter().map(key).collect::<Option<_>>()?;
        (keys.len() == path.each_count()).then(|| write(keys, entry.get_mut(1).map_or(Value::Null, Value::take)))
    });
    read.collect()
}

pub(super) fn annotate(annotation: &str, value: &Value) -> Write {
    Write::new(&FieldPath::annotation(annotation), Vec::new(), Value::String(write_text(value)))
}

/// Takes the value out of an annotation. Keeps an annotation without JSON, which a user wrote.
pub(super) fn take_annotation(object: &mut Value, annotation: &str) -> Option<Value> {
    let annotations = object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()?;
    let value = serde_json::from_str(annotations.get(annotation)?.as_str()?).ok()?;
    annotations.remove(annotation);
    // Remove annotations that become empty without the stash.
    if annotations.is_empty()
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.remove("annotations");
    }
    Some(value)
}
