//! Equality as rules mean it: sets and list maps are equal in any order.

use std::collections::BTreeMap;

use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Opaque};

use super::super::Schema;
use super::library::original;
use super::value::escape;

/// The places of a value where the order does not count.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// The order counts everywhere.
    Plain,
    /// A list.
    List { unordered: bool, items: Box<Shape> },
    /// An object: the shapes of its fields that are not plain.
    Object(BTreeMap<String, Shape>),
    /// A map.
    Map(Box<Shape>),
}

impl Shape {
    pub(super) fn of(schema: &Schema) -> Self {
        if let Some(items) = schema.items.as_deref() {
            let unordered = is_unordered(schema);
            return match Self::of(items) {
                Self::Plain if !unordered => Self::Plain,
                items => Self::List { unordered, items: Box::new(items) },
            };
        }
        if let Some(values) = schema.values() {
            return match Self::of(values) {
                Self::Plain => Self::Plain,
                values => Self::Map(Box::new(values)),
            };
        }
        let fields: BTreeMap<_, _> = schema
            .properties
            .iter()
            .filter_map(|(name, schema)| Some((escape(name)?, Self::of(schema))))
            .filter(|(_, shape)| *shape != Self::Plain)
            .collect();
        if fields.is_empty() { Self::Plain } else { Self::Object(fields) }
    }

    /// Returns whether two values are equal.
    pub(super) fn equal(&self, left: &Value, right: &Value) -> bool {
        match (self, left, right) {
            (Self::List { unordered, items }, Value::List(left), Value::List(right)) => {
                left.len() == right.len()
                    && if *unordered {
                        right.iter().all(|right| left.iter().any(|left| items.equal(left, right)))
                    } else {
                        left.iter().zip(right.iter()).all(|(left, right)| items.equal(left, right))
                    }
            }
            (Self::Object(_) | Self::Map(_), Value::Map(left), Value::Map(right)) => {
                left.map.len() == right.map.len()
                    && left
                        .map
                        .iter()
                        .all(|(key, left)| right.map.get(key).is_some_and(|right| self.field(key).equal(left, right)))
            }
            (_, Value::Opaque(a), Value::Opaque(b)) if is_semver(&**a) && is_semver(&**b) => {
                // Build metadata does not count.
                let order = original("compareTo", vec![left.clone(), right.clone()]);
                order == Ok(Value::Int(0))
            }
            _ => left == right,
        }
    }

    fn field(&self, key: &Key) -> &Self {
        match (self, key) {
            (Self::Object(fields), Key::String(name)) => fields.get(name.as_str()).unwrap_or(&Self::Plain),
            (Self::Map(values), _) => values,
            (Self::Plain | Self::List { .. } | Self::Object(_), _) => &Self::Plain,
        }
    }
}

fn is_semver(value: &dyn Opaque) -> bool {
    value.runtime_type_name() == "kubernetes.Semver"
}

/// Returns whether the order of a list does not count.
pub(super) fn is_unordered(schema: &Schema) -> bool {
    matches!(schema.list_type.as_deref(), Some("set" | "map"))
}
