//! Pruning: fields that the API server drops because the schema does not have them.

use serde_json::{Map, Value};

use super::place::Place;
use super::{Additional, Schema};
use crate::document::pointer;

/// The fields that pruning keeps in every object.
pub(super) const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Prunes a whole object and returns the paths of dropped fields, as `.spec.x[0].y`. Keeps the fields that every object
/// has.
pub fn prune(schema: &Schema, object: &mut Value) -> Vec<String> {
    let found = unknown(schema, object, true);
    drop_all(object, found)
}

/// Prunes a value that is not a whole object, such as a default.
pub fn prune_value(schema: &Schema, value: &mut Value) -> Vec<String> {
    let found = unknown(schema, value, schema.embedded_resource);
    drop_all(value, found)
}

/// Returns the fields that pruning would drop from a value, which may be a whole object. Most have none, and searching
/// copies nothing.
pub(super) fn unknown(schema: &Schema, value: &Value, resource: bool) -> Vec<Unknown> {
    let mut found = Vec::new();
    look(Some(schema), value, &Place::root(), resource, &mut found);
    found
}

/// An unknown field.
pub(super) struct Unknown {
    path: String,
    pointer: String,
}

/// Only fields are dropped, never items, so that the other pointers stay right.
fn drop_all(value: &mut Value, found: Vec<Unknown>) -> Vec<String> {
    for Unknown { pointer, .. } in &found {
        let Some((parent, name)) = pointer.rsplit_once('/') else { continue };
        if let Some(Value::Object(map)) = value.pointer_mut(parent) {
            map.remove(&*pointer::unescape(name));
        }
    }
    let mut dropped: Vec<String> = found.into_iter().map(|unknown| unknown.path).collect();
    dropped.sort();
    dropped
}

fn look(schema: Option<&Schema>, value: &Value, place: &Place<'_>, resource: bool, found: &mut Vec<Unknown>) {
    if let Some(schema) = schema
        && schema.preserves_unknown()
    {
        return look_preserved(schema, value, place, resource, found);
    }
    match value {
        Value::Object(map) => look_into(schema, map, place, resource, found),
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            for (index, item) in items.iter().enumerate() {
                look(schema, item, &place.item(index), is_resource(schema), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn look_into(
    schema: Option<&Schema>,
    map: &Map<String, Value>,
    place: &Place<'_>,
    resource: bool,
    found: &mut Vec<Unknown>,
) {
    for (name, value) in map {
        if resource && META.contains(&name.as_str()) {
            continue;
        }
        let place = place.field(name);
        match schema.map(|schema| (schema.properties.get(name), &schema.additional)) {
            Some((Some(property), _)) => look(Some(property), value, &place, property.embedded_resource, found),
            Some((None, Some(Additional::Schema(values)))) => {
                look(Some(values), value, &place, values.embedded_resource, found);
            }
            // Values of an untyped map are kept, but their contents are not.
            Some((None, Some(Additional::Allowed(_)))) => look(None, value, &place, false, found),
            Some((None, None)) | None => {
                found.push(Unknown { path: place.path_from_root(), pointer: place.pointer() });
            }
        }
    }
}

/// Below `x-kubernetes-preserve-unknown-fields` unknown fields stay, and described ones are pruned again.
fn look_preserved(schema: &Schema, value: &Value, place: &Place<'_>, resource: bool, found: &mut Vec<Unknown>) {
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                if resource && META.contains(&name.as_str()) {
                    continue;
                }
                let known = schema.child(name);
                if let Some(known) = known {
                    look(Some(known), child, &place.field(name), known.embedded_resource, found);
                } else if matches!(schema.additional, Some(Additional::Allowed(_))) {
                    look(None, child, &place.field(name), false, found);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.items.as_deref() {
                for (index, item) in items.iter().enumerate() {
                    look_preserved(schema, item, &place.item(index), schema.embedded_resource, found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_resource(schema: Option<&Schema>) -> bool {
    schema.is_some_and(|schema| schema.embedded_resource)
}
