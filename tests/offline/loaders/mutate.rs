//! Damage to JSON values: nodes deleted, replaced, repeated, wrapped, moved elsewhere.

use proptest::prelude::*;
use serde_json::{Map, Number, Value};

/// Damage to be done to a value.
#[derive(Debug, Clone)]
pub(super) struct Edits(Vec<(usize, Edit)>);

#[derive(Debug, Clone)]
enum Edit {
    Delete,
    Replace(Value),
    Repeat,
    InList,
    InMap(String),
    CopyFrom(usize),
    Rename(String),
}

impl Edits {
    /// Returns the damaged value. The node of an edit is counted from the root, modulo the number of nodes.
    pub(super) fn apply(&self, value: &Value) -> Value {
        let mut damaged = value.clone();
        for (at, edit) in &self.0 {
            let size = count(&damaged);
            let copied = match edit {
                Edit::CopyFrom(other) => node(&mut damaged, &mut (other % size)).map(|node| node.clone()),
                _ => None,
            };
            let mut index = at % size;
            match edit {
                Edit::Delete | Edit::Repeat | Edit::Rename(_) => change_child(&mut damaged, &mut index, edit),
                Edit::Replace(with) => set(&mut damaged, index, |_| with.clone()),
                Edit::InList => set(&mut damaged, index, |old| Value::Array(vec![old])),
                Edit::InMap(key) => set(&mut damaged, index, |old| Value::Object(Map::from_iter([(key.clone(), old)]))),
                Edit::CopyFrom(_) => set(&mut damaged, index, |old| copied.unwrap_or(old)),
            }
        }
        damaged
    }
}

fn set(value: &mut Value, mut index: usize, with: impl FnOnce(Value) -> Value) {
    if let Some(node) = node(value, &mut index) {
        *node = with(node.take());
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// The node of this number, depth first.
fn node<'a>(value: &'a mut Value, index: &mut usize) -> Option<&'a mut Value> {
    if *index == 0 {
        return Some(value);
    }
    *index -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| node(item, index)),
        Value::Object(map) => map.values_mut().find_map(|item| node(item, index)),
        _ => None,
    }
}

/// Deletes, repeats or renames a child of the node.
fn change_child(value: &mut Value, index: &mut usize, edit: &Edit) {
    let choice = *index;
    let Some(node) = node(value, index) else { return };
    match (node, edit) {
        (Value::Array(items), Edit::Delete) if !items.is_empty() => drop(items.remove(choice % items.len())),
        (Value::Array(items), Edit::Repeat) if !items.is_empty() => items.push(items[choice % items.len()].clone()),
        (Value::Object(map), _) if !map.is_empty() => {
            let key = map.keys().nth(choice % map.len()).cloned().unwrap_or_default();
            match edit {
                Edit::Delete => drop(map.remove(&key)),
                Edit::Rename(name) => {
                    let child = map.remove(&key).unwrap_or_default();
                    map.insert(name.clone(), child);
                }
                _ => {
                    let child = map[&key].clone();
                    map.insert(format!("{key}2"), child);
                }
            }
        }
        _ => {}
    }
}

/// Texts with a meaning somewhere in a CRD.
const WORDS: [&str; 46] = [
    "",
    "v1",
    "v1beta1",
    "v0",
    "object",
    "array",
    "string",
    "integer",
    "number",
    "boolean",
    "date-time",
    "int32",
    "byte",
    "email",
    "map",
    "set",
    "atomic",
    "granular",
    "None",
    "Webhook",
    "Namespaced",
    "Cluster",
    ".spec",
    ".spec.replicas",
    ".status[*].a",
    ".metadata.name",
    ".a[?(@.b=='c')]",
    "[",
    ".[",
    "\\",
    "(((",
    "a{1,99999}",
    "[a-&&z]",
    "\\Q\\E[^]]",
    "(?i)é\\x{110000}",
    "self",
    "self.x > oldSelf.x",
    "self.all(x, x.y == 'z')",
    "has(self.?a)",
    "((1+1",
    "self == oldSelf || '\u{e9}'.matches('(')",
    "https://a:99999/b?c#d",
    "http://[::1",
    "LS0tLS1CRUdJTg==",
    "1.31",
    "9999-99-99",
];

/// Names of keys that CRDs and schemas have.
const KEYS: [&str; 40] = [
    "type",
    "properties",
    "items",
    "additionalProperties",
    "required",
    "default",
    "enum",
    "nullable",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxItems",
    "uniqueItems",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "$ref",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
    "rule",
    "spec",
    "status",
    "metadata",
    "apiVersion",
    "kind",
    "name",
    "versions",
    "served",
    "storage",
    "schema",
    "a/b~c",
];

fn word() -> impl Strategy<Value = String> {
    let known = prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned);
    let joined = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 2..4).prop_map(|words| words.concat());
    prop_oneof![4 => known, 1 => joined, 1 => any::<String>()]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![6 => prop::sample::select(KEYS.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

/// Random JSON. `fractions` allows numbers that may be read back as other numbers.
pub(super) fn json(fractions: bool) -> BoxedStrategy<Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-3_i64..300).prop_map(Value::from),
    ];
    let float = any::<f64>().prop_map(|number| Number::from_f64(number).map_or(Value::Null, Value::Number));
    let number = if fractions { prop_oneof![number, float].boxed() } else { number.boxed() };
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number, word().prop_map(Value::from),];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
    .boxed()
}

/// One to six edits.
pub(super) fn edits() -> impl Strategy<Value = Edits> {
    let edit = prop_oneof![
        2 => Just(Edit::Delete),
        4 => json(true).prop_map(Edit::Replace),
        1 => Just(Edit::Repeat),
        1 => Just(Edit::InList),
        1 => key().prop_map(Edit::InMap),
        3 => any::<u16>().prop_map(|at| Edit::CopyFrom(usize::from(at))),
        2 => key().prop_map(Edit::Rename),
    ];
    prop::collection::vec((any::<u16>().prop_map(usize::from), edit), 1..=6).prop_map(Edits)
}
