//! Values as rules see them. The schema decides the type of each, not the value itself.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use kube_cel::cel;
use kube_cel::cel::objects::{Key, Map, Opaque};
use serde_json::Value;

use super::super::format::{Moment, date, date_time_for_rules, duration};
use super::super::{Schema, Type};

/// Stands for data that does not have the type of its schema. A server makes every rule fail that
/// touches it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Invalid;

impl Opaque for Invalid {
    fn runtime_type_name(&self) -> &'static str {
        "crdproof.invalid"
    }
}

/// A converted value.
pub(super) struct Converted {
    pub(super) value: cel::Value,
    /// True if some part of it is [`Invalid`].
    pub(super) has_invalid: bool,
}

/// Converts a value. A resource shows its type and name whatever its schema says.
pub(super) fn convert(value: &Value, schema: &Schema, resource: bool) -> Converted {
    let mut converter = Converter { has_invalid: false };
    Converted { value: converter.node(value, schema, resource), has_invalid: converter.has_invalid }
}

struct Converter {
    has_invalid: bool,
}

impl Converter {
    fn invalid(&mut self) -> cel::Value {
        self.has_invalid = true;
        cel::Value::Opaque(Arc::new(Invalid))
    }

    fn or_invalid(&mut self, value: Option<cel::Value>) -> cel::Value {
        value.unwrap_or_else(|| self.invalid())
    }

    fn node(&mut self, value: &Value, schema: &Schema, resource: bool) -> cel::Value {
        if value.is_null() {
            return if schema.nullable { cel::Value::Null } else { self.invalid() };
        }
        let converted = match (schema.int_or_string, schema.ty, value) {
            (true, _, Value::String(text)) => Some(string(text)),
            (true, _, Value::Number(number)) | (false, Some(Type::Integer), Value::Number(number)) => {
                number.as_i64().map(cel::Value::Int)
            }
            (false, Some(Type::Object), Value::Object(map)) => {
                Some(self.object(map, schema, resource || schema.embedded_resource))
            }
            (false, Some(Type::Array), Value::Array(items)) => schema.items.as_deref().map(|schema| {
                let items = items.iter();
                let items = items.map(|item| self.node(item, schema, false)).collect();
                cel::Value::List(Arc::new(items))
            }),
            (false, Some(Type::String), Value::String(text)) => text_value(text, schema),
            (false, Some(Type::Number), Value::Number(number)) => number.as_f64().map(cel::Value::Float),
            (false, Some(Type::Boolean), Value::Bool(value)) => Some(cel::Value::Bool(*value)),
            _ => None,
        };
        self.or_invalid(converted)
    }

    fn object(&mut self, map: &serde_json::Map<String, Value>, schema: &Schema, resource: bool) -> cel::Value {
        let mut fields = HashMap::new();
        if !resource && schema.properties.is_empty() {
            if let Some(values) = schema.values() {
                for (name, value) in map {
                    fields.insert(key(name), self.node(value, values, false));
                }
            }
            return cel::Value::Map(Map { map: Arc::new(fields) });
        }
        for (name, value) in map {
            // A null field is the same as a missing one.
            if value.is_null() {
                continue;
            }
            let shown = match (resource, name.as_str()) {
                (true, "apiVersion" | "kind") => Some(self.or_invalid(value.as_str().map(string))),
                (true, "metadata") => Some(self.metadata(value)),
                _ => schema
                    .properties
                    .get(name)
                    .filter(|property| is_visible(property))
                    .map(|property| self.node(value, property, false)),
            };
            if let Some(shown) = shown {
                // The one reserved word that a server lets rules write as it is, too.
                if name == "namespace" {
                    fields.insert(key(name), shown.clone());
                }
                let name = escape(name).unwrap_or_else(|| name.clone());
                fields.insert(key(&name), shown);
            }
        }
        cel::Value::Map(Map { map: Arc::new(fields) })
    }

    /// Rules see the name of an object and nothing else of its metadata.
    fn metadata(&mut self, metadata: &Value) -> cel::Value {
        let Value::Object(map) = metadata else {
            return self.invalid();
        };
        let names = ["name", "generateName"].into_iter();
        let fields = names.filter_map(|name| Some((key(name), string(map.get(name)?.as_str()?)))).collect();
        cel::Value::Map(Map { map: Arc::new(fields) })
    }
}

/// Values without a type are hidden from rules.
fn is_visible(schema: &Schema) -> bool {
    schema.ty.is_some() || schema.int_or_string
}

fn key(name: &str) -> Key {
    Key::String(Arc::new(name.to_owned()))
}

fn string(text: &str) -> cel::Value {
    cel::Value::String(Arc::new(text.to_owned()))
}

fn text_value(text: &str, schema: &Schema) -> Option<cel::Value> {
    match schema.format.as_deref() {
        Some("duration") => duration(text).map(|nanos| cel::Value::Duration(chrono::Duration::nanoseconds(nanos))),
        Some("date") => date(text).and_then(timestamp),
        Some("date-time") => date_time_for_rules(text).and_then(timestamp),
        Some("byte") => {
            let bytes = URL_SAFE.decode(text).ok()?;
            Some(cel::Value::Bytes(Arc::new(bytes)))
        }
        _ => Some(string(text)),
    }
}

pub(super) fn timestamp(moment: Moment) -> Option<cel::Value> {
    let time = chrono::DateTime::from_timestamp(moment.seconds, moment.nanos)?;
    let zone = chrono::FixedOffset::east_opt(moment.offset)?;
    Some(cel::Value::Timestamp(time.with_timezone(&zone)))
}

/// Words that mean something else in an expression.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Returns whether CEL reserves a word.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Returns whether a reserved word may be selected somewhere; a quick look that spares a parser.
pub(super) fn mentions_reserved(rule: &str) -> bool {
    RESERVED.iter().any(|word| rule.contains(&format!(".{word}")) || rule.contains(&format!("?{word}")))
}

/// The name by which a rule selects a property; `None` where a rule cannot.
pub(super) fn escape(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut escaped = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '_' if chars.peek() == Some(&'_') => {
                chars.next();
                escaped.push_str("__underscores__");
            }
            '.' => escaped.push_str("__dot__"),
            '-' => escaped.push_str("__dash__"),
            '/' => escaped.push_str("__slash__"),
            c if c.is_ascii_alphanumeric() || c == '_' => escaped.push(c),
            _ => return None,
        }
    }
    Some(escaped)
}

/// The property whose escaped name this is; a name without escapes stands for itself.
pub(super) fn unescape(escaped: &str) -> String {
    let inner = escaped.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    if let Some(reserved) = inner.filter(|inner| RESERVED.contains(inner)) {
        return reserved.to_owned();
    }
    let name = escaped.replace("__dot__", ".").replace("__dash__", "-").replace("__slash__", "/");
    name.replace("__underscores__", "__")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("plain_name", Some("plain_name"))]
    #[case("a-b.c/d", Some("a__dash__b__dot__c__slash__d"))]
    #[case("a__b", Some("a__underscores__b"))]
    #[case("namespace", Some("__namespace__"))]
    #[case("$ref", None)]
    #[case("1a", None)]
    #[case("", None)]
    fn names_are_escaped(#[case] name: &str, #[case] expected: Option<&str>) {
        assert_eq!(escape(name).as_deref(), expected);
        if let Some(expected) = expected {
            assert_eq!(unescape(expected), name);
        }
    }
}
