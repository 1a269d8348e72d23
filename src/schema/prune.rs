//! Pruning: what the API server drops because the schema does not know it.

use serde_json::{Map, Value};

use super::{Additional, Schema};

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Prunes a whole object and returns the paths of what was dropped, as `.spec.x[0].y`. The fields
/// that every object has are left alone.
pub fn prune(schema: &Schema, object: &mut Value) -> Vec<String> {
    let mut pruner = Pruner { dropped: Vec::new() };
    pruner.value(Some(schema), object, "", true);
    pruner.dropped.sort();
    pruner.dropped
}

/// Prunes a value that is not a whole object, such as a default.
pub fn prune_value(schema: &Schema, value: &mut Value) -> Vec<String> {
    let mut pruner = Pruner { dropped: Vec::new() };
    pruner.value(Some(schema), value, "", schema.embedded_resource);
    pruner.dropped.sort();
    pruner.dropped
}

struct Pruner {
    dropped: Vec<String>,
}

impl Pruner {
    fn value(&mut self, schema: Option<&Schema>, value: &mut Value, path: &str, resource: bool) {
        if let Some(schema) = schema
            && schema.preserves_unknown()
        {
            return self.preserved(schema, value, path, resource);
        }
        match value {
            Value::Object(map) => self.object(schema, map, path, resource),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let items = schema.and_then(|schema| schema.items.as_deref());
                    self.value(items, item, &format!("{path}[{index}]"), is_resource(items));
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, schema: Option<&Schema>, map: &mut Map<String, Value>, path: &str, resource: bool) {
        let names: Vec<String> = map.keys().cloned().collect();
        for name in names {
            if resource && META.contains(&name.as_str()) {
                continue;
            }
            let child_path = format!("{path}.{name}");
            match schema.map(|schema| (schema.properties.get(&name), &schema.additional)) {
                Some((Some(property), _)) => {
                    self.value(Some(property), &mut map[&name], &child_path, property.embedded_resource);
                }
                Some((None, Some(Additional::Schema(values)))) => {
                    self.value(Some(values), &mut map[&name], &child_path, values.embedded_resource);
                }
                // Values of an untyped map are kept, but what is inside them is not.
                Some((None, Some(Additional::Allowed(_)))) => self.value(None, &mut map[&name], &child_path, false),
                Some((None, None)) | None => {
                    map.remove(&name);
                    self.dropped.push(child_path);
                }
            }
        }
    }

    /// Below `x-kubernetes-preserve-unknown-fields` unknown fields stay, and what the schema does
    /// describe is pruned again.
    fn preserved(&mut self, schema: &Schema, value: &mut Value, path: &str, resource: bool) {
        match value {
            Value::Object(map) => {
                for (name, child) in map.iter_mut() {
                    if resource && META.contains(&name.as_str()) {
                        continue;
                    }
                    let known = schema.child(name);
                    if let Some(known) = known {
                        self.value(Some(known), child, &format!("{path}.{name}"), known.embedded_resource);
                    } else if matches!(schema.additional, Some(Additional::Allowed(_))) {
                        self.value(None, child, &format!("{path}.{name}"), false);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = schema.items.as_deref() {
                        self.preserved(schema, item, &format!("{path}[{index}]"), schema.embedded_resource);
                    }
                }
            }
            _ => {}
        }
    }
}

fn is_resource(schema: Option<&Schema>) -> bool {
    schema.is_some_and(|schema| schema.embedded_resource)
}
