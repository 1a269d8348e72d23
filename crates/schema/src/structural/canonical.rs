//! The form in which an API server holds an object.

use serde_json::Value;

use super::place::DEPTH_LIMIT;
use super::print::{print, prints_as_it_is};
use super::prune::{META, unknown};
use super::{Additional, Schema, drop_nulls, prune};

/// Brings an object into the form in which an API server holds it after reading or converting it: without unknown
/// fields, without nulls that the schema does not allow, numbers as they are printed. Does not apply defaults.
pub fn canonicalize(schema: Option<&Schema>, object: &mut Value) {
    // Most objects already have that form, and checking is cheaper than changing.
    if is_canonical(schema, object) {
        return;
    }
    if let Some(schema) = schema {
        prune(schema, object);
        drop_nulls(schema, object);
    }
    print(object);
}

/// Returns true if an object certainly has that form already and is not too deep, without copying it. Any null makes it
/// false.
pub fn is_canonical(schema: Option<&Schema>, object: &Value) -> bool {
    let levels = DEPTH_LIMIT;
    schema.map_or_else(|| is_plain(object, levels), |schema| is_plain_and_known(schema, object, true, levels))
}

/// Checks both in one walk, as far as the schema goes.
fn is_plain_and_known(schema: &Schema, value: &Value, resource: bool, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return false };
    let closer = || is_plain(value, levels) && unknown(schema, value, resource).is_empty();
    match value {
        _ if schema.preserves_unknown() || matches!(schema.additional, Some(Additional::Allowed(_))) => closer(),
        Value::Object(map) => map.iter().all(|(name, value)| {
            if resource && META.contains(&name.as_str()) {
                return is_plain(value, below);
            }
            schema.child(name).is_some_and(|part| is_plain_and_known(part, value, part.embedded_resource, below))
        }),
        Value::Array(items) => schema.items.as_deref().map_or_else(closer, |schema| {
            items.iter().all(|item| is_plain_and_known(schema, item, schema.embedded_resource, below))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => is_plain(value, levels),
    }
}

/// Returns true if a value has no nulls, only numbers as they are printed, and at most this many levels.
fn is_plain(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return false };
    match value {
        Value::Null => false,
        Value::Number(number) => prints_as_it_is(number),
        Value::Array(items) => items.iter().all(|item| is_plain(item, below)),
        Value::Object(map) => map.values().all(|value| is_plain(value, below)),
        Value::Bool(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::{Sources, parse};

    #[test]
    fn canonical_objects_are_unchanged() {
        let mut sources = Sources::default();
        let text = "{type: object, properties: {count: {type: number}, o: {type: object, properties: {s: {type: string, nullable: true}}}}}";
        let id = sources.add("schema.yaml", text);
        let schema = Schema::read(&parse(&sources, id).unwrap()[0]);
        let objects = [
            (json!({"count": 1, "o": {"s": "x"}}), true),
            (json!({"count": 0.5, "metadata": {"name": "x"}}), true),
            (json!({"count": 1.0}), false),
            (json!({"count": 1, "x": 1}), false),
            (json!({"o": {"x": 1}}), false),
            (json!({"count": null}), false),
        ];
        for (object, held) in objects {
            assert_eq!(is_canonical(Some(&schema), &object), held, "{object}");
            let mut after = object.clone();
            canonicalize(Some(&schema), &mut after);
            assert_eq!(after == object, held, "{object}");
        }
        // An allowed null stays; only the quick check cannot tell.
        assert!(!is_canonical(Some(&schema), &json!({"o": {"s": null}})));
    }
}
