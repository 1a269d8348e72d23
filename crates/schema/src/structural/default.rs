//! Nulls and defaults: changes that an API server makes to an object before validation.

use serde_json::{Map, Value};

use super::Schema;

/// Removes nulls that the schema neither allows nor replaces by a default. Servers do so from 1.20;
/// older ones refuse such nulls.
pub fn drop_nulls(schema: &Schema, object: &mut Value) {
    drop_in(Some(schema), object);
}

fn drop_in(schema: Option<&Schema>, value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|name, value| {
                let child = schema.and_then(|schema| schema.child(name));
                let dropped = value.is_null() && child.is_some_and(|child| !child.nullable && child.default.is_none());
                if !dropped {
                    drop_in(child, value);
                }
                !dropped
            });
        }
        Value::Array(items) => {
            let child = schema.and_then(|schema| schema.items.as_deref());
            for item in items {
                drop_in(child, item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Applies defaults. A null that the schema does not allow counts as missing; a server keeps it only if there is no
/// default for it, and then [`drop_nulls`] has removed it before.
pub fn default(schema: &Schema, object: &mut Value) {
    fill(schema, object, Nulls::Replaced);
}

/// Applies defaults as before 1.20, when a null was a value, and not replaced.
pub(super) fn default_keeping_nulls(schema: &Schema, object: &mut Value) {
    fill(schema, object, Nulls::Kept);
}

#[derive(Clone, Copy, PartialEq)]
enum Nulls {
    Kept,
    Replaced,
}

fn fill(schema: &Schema, value: &mut Value, nulls: Nulls) {
    match value {
        Value::Object(map) => fill_map(schema, map, nulls),
        Value::Array(items) => {
            if let Some(schema) = schema.items.as_deref() {
                for item in items {
                    replace_null(schema, item, nulls);
                    fill(schema, item, nulls);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fill_map(schema: &Schema, map: &mut Map<String, Value>, nulls: Nulls) {
    for (name, property) in &schema.properties {
        if let Some(default) = stated(property)
            && !map.contains_key(name)
        {
            map.insert(name.clone(), default.clone());
        }
    }
    for (name, value) in map.iter_mut() {
        if let Some(child) = schema.child(name) {
            replace_null(child, value, nulls);
            fill(child, value, nulls);
        }
    }
}

fn replace_null(schema: &Schema, value: &mut Value, nulls: Nulls) {
    if nulls == Nulls::Replaced
        && value.is_null()
        && !schema.nullable
        && let Some(default) = stated(schema)
    {
        *value = default.clone();
    }
}

/// Returns the default; `default: null` is the same as none.
fn stated(schema: &Schema) -> Option<&Value> {
    schema.default.as_ref().filter(|default| !default.is_null())
}
