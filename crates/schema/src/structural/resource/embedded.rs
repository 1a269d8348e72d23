//! `x-kubernetes-embedded-resource`: embedded objects.

use serde_json::{Map, Value};

use super::super::Schema;
use super::super::place::Place;
use super::super::verdict::{Reason, Violation};
use super::judge::{Naming, judge_created};
use super::read::{Strictness, read_metadata};
use crate::kubernetes::is_dns_label_1035;

const EMBEDDED: &str = "x-kubernetes-embedded-resource";

/// Reads the type and the metadata of every embedded object. `Err` says what cannot be read.
pub(in crate::structural) fn read_embedded(
    schema: &Schema,
    value: &mut Value,
    strictness: Strictness,
) -> Result<(), String> {
    match value {
        Value::Object(map) => {
            if schema.embedded_resource {
                read_type(map, strictness)?;
                if let Some(metadata) = map.get_mut("metadata") {
                    *metadata = Value::Object(read_metadata(metadata, strictness)?);
                }
            }
            for (name, value) in map.iter_mut() {
                if let Some(child) = schema.child(name) {
                    read_embedded(child, value, strictness).map_err(|fault| format!("{name}: {fault}"))?;
                }
            }
            Ok(())
        }
        Value::Array(items) => {
            let Some(schema) = schema.items.as_deref() else {
                return Ok(());
            };
            items.iter_mut().try_for_each(|item| read_embedded(schema, item, strictness))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn read_type(map: &mut Map<String, Value>, strictness: Strictness) -> Result<(), String> {
    for name in ["apiVersion", "kind"] {
        if map.get(name).is_some_and(|value| !value.is_string()) {
            if strictness == Strictness::Refuse {
                return Err(format!("{name} must be a string"));
            }
            map.remove(name);
        }
    }
    Ok(())
}

/// Validates every embedded object.
pub(in crate::structural) fn judge_embedded(
    schema: &Schema,
    value: &Value,
    place: &Place<'_>,
    found: &mut Vec<Violation>,
) {
    if place.is_too_deep() {
        return;
    }
    match value {
        Value::Object(map) => {
            if schema.embedded_resource {
                judge_resource(map, place, found);
            }
            for (name, value) in map {
                if let Some(property) = schema.properties.get(name) {
                    judge_embedded(property, value, &place.field(name), found);
                } else if let Some(values) = schema.values() {
                    judge_embedded(values, value, &place.value(name), found);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.items.as_deref() {
                for (index, item) in items.iter().enumerate() {
                    judge_embedded(schema, item, &place.item(index), found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn judge_resource(map: &Map<String, Value>, place: &Place<'_>, found: &mut Vec<Violation>) {
    for name in ["apiVersion", "kind"] {
        let place = place.field(name);
        let (reason, message) = match map.get(name) {
            None => (Reason::Required, "is required".to_owned()),
            Some(Value::String(text)) if text.is_empty() => (Reason::Invalid, "must not be empty".to_owned()),
            Some(Value::String(text)) if name == "apiVersion" && text.matches('/').count() > 1 => {
                (Reason::Invalid, format!("{text:?} has two slashes"))
            }
            Some(Value::String(text)) if name == "kind" && !is_dns_label_1035(&text.to_lowercase()) => {
                (Reason::Invalid, format!("{text:?} is not a DNS label"))
            }
            Some(Value::String(_)) => continue,
            Some(_) => (Reason::Invalid, "must be a string".to_owned()),
        };
        found.push(place.refused(reason, EMBEDDED, message));
    }
    if let Some(metadata) = map.get("metadata") {
        let place = place.field("metadata");
        match read_metadata(metadata, Strictness::Refuse) {
            Ok(metadata) => judge_created(&metadata, Naming::PathSegment, &place, found),
            Err(fault) => found.push(place.refused(Reason::Invalid, EMBEDDED, fault)),
        }
    }
}
