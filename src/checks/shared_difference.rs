//! Differences between two objects, and their kinds.

use std::borrow::Cow;

use crdproof_schema::document::pointer;
use crdproof_schema::structural::{Schema, means_absent, means_same};
use serde_json::Value;

use super::Severity;

/// A difference between two objects.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference<'v> {
    /// JSON pointer.
    pub(crate) pointer: String,
    /// The old value.
    pub(crate) was: Option<&'v Value>,
    /// The new value.
    pub(crate) now: Option<&'v Value>,
}

/// The kind of a difference; each is judged by one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checks) enum Kind {
    /// A value is gone.
    Lost,
    /// A value was changed.
    Changed,
    /// A value was invented.
    Invented,
    /// Only the form differs, not the meaning: an explicit zero or empty value and its absence, or two spellings of one
    /// quantity, duration, time or JSON document.
    Representation,
    /// Both are numbers, and one is the other with fewer digits.
    Rounded,
}

/// Returns the severity of an invented value. A duration or quantity of zero is a setting like any other, and seldom
/// the meaning of absence. Other values may be the meaning of absence, written out: that is drift, and its harm depends
/// on the controller.
pub(in crate::checks) fn severity_of_invention(value: &Value) -> Severity {
    if has_zero_measure(value) { Severity::Error } else { Severity::Warning }
}

/// Returns true if a value is or contains a text that is zero with a unit, such as `0s`.
fn has_zero_measure(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let number = text.trim_end_matches(char::is_alphabetic);
            number.len() < text.len() && number.parse() == Ok(0.0)
        }
        Value::Array(items) => items.iter().any(has_zero_measure),
        Value::Object(map) => map.values().any(has_zero_measure),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl Kind {
    /// Returns true if data is lost or changed.
    pub(in crate::checks) fn is_loss(self) -> bool {
        matches!(self, Self::Lost | Self::Changed)
    }
}

impl Difference<'_> {
    /// The kind of difference, in objects of this schema.
    pub(in crate::checks) fn kind(&self, schema: Option<&Schema>) -> Kind {
        let own = schema.and_then(|schema| schema.at_pointer(&self.pointer));
        let is_absent = |value: &Value| means_absent(own, value);
        match (self.was, self.now) {
            (Some(was), None) if is_absent(was) && !self.is_required(schema) => Kind::Representation,
            (Some(_), None) => Kind::Lost,
            (None, Some(now)) if is_absent(now) => Kind::Representation,
            (None, Some(_)) => Kind::Invented,
            (Some(was), Some(now)) if is_absent(was) && is_absent(now) => Kind::Representation,
            (Some(was), Some(now)) if means_same(own, was, now) => Kind::Representation,
            (Some(Value::Number(was)), Some(Value::Number(now))) if is_rounded(was, now) => Kind::Rounded,
            (Some(_) | None, _) => Kind::Changed,
        }
    }

    /// Returns true if the schema requires the field in its parent.
    pub(in crate::checks) fn is_required(&self, schema: Option<&Schema>) -> bool {
        let Some((parent, name)) = self.pointer.rsplit_once('/') else { return false };
        let parent = schema.and_then(|schema| schema.at_pointer(parent));
        parent.is_some_and(|parent| parent.required.iter().any(|required| *required == *pointer::unescape(name)))
    }

    /// Returns true if it concerns the object itself, and not its metadata, which has separate rules.
    pub(in crate::checks) fn is_content(&self) -> bool {
        !self.pointer.starts_with("/metadata")
    }
}

/// Returns true if a number lost digits: the values differ slightly, and by less than one.
fn is_rounded(was: &serde_json::Number, now: &serde_json::Number) -> bool {
    let (Some(was), Some(now)) = (was.as_f64(), now.as_f64()) else { return false };
    let scale = was.abs().max(now.abs());
    (was - now).abs() <= scale * 1e-6
}

/// The topmost differences between the contents of two objects.
pub(crate) fn differences<'v>(was: &'v Value, now: &'v Value) -> Vec<Difference<'v>> {
    differences_in(None, was, now)
}

/// The topmost differences between the contents of two objects of a schema. Ignores the order of keyed items.
pub(crate) fn differences_in<'v>(schema: Option<&Schema>, was: &'v Value, now: &'v Value) -> Vec<Difference<'v>> {
    let mut found = Vec::new();
    compare(schema, was, now, &mut String::new(), &mut found);
    found
}

fn compare<'v>(
    schema: Option<&Schema>,
    was: &'v Value,
    now: &'v Value,
    at: &mut String,
    found: &mut Vec<Difference<'v>>,
) {
    match (was, now) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                let length = pointer::descend(at, name);
                match right.get(name) {
                    Some(other) if other == value => {}
                    Some(other) => {
                        compare(schema.and_then(|schema| schema.child(name)), value, other, at, found);
                    }
                    None => found.push(Difference { pointer: at.clone(), was: Some(value), now: None }),
                }
                at.truncate(length);
            }
            for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
                let length = pointer::descend(at, name);
                found.push(Difference { pointer: at.clone(), was: None, now: Some(value) });
                at.truncate(length);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let items = schema.and_then(|schema| schema.items.as_deref());
            for (index, item) in left.iter().enumerate() {
                let length = pointer::descend(at, &index.to_string());
                let other = by_key(schema, item, right).unwrap_or(&right[index]);
                if item != other {
                    compare(items, item, other, at, found);
                }
                at.truncate(length);
            }
        }
        (left, right) if left == right => {}
        (left, right) => found.push(Difference { pointer: at.clone(), was: Some(left), now: Some(right) }),
    }
}

/// Returns the item of a keyed list with the key of another item.
fn by_key<'v>(schema: Option<&Schema>, item: &Value, items: &'v [Value]) -> Option<&'v Value> {
    let schema = schema.filter(|schema| schema.list_type.as_deref() == Some("map"))?;
    items.iter().find(|other| schema.list_map_keys.iter().all(|key| other.get(key) == item.get(key)))
}

/// The fields of an object without its type and metadata, which have separate rules.
pub(in crate::checks) fn content(object: &Value) -> impl Iterator<Item = &Value> {
    let fields = object.as_object().into_iter().flatten();
    fields.filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind" | "metadata")).map(|(_, value)| value)
}

/// A JSON pointer as a field path with its indices, such as `.spec.ports[0].name`.
pub(crate) fn field(pointer: &str) -> String {
    let part =
        |part: Cow<'_, str>| if part.parse::<usize>().is_ok() { format!("[{part}]") } else { format!(".{part}") };
    parts(pointer).map(part).collect()
}

/// The steps of a JSON pointer.
pub(in crate::checks) fn parts(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(pointer::unescape)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"a": 1}), json!({}), Kind::Lost)]
    #[case(json!({"a": false}), json!({}), Kind::Representation)]
    #[case(json!({"a": {"b": 0}}), json!({}), Kind::Representation)]
    #[case(json!({"a": []}), json!({}), Kind::Representation)]
    #[case(json!({"a": ""}), json!({"a": null}), Kind::Representation)]
    #[case(json!({}), json!({"a": ""}), Kind::Representation)]
    #[case(json!({}), json!({"a": {}}), Kind::Representation)]
    #[case(json!({}), json!({"a": 1}), Kind::Invented)]
    #[case(json!({"a": "60s"}), json!({"a": "1m0s"}), Kind::Representation)]
    #[case(json!({"a": "1500ms"}), json!({"a": "1s"}), Kind::Changed)]
    #[case(json!({"a": 9_007_199_254_740_993_i64}), json!({"a": 9_007_199_254_740_992_i64}), Kind::Rounded)]
    #[case(json!({"a": 3}), json!({"a": 4}), Kind::Changed)]
    #[case(json!({"a": [1, 2]}), json!({"a": [2]}), Kind::Changed)]
    fn each_difference_is_of_one_kind(#[case] was: Value, #[case] now: Value, #[case] kind: Kind) {
        let found = differences(&was, &now);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].pointer.as_str(), found[0].kind(None)), ("/a", kind));
        assert_eq!(differences(&was, &was), Vec::new());
    }
}
