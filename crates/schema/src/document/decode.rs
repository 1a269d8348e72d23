//! Decoding nodes into typed values. An error keeps the span of the node that caused it, and for an unknown key the
//! possible keys.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};

use super::{Entry, Kind, Node, Span};

/// An error in a well-formed document.
#[derive(Debug, Clone)]
pub struct DecodeError {
    /// The wrong node; `None` only while the error is passed up to one.
    pub span: Option<Span>,
    /// Its defect.
    pub message: String,
    /// The remedy, if known.
    pub help: Option<String>,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { span: None, message: message.to_string(), help: None }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self { span: None, message: format!("unknown key {field:?}"), help: Some(suggestion(field, expected, "key")) }
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self {
            span: None,
            message: format!("unknown value {variant:?}"),
            help: Some(suggestion(variant, expected, "value")),
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { span: None, message: format!("the key {field:?} is missing"), help: Some(format!("add `{field}:`")) }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(format_args!("the key {field:?} is duplicated here"))
    }
}

fn suggestion(word: &str, expected: &[&str], what: &str) -> String {
    match crate::names::closest(word, expected.iter().copied()) {
        Some(best) => format!("did you mean `{best}`?"),
        None => format!("possible {what}s: {}", expected.join(", ")),
    }
}

/// Decodes a node into a typed value.
pub fn decode<T: DeserializeOwned>(node: &Node) -> Result<T, DecodeError> {
    T::deserialize(Decoder { node })
}

#[derive(Clone, Copy)]
struct Decoder<'a> {
    node: &'a Node,
}

impl Decoder<'_> {
    fn place<T>(self, result: Result<T, DecodeError>) -> Result<T, DecodeError> {
        result.map_err(|error| at(error, self.node.span))
    }
}

fn at(mut error: DecodeError, span: Span) -> DecodeError {
    error.span.get_or_insert(span);
    error
}

impl<'de> de::Deserializer<'de> for Decoder<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.place(match &self.node.kind {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(value) => visitor.visit_bool(*value),
            Kind::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), ..) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (.., value) => visitor.visit_f64(value.unwrap_or(f64::MAX)),
            },
            Kind::String(text) => visitor.visit_borrowed_str(text),
            Kind::List(items) => visitor.visit_seq(Items(items.iter())),
            Kind::Map(entries) => visitor.visit_map(Entries { entries: entries.iter(), value: None }),
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.node.is_null() { visitor.visit_none() } else { self.place(visitor.visit_some(self)) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        self.place(visitor.visit_newtype_struct(self))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.node.as_str() {
            Some(text) => {
                let variant: StrDeserializer<'_, DecodeError> = text.into_deserializer();
                self.place(visitor.visit_enum(variant))
            }
            // `variant: content`, for the variants that have some.
            None => match &self.node.kind {
                Kind::Map(entries) => {
                    let entries = Entries { entries: entries.iter(), value: None };
                    self.place(visitor.visit_enum(MapAccessDeserializer::new(entries)))
                }
                _ => self.deserialize_any(visitor),
            },
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a>(std::slice::Iter<'a, Node>);

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DecodeError> {
        self.0.next().map(|node| seed.deserialize(Decoder { node })).transpose()
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, Entry>,
    value: Option<&'a Node>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some(entry) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(&entry.value);
        let key: StrDeserializer<'_, DecodeError> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|error| at(error, entry.key_span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.value.take() {
            Some(node) => seed.deserialize(Decoder { node }),
            None => Err(de::Error::custom("a value was asked for before its key")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::document::{Sources, parse};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[expect(dead_code, reason = "only the errors matter here")]
    struct Config {
        crds: Vec<Paths>,
        minimum_count: Option<u32>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors matter here")]
    struct Paths {
        paths: Vec<String>,
    }

    fn refuse(text: &str) -> (String, String) {
        let mut sources = Sources::default();
        let id = sources.add("s.yaml", text);
        let error = decode::<Config>(&parse(&sources, id).unwrap()[0]).unwrap_err();
        (format!("{}: {error}", sources.place(error.span.unwrap())), error.help.unwrap_or_default())
    }

    #[test]
    fn errors_know_place_and_remedy() {
        let (message, help) = refuse("crds:\n- pathz: [a]\n");
        assert_eq!((message.as_str(), help.as_str()), ("s.yaml:2:3: unknown key \"pathz\"", "did you mean `paths`?"));
        let (message, help) = refuse("crds: []\nzzz: 1\n");
        assert_eq!(message, "s.yaml:2:1: unknown key \"zzz\"");
        assert_eq!(help, "possible keys: crds, minimumCount");
        let (message, _) = refuse("crds:\n- paths: [a, [b]]\n");
        assert_eq!(message, "s.yaml:2:14: invalid type: sequence, expected a string");
        let (message, _) = refuse("minimumCount: 1\n");
        assert_eq!(message, "s.yaml:1:1: the key \"crds\" is missing");
    }
}
