//! Finding the owner of a field: another manager claims it in a dry run, and the conflict names the owners. Pure:
//! builds requests and reads responses.

use serde_json::{Map, Value, json};

/// A field at the remaining version, and another value for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Probe {
    pub(super) path: Vec<Part>,
    other: Value,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Field(String),
    /// An item of a list, by its keys.
    Item(Map<String, Value>),
}

/// The owner of a field, as a conflict names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    manager: String,
    subresource: String,
    /// The version of an update; conflicts name none for an apply.
    update: Option<String>,
    /// The field, in the owner's version.
    pub(super) field: String,
}

impl Probe {
    /// The top-level field that contains it.
    pub(super) fn root(&self) -> &str {
        match self.path.first() {
            Some(Part::Field(name)) => name,
            _ => "",
        }
    }

    /// An object to apply that has only the other value.
    pub(super) fn intent(&self, object: &Value) -> Value {
        let inner = self.path.iter().rev().fold(self.other.clone(), |inner, part| match part {
            Part::Field(name) => json!({name: inner}),
            Part::Item(keys) => {
                let mut item = keys.clone();
                item.extend(inner.as_object().cloned().unwrap_or_default());
                json!([item])
            }
        });
        let mut intent = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {"name": object["metadata"]["name"]},
        });
        if object["metadata"]["namespace"].is_string() {
            intent["metadata"]["namespace"] = object["metadata"]["namespace"].clone();
        }
        for (name, value) in inner.as_object().cloned().unwrap_or_default() {
            intent[name] = value;
        }
        intent
    }
}

impl Owner {
    /// The owners that a conflict names.
    pub(super) fn all(answer: &Value) -> Vec<Self> {
        let causes = answer["details"]["causes"].as_array().into_iter().flatten();
        causes.filter(|cause| cause["reason"] == "FieldManagerConflict").filter_map(Self::read).collect()
    }

    /// Reads `conflict with "alice" with subresource "status" using example.com/v1 at 2026-11-16T12:00:00Z`.
    fn read(cause: &Value) -> Option<Self> {
        let (manager, rest) = quoted(cause["message"].as_str()?.strip_prefix("conflict with ")?)?;
        let (subresource, rest) = match rest.strip_prefix(" with subresource ") {
            Some(rest) => quoted(rest)?,
            None => (String::new(), rest),
        };
        let update = rest.strip_prefix(" using ").map(|rest| rest.split(' ').next().unwrap_or(rest).to_owned());
        let field = cause["field"].as_str().unwrap_or_default().to_owned();
        Some(Self { manager, subresource, update, field })
    }

    pub(super) fn is(&self, entry: &Value) -> bool {
        let version = match &self.update {
            Some(version) => entry["operation"] == "Update" && entry["apiVersion"] == version.as_str(),
            None => entry["operation"] == "Apply",
        };
        let subresource = entry["subresource"].as_str().unwrap_or_default();
        version && entry["manager"] == self.manager.as_str() && subresource == self.subresource
    }
}

/// A quoted text at the beginning, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut texts = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let first = texts.next()?.ok()?;
    let end = texts.byte_offset();
    Some((first, text.get(end..)?))
}

/// Collects the fields whose value the old version does not have at the same path.
pub(super) fn leaves(schema: &Value, old: Option<&Value>, new: &Value, path: &mut Vec<Part>, probes: &mut Vec<Probe>) {
    let keys: Vec<&str> =
        schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match new {
        Value::Object(fields) if schema["x-kubernetes-map-type"] != "atomic" => {
            for (name, value) in fields {
                let below = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                path.push(Part::Field(name.clone()));
                leaves(below, old.and_then(|old| old.get(name)), value, path, probes);
                path.pop();
            }
        }
        Value::Array(items) if schema["x-kubernetes-list-type"] == "map" => {
            for item in items {
                let own = keys.iter().map(|key| ((*key).to_owned(), item[*key].clone())).collect::<Map<_, _>>();
                let same = |other: &&Value| own.iter().all(|(name, key)| other.get(name) == Some(key));
                let then = old.and_then(Value::as_array).and_then(|items| items.iter().find(same));
                path.push(Part::Item(own));
                for (name, value) in
                    item.as_object().into_iter().flatten().filter(|(name, _)| !keys.contains(&name.as_str()))
                {
                    path.push(Part::Field(name.clone()));
                    leaves(
                        &schema["items"]["properties"][name],
                        then.and_then(|then| then.get(name)),
                        value,
                        path,
                        probes,
                    );
                    path.pop();
                }
                path.pop();
            }
        }
        // Another item of a set is another field, so it would cause no conflict.
        Value::Array(_) if schema["x-kubernetes-list-type"] == "set" => {}
        _ if old == Some(new) => {}
        _ => probes.extend(other(schema, new).map(|other| Probe { path: path.clone(), other })),
    }
}

/// Another value of the same type.
fn other(schema: &Value, value: &Value) -> Option<Value> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().find(|other| *other != value).cloned();
    }
    match value {
        Value::String(text) => Some(json!(format!("{text}x"))),
        Value::Bool(flag) => Some(json!(!flag)),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(json!(if whole > 0 { whole - 1 } else { whole + 1 })),
            None => number.as_f64().map(|number| json!(number / 2.0 + 1.0)),
        },
        Value::Array(items) => (!items.is_empty()).then(|| json!([])),
        Value::Object(fields) => (!fields.is_empty()).then(|| json!({})),
        Value::Null => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_read_from_conflicts() {
        let cause =
            |message: &str| json!({"reason": "FieldManagerConflict", "message": message, "field": ".spec.size"});
        let read = |message: &str| Owner::read(&cause(message)).unwrap();
        let status =
            read(r#"conflict with "ctl \"x\"" with subresource "status" using example.com/v1 at 2026-11-16T12:00:00Z"#);
        assert_eq!((status.manager.as_str(), status.subresource.as_str()), (r#"ctl "x""#, "status"));
        assert_eq!(status.update.as_deref(), Some("example.com/v1"));
        assert_eq!(read(r#"conflict with "alice""#).update, None);
        assert_eq!(Owner::read(&cause("conflict with nobody")), None);
    }
}
