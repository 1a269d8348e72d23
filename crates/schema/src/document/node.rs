//! A document tree whose nodes have source positions.

use crate::document::pointer;
use serde_json::{Map, Number, Value};

use super::Span;

/// A value and its source position.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The position of the value.
    pub span: Span,
    /// The value.
    pub kind: Kind,
}

/// The content of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true`, and in YAML also `yes`, `on` and `y`.
    Bool(bool),
    /// A number, integers kept exact.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in source order, without duplicate keys.
    Map(Vec<Entry>),
}

/// One key of a map and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key, as a string even if YAML reads a number or a boolean.
    pub key: String,
    /// The position of the key.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The entry of a map with this key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value of a map under this key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Follows keys downwards.
    pub fn at(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The entries of a map; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The string under a key, if there is one.
    pub fn str_at(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Node::as_str)
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true if it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// Returns the type of the value, in the terms of a schema.
    pub fn type_name(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "boolean",
            Kind::Number(number) if number.is_f64() => "number",
            Kind::Number(_) => "integer",
            Kind::String(_) => "string",
            Kind::List(_) => "array",
            Kind::Map(_) => "object",
        }
    }

    /// The plain JSON value.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String(text.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Kind::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// The node at a JSON pointer, or the nearest existing one above it, so that a message about a missing field still
    /// has a location.
    pub fn nearest(&self, pointer: &str) -> &Node {
        let mut node = self;
        for token in pointer.split('/').skip(1) {
            let token = pointer::unescape(token);
            let next = match &node.kind {
                Kind::Map(_) => node.get(&token),
                Kind::List(items) => token.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }
}
