//! Schemas as API servers declare them to the rule compiler: types, and bounds of sizes.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::super::place::DEPTH_LIMIT;
use super::super::super::{Schema, Type};
use super::super::value::escape;

/// The largest request that a server estimates with, in bytes.
pub(super) const MAX_REQUEST: u64 = 3 * 1024 * 1024;

/// The kinds of values in rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Bytes,
    Double,
    Duration,
    Dyn,
    Int,
    List,
    Map,
    Null,
    Object,
    String,
    Timestamp,
    Type,
    Uint,
}

/// A schema node as rules see it.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) kind: Kind,
    /// Maximum number of characters, items or entries; 0 where a value has no size.
    pub(super) max_elements: u64,
    /// Size of the smallest value as JSON.
    pub(super) min_size: u64,
    /// Fields of an object, by their escaped names.
    pub(super) fields: BTreeMap<String, Self>,
    /// Items of a list, values of a map.
    pub(super) element: Option<Box<Self>>,
}

impl Declared {
    /// Declares a schema. `None` where rules cannot see its values.
    pub(super) fn of(schema: &Schema, is_resource: bool, depth: usize) -> Option<Self> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        if schema.int_or_string {
            return Some(Self::simple(Kind::Dyn, text_length(schema, MAX_REQUEST - 2), 1));
        }
        match schema.ty? {
            Type::Array => {
                let items = schema.items.as_deref()?;
                let element = Self::of(items, items.embedded_resource, depth + 1)?;
                let fitting = (MAX_REQUEST - 2) / (element.min_size + 1);
                let max = schema.max_items.map_or(fitting, at_least_zero);
                Some(Self { element: Some(Box::new(element)), ..Self::simple(Kind::List, max, 2) })
            }
            Type::Object if !is_resource && schema.values().is_some() => {
                let values = schema.values()?;
                let element = Self::of(values, values.embedded_resource, depth + 1)?;
                let fitting = (MAX_REQUEST - 2) / (element.min_size + 6);
                let max = schema.max_properties.map_or(fitting, at_least_zero);
                Some(Self { element: Some(Box::new(element)), ..Self::simple(Kind::Map, max, 2) })
            }
            Type::Object => Some(Self::object(schema, is_resource, depth)),
            Type::String => Some(Self::text(schema)),
            Type::Boolean => Some(Self::simple(Kind::Bool, 0, 4)),
            Type::Number => Some(Self::simple(Kind::Double, 0, 1)),
            Type::Integer => Some(Self::simple(Kind::Int, 0, 1)),
        }
    }

    fn simple(kind: Kind, max_elements: u64, min_size: u64) -> Self {
        Self { kind, max_elements, min_size, fields: BTreeMap::new(), element: None }
    }

    fn object(schema: &Schema, is_resource: bool, depth: usize) -> Self {
        let mut object = Self::simple(Kind::Object, 0, 2);
        for (name, property) in &schema.properties {
            let Some(field) = Self::of(property, property.embedded_resource, depth + 1) else { continue };
            let is_required = schema.required.contains(name) && property.default.is_none();
            if is_required {
                object.min_size += name.len() as u64 + field.min_size + 4;
            }
            if let Some(name) = escape(name) {
                object.fields.insert(name, field);
            }
        }
        if is_resource && !object.describes_itself() {
            let text = || Self::simple(Kind::String, MAX_REQUEST - 2, 2);
            let mut metadata = Self::simple(Kind::Object, 0, 2);
            metadata.fields.extend(["name", "generateName"].map(|name| (name.to_owned(), text())));
            object.fields.extend(["apiVersion", "kind"].map(|name| (name.to_owned(), text())));
            object.fields.insert("metadata".to_owned(), metadata);
        }
        object
    }

    /// Returns whether everything that rules see of every resource is declared.
    fn describes_itself(&self) -> bool {
        let is_text = |fields: &BTreeMap<String, Self>, name| fields.get(name).is_some_and(|f| f.kind == Kind::String);
        let metadata = self.fields.get("metadata");
        is_text(&self.fields, "apiVersion")
            && is_text(&self.fields, "kind")
            && metadata
                .is_some_and(|metadata| is_text(&metadata.fields, "name") && is_text(&metadata.fields, "generateName"))
    }

    fn text(schema: &Schema) -> Self {
        match schema.format.as_deref() {
            Some("byte") => {
                let max = schema.max_length.map_or(MAX_REQUEST - 2, at_least_zero);
                Self::simple(Kind::Bytes, max, 2)
            }
            Some("duration") => Self::simple(Kind::Duration, 32, 3),
            Some("date") => Self::simple(Kind::Timestamp, 12, 12),
            Some("date-time") => Self::simple(Kind::Timestamp, 32, 21),
            _ => {
                let longest = schema.enumeration.as_deref().filter(|values| !values.is_empty()).map(|values| {
                    let lengths = values.iter().filter_map(Value::as_str).map(str::len);
                    lengths.max().unwrap_or(0) as u64
                });
                Self::simple(Kind::String, text_length(schema, longest.unwrap_or(MAX_REQUEST - 2)), 2)
            }
        }
    }
}

/// The length of a text in bytes. A character has up to four.
fn text_length(schema: &Schema, unbounded: u64) -> u64 {
    schema.max_length.map_or(unbounded, |max| at_least_zero(max).saturating_mul(4))
}

pub(super) fn at_least_zero(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
