//! `x-kubernetes-list-type`: sets without duplicates, and list maps whose keys are unique.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Schema;
use super::admit::Validator;
use super::place::Place;
use super::print::printed;
use super::verdict::{Reason, Violation};

const LIST_TYPE: &str = "x-kubernetes-list-type";

/// Up to this many items are compared with each other; more are sorted.
const MAX_PAIRWISE: usize = 16;

/// The lists of a schema whose items must differ, and the paths to them. Most parts of a schema have none.
#[derive(Debug)]
pub(super) struct Lists<'a> {
    schema: &'a Schema,
    /// In the order of their names, like objects.
    fields: Vec<(&'a str, Self)>,
    values: Option<Box<Self>>,
    items: Option<Box<Self>>,
}

impl<'a> Lists<'a> {
    /// `None` if a schema has no such list.
    pub(super) fn of(schema: &'a Schema) -> Option<Self> {
        let below = |schema: Option<&'a Schema>| schema.and_then(Self::of).map(Box::new);
        let mut fields: Vec<_> =
            schema.properties.iter().filter_map(|(name, schema)| Some((name.as_str(), Self::of(schema)?))).collect();
        fields.sort_by_key(|(name, _)| *name);
        let (values, items) = (below(schema.values()), below(schema.items.as_deref()));
        let any = !fields.is_empty() || values.is_some() || items.is_some();
        let lists = Self { schema, fields, values, items };
        (any || lists.is_one()).then_some(lists)
    }

    fn is_one(&self) -> bool {
        matches!(self.schema.list_type.as_deref(), Some("set" | "map"))
    }

    /// Calls a function for each such list in a value, with its schema. Skips values of the wrong type.
    pub(super) fn visit<'v>(
        &self,
        value: &'v Value,
        place: &Place<'_>,
        see: &mut dyn FnMut(&'a Schema, &'v [Value], &Place<'_>),
    ) {
        if place.is_too_deep() {
            return;
        }
        match value {
            Value::Array(items) => {
                if self.is_one() {
                    see(self.schema, items, place);
                }
                if let Some(below) = &self.items {
                    let items = items.iter().enumerate();
                    items.for_each(|(index, item)| below.visit(item, &place.item(index), see));
                }
            }
            Value::Object(map) => {
                for (name, below) in &self.fields {
                    map.get(*name).into_iter().for_each(|value| below.visit(value, &place.field(name), see));
                }
                if let Some(below) = &self.values {
                    let values = map.iter().filter(|(name, _)| !self.schema.properties.contains_key(*name));
                    values.for_each(|(name, value)| below.visit(value, &place.value(name), see));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Adds a violation for the first repetition of each item.
    pub(super) fn duplicates(&self, value: &Value, found: &mut Vec<Violation>) {
        self.visit(value, &Place::root(), &mut |schema, items, place| match schema.list_type.as_deref() {
            Some("set") => repeated(items.iter().map(identity), |index| {
                found.push(duplicate(&place.item(index), &items[index]));
            }),
            _ => list_map(schema, items, place, found),
        });
    }
}

impl Validator<'_> {
    /// Duplicates are accepted if the old list had some.
    pub(super) fn judge_lists(&self, value: &Value, old: Option<&Value>, violations: &mut Vec<Violation>) {
        let Some(lists) = self.lists.as_ref().filter(|_| self.kubernetes.at_least(18)) else { return };
        let mut before = Vec::new();
        if let Some(old) = old {
            lists.duplicates(old, &mut before);
        }
        if before.is_empty() {
            lists.duplicates(value, violations);
        }
    }

    /// Calls a function for every keyed list of a value with its defaults.
    pub fn keyed_lists(&self, value: &Value, see: &mut dyn FnMut(&KeyedList<'_>)) {
        let Some(lists) = &self.lists else { return };
        lists.visit(&self.filled(value), &Place::root(), &mut |schema, items, place| {
            if schema.list_type.as_deref() == Some("map") {
                see(&KeyedList { keys: &schema.list_map_keys, items, place });
            }
        });
    }
}

/// A list whose items have keys.
pub struct KeyedList<'l> {
    /// The names of the key fields.
    pub keys: &'l [String],
    /// The items.
    pub items: &'l [Value],
    place: &'l Place<'l>,
}

impl KeyedList<'_> {
    /// The path of such lists.
    pub fn path(&self) -> String {
        self.place.generic()
    }
}

fn list_map(schema: &Schema, items: &[Value], place: &Place<'_>, found: &mut Vec<Violation>) {
    let stranger = items.iter().position(|item| !item.is_object() && !item.is_null());
    if let Some(index) = stranger {
        let message = "must be an object, since the list is a map".to_owned();
        found.push(place.item(index).refused(Reason::Invalid, LIST_TYPE, message));
        return;
    }
    if schema.list_map_keys.iter().any(|key| tells_apart(key, items)) {
        return;
    }
    let identities = items.iter().map(|item| match schema.list_map_keys.as_slice() {
        [key] => item.get(key).map(identity).unwrap_or_default(),
        _ => identity(&keys_of(schema, item)),
    });
    repeated(identities, |index| {
        let keys = keys_of(schema, &items[index]);
        found.push(duplicate(&place.item(index), &keys));
    });
}

/// Returns true if a few items certainly have different strings there, without copying. A single item has nothing to
/// differ from.
fn tells_apart(key: &str, items: &[Value]) -> bool {
    let mut left = if items.len() <= MAX_PAIRWISE { items } else { return false };
    while let [first, rest @ ..] = left {
        let own = first.get(key).and_then(Value::as_str);
        let is_other = |item: &Value| item.get(key).and_then(Value::as_str).is_some_and(|theirs| own != Some(theirs));
        if !(rest.iter().all(is_other) && (own.is_some() || rest.is_empty())) {
            return false;
        }
        left = rest;
    }
    true
}

/// The keys of an entry, without missing ones.
fn keys_of(schema: &Schema, item: &Value) -> Value {
    let keys: Map<_, _> =
        schema.list_map_keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect();
    Value::Object(keys)
}

fn duplicate(place: &Place<'_>, value: &Value) -> Violation {
    let message = format!("{value} is there already");
    place.refused(Reason::Duplicate, LIST_TYPE, message)
}

/// Returns a string that is the same for values that are equal to the server. Scalars differ by their type, so that 1
/// and 1.0 are different; lists and objects are compared as they are printed.
fn identity(value: &Value) -> String {
    match value {
        Value::Number(number) if !number.is_i64() => {
            // Zero and minus zero are equal.
            format!("{:?}", number.as_f64().unwrap_or_default() + 0.0)
        }
        Value::Array(_) | Value::Object(_) => printed(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// Calls a function for every second occurrence of a string.
fn repeated(texts: impl Iterator<Item = String>, mut second: impl FnMut(usize)) {
    let mut seen = BTreeMap::new();
    for (index, text) in texts.enumerate() {
        let times = seen.entry(text).or_insert(0);
        *times += 1;
        if *times == 2 {
            second(index);
        }
    }
}
