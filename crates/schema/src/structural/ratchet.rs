//! Ratcheting: from 1.30 on a server accepts an invalid value that an update does not change.

use serde_json::{Map, Value};

use super::Schema;

/// A value, its old value, and the schema that relates their parts.
#[derive(Clone, Copy)]
pub(super) struct Correlation<'a> {
    new: &'a Value,
    old: &'a Value,
    schema: &'a Schema,
}

impl<'a> Correlation<'a> {
    pub(super) fn new(schema: &'a Schema, new: &'a Value, old: &'a Value) -> Self {
        Self { new, old, schema }
    }

    /// The property or map value of this name, if both have it, and the schema describes it.
    pub(super) fn key(&self, name: &str) -> Option<Self> {
        Some(Self {
            new: self.new.as_object()?.get(name)?,
            old: self.old.as_object()?.get(name)?,
            schema: self.schema.child(name)?,
        })
    }

    /// The item of the new list, if the schema tells which item of the old list it replaces.
    pub(super) fn index(&self, index: usize) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        Some(Self {
            new,
            old: counterpart(self.schema, new, self.old.as_array()?)?,
            schema: self.schema.items.as_deref()?,
        })
    }

    /// Returns true if the old and the new value are equal. Ignores the order of a list map. An object with unknown
    /// fields is never equal to another.
    pub(super) fn is_unchanged(&self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                if new.len() != old.len() {
                    return false;
                }
                if self.schema.list_type.as_deref() != Some("map") {
                    return new == old;
                }
                (0..new.len()).all(|index| self.index(index).is_some_and(|item| item.is_unchanged()))
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new.keys().all(|name| self.key(name).is_some_and(|value| value.is_unchanged()))
            }
            (new, old) => new == old,
        }
    }
}

/// The item of a list map with the same keys. All keys must be present and be scalars.
pub(super) fn counterpart<'a>(schema: &Schema, item: &Value, others: &'a [Value]) -> Option<&'a Value> {
    let is_list_map = schema.list_type.as_deref() == Some("map");
    if !is_list_map || schema.list_map_keys.is_empty() {
        return None;
    }
    let keys = keys_of(schema, item.as_object()?)?;
    others
        .iter()
        .find(|other| other.as_object().and_then(|other| keys_of(schema, other)).is_some_and(|other| other == keys))
}

fn keys_of<'a>(schema: &Schema, item: &'a Map<String, Value>) -> Option<Vec<&'a Value>> {
    schema
        .list_map_keys
        .iter()
        .map(|key| item.get(key).filter(|value| value.is_string() || value.is_number() || value.is_boolean()))
        .collect()
}
