//! Secrets that must not reach a report.

mod spelling;

pub use spelling::{find_secret, redact_text};

use crate::document::pointer;
use std::collections::BTreeSet;

use serde_json::Value;

use super::Schema;

/// The replacement of a secret.
pub const REDACTED: &str = "•••";

/// Words in the name of a secret field, in any case and form: `dbPassword`, `api_key`.
const WORDS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "clientkey",
    "encryptionkey",
    "signingkey",
];

/// Suffixes of names that only refer to a secret: `secretName`, `tokenRef`.
const REFERENCES: [&str; 5] = ["name", "ref", "refs", "namespace", "key"];

/// Suffixes of names that are secrets nevertheless.
const KEYS: [&str; 6] = ["apikey", "accesskey", "privatekey", "clientkey", "encryptionkey", "signingkey"];

/// Fields below a secret's name that describe it, and are not the secret: `credentials: {type: basic}`.
const DESCRIPTIONS: [&str; 3] = ["kind", "apiversion", "type"];

/// Shorter values are not searched in texts: they are parts of other words.
const MIN_LENGTH: usize = 6;

/// Returns true if a field is secret, by its format or by its name.
pub fn is_secret(name: &str, schema: Option<&Schema>) -> bool {
    let named = WORDS.iter().any(|word| plain(name).contains(word)) && !is_reference(name);
    schema.is_some_and(is_typed) || named
}

/// Returns true if a name only refers to a secret.
fn is_reference(name: &str) -> bool {
    let plain = plain(name);
    let ends = |endings: &[&str]| endings.iter().any(|ending| plain.ends_with(ending));
    ends(&REFERENCES) && !ends(&KEYS)
}

/// Returns true if a text may contain the name of a secret field.
pub fn may_name_secret(text: &str) -> bool {
    let plain = plain(text);
    WORDS.iter().any(|word| plain.contains(word))
}

/// Letters and digits, in lower case.
fn plain(name: &str) -> String {
    let plain = name.chars().filter(char::is_ascii_alphanumeric);
    plain.map(|letter| letter.to_ascii_lowercase()).collect()
}

fn is_typed(schema: &Schema) -> bool {
    schema.format.as_deref() == Some("password")
}

/// The secret fields of a CRD, in any of its versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Fields that some version marks as secret. They keep their names in stashes, which have no schema.
    names: BTreeSet<String>,
}

/// The extent of a secret below its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Nothing is secret.
    Nothing,
    /// The value itself, and everything below it, except fields that refer to a secret or describe it.
    Value,
    /// Everything.
    All,
}

impl Secrets {
    /// Collects the secret fields of all versions.
    pub fn new<'s>(schemas: impl IntoIterator<Item = &'s Schema>) -> Self {
        let mut names = BTreeSet::new();
        for schema in schemas {
            schema.walk(&mut |_, schema| {
                let typed = schema.properties.iter().filter(|(_, field)| {
                    is_typed(field) || field.items.as_deref().or(field.values()).is_some_and(is_typed)
                });
                names.extend(typed.map(|(name, _)| name.clone()));
            });
        }
        Self { names }
    }

    /// The object with its secrets replaced. The schema of a part of an object may be unknown.
    pub fn redact(&self, schema: Option<&Schema>, value: &Value) -> Value {
        self.walk(schema, Reach::Nothing, value, &mut |_| ())
    }

    /// Adds the texts that [`Secrets::redact`] would replace, unless they are too short to search for.
    pub fn collect(&self, schema: Option<&Schema>, value: &Value, found: &mut BTreeSet<String>) {
        self.walk(schema, Reach::Nothing, value, &mut |secret| {
            // A text of several lines is shown line by line.
            let lines = secret.lines().map(str::trim).filter(|line| line.chars().count() >= MIN_LENGTH);
            found.extend(lines.map(str::to_owned));
        });
    }

    /// Returns true if the value at a JSON pointer is secret, by the fields on its path.
    pub fn redacts(&self, schema: Option<&Schema>, object: &Value, pointer: &str) -> bool {
        let (mut schema, mut value) = (schema, Some(object));
        pointer.split('/').skip(1).any(|part| {
            let part = pointer::unescape(part);
            let all = value.is_some_and(|value| reach_of_kind(value, &part) == Reach::All);
            let items = schema.and_then(|schema| schema.items.as_deref());
            schema = items.or_else(|| schema.and_then(|schema| schema.child(&part)));
            value = value.and_then(|value| match value {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?),
                other => other.get(&*part),
            });
            all || self.is_secret(&part, schema)
        })
    }

    fn is_secret(&self, name: &str, schema: Option<&Schema>) -> bool {
        is_secret(name, schema) || (schema.is_none() && self.names.contains(name))
    }

    fn walk(&self, schema: Option<&Schema>, reach: Reach, value: &Value, found: &mut dyn FnMut(&str)) -> Value {
        match value {
            Value::Object(map) => {
                let fields = map.iter().map(|(name, field)| {
                    let child = schema.and_then(|schema| schema.child(name));
                    let is_visible = is_reference(name) || DESCRIPTIONS.contains(&plain(name).as_str());
                    let below = if reach == Reach::Value && is_visible { Reach::Nothing } else { reach };
                    let own = if self.is_secret(name, child) { Reach::Value } else { Reach::Nothing };
                    let reach = [below, own, reach_of_kind(value, name)].into_iter().max_by_key(|reach| *reach as u8);
                    (name.clone(), self.walk(child, reach.unwrap_or(below), field, found))
                });
                Value::Object(fields.collect())
            }
            Value::Array(items) => {
                let child = schema.and_then(|schema| schema.items.as_deref());
                Value::Array(items.iter().map(|item| self.walk(child, reach, item, found)).collect())
            }
            Value::String(text) if reach != Reach::Nothing || schema.is_some_and(is_typed) => {
                found(text);
                REDACTED.into()
            }
            Value::String(text) => self.document(text, found).map_or_else(|| value.clone(), Value::String),
            Value::Number(number) if reach != Reach::Nothing => {
                found(&number.to_string());
                REDACTED.into()
            }
            // Booleans, numbers and null are not secret.
            Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
        }
    }

    /// A text that is a JSON document itself, such as a stash, without its secrets; `None` if it has none.
    fn document(&self, text: &str, found: &mut dyn FnMut(&str)) -> Option<String> {
        if !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let document: Value = serde_json::from_str(text).ok()?;
        let redacted = self.walk(None, Reach::Nothing, &document, found);
        (redacted != document).then(|| redacted.to_string())
    }
}

/// Returns the extent of secrets by the kind of an object: everything in a Secret is secret.
fn reach_of_kind(object: &Value, field: &str) -> Reach {
    let carries = matches!(field, "data" | "stringData") && object.get("kind").is_some_and(|kind| kind == "Secret");
    if carries { Reach::All } else { Reach::Nothing }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redact(value: &Value) -> Value {
        Secrets::default().redact(None, value)
    }

    #[test]
    fn secrets_are_redacted_and_references_are_not() {
        let object = json!({"password": "a", "dbPasswd": 1, "secretName": "n", "tokenRef": {"name": "x"}, "api_key": "k",
                            "list": [{"token": "t"}], "size": 1, "annotations": {"example.com/v2-password": "\"p\""},
                            "tokens": ["a", "b"], "secretAccessKey": "s", "imagePullSecrets": [{"name": "n"}],
                            "automountServiceAccountToken": true, "oldPassword": null});
        assert_eq!(
            redact(&object),
            json!({"password": "•••", "dbPasswd": "•••", "secretName": "n", "tokenRef": {"name": "x"}, "api_key": "•••",
                   "list": [{"token": "•••"}], "size": 1, "annotations": {"example.com/v2-password": "•••"},
                   "tokens": ["•••", "•••"], "secretAccessKey": "•••", "imagePullSecrets": [{"name": "n"}],
                   "automountServiceAccountToken": true, "oldPassword": null})
        );
    }

    #[test]
    fn contents_of_secret_objects_are_redacted_everywhere() {
        let object = json!({"spec": {"items": [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "n"},
                            "data": {"a": "x", "b": {"c": "y"}}, "stringData": {"d": "z"}}]}, "data": {"a": "x"}});
        let redacted = redact(&object);
        let secret = &redacted["spec"]["items"][0];
        assert_eq!(secret["data"], json!({"a": "•••", "b": {"c": "•••"}}));
        assert_eq!((&secret["stringData"]["d"], &secret["metadata"]["name"]), (&json!("•••"), &json!("n")));
        assert_eq!(redacted["data"], json!({"a": "x"}));
        let redacts = |pointer: &str| Secrets::default().redacts(None, &object, pointer);
        assert!(redacts("/spec/items/0/data/a") && !redacts("/spec/items/0/metadata/name") && !redacts("/data/a"));
    }

    #[test]
    fn documents_in_strings_are_redacted() {
        let inner = json!({"spec": {"password": "hunter2", "size": 1, "pin": "1234"}}).to_string();
        let secrets = Secrets { names: BTreeSet::from(["pin".to_owned()]) };
        let object = json!({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": inner,
                            "example.com/list": "[1,2]", "example.com/brace": "{no json"}}});
        let redacted = secrets.redact(None, &object);
        let annotations = &redacted["metadata"]["annotations"];
        let text = annotations["kubectl.kubernetes.io/last-applied-configuration"].as_str().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(text).unwrap(),
            json!({"spec": {"password": "•••", "size": 1, "pin": "•••"}})
        );
        assert_eq!(
            (&annotations["example.com/list"], &annotations["example.com/brace"]),
            (&json!("[1,2]"), &json!("{no json"))
        );
        let mut found = BTreeSet::new();
        secrets.collect(None, &object, &mut found);
        assert_eq!(found, BTreeSet::from(["hunter2".to_owned()]));
    }

    #[test]
    fn cloud_keys_and_children_of_secrets_are_redacted() {
        let object = json!({"accessKey": "a", "access_key": "b", "awsAccessKeyId": "c", "clientKey": "d", "signingKey": "e",
                            "password": {"value": "v", "plain": {"deep": 1}}, "tokens": [{"value": "t", "name": "n"}],
                            "credentials": {"type": "basic", "secretRef": {"name": "n", "key": "k"}, "user": "u"},
                            "secretKeyRef": {"name": "n", "key": "k"}, "passwordFrom": {"secretKeyRef": {"name": "n"}}});
        assert_eq!(
            redact(&object),
            json!({"accessKey": "•••", "access_key": "•••", "awsAccessKeyId": "•••", "clientKey": "•••", "signingKey": "•••",
                   "password": {"value": "•••", "plain": {"deep": "•••"}}, "tokens": [{"value": "•••", "name": "n"}],
                   "credentials": {"type": "basic", "secretRef": {"name": "n", "key": "k"}, "user": "•••"},
                   "secretKeyRef": {"name": "n", "key": "k"}, "passwordFrom": {"secretKeyRef": {"name": "n"}}})
        );
    }
}
