//! Metadata as the server reads and writes it.

use serde_json::{Map, Value};

use super::super::format::date_time_for_rules;

/// The handling of a field that cannot be read.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::structural) enum Strictness {
    /// The object is refused.
    Refuse,
    /// The field is dropped, as for stored objects.
    Drop,
}

/// The type of a field.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Count,
    OptionalCount,
    Time,
    Texts,
    TextMap,
    OptionalFlag,
    RequiredText,
    Object,
    List(&'static [(&'static str, Shape)]),
}

const METADATA: &[(&str, Shape)] = &[
    ("name", Shape::Text),
    ("generateName", Shape::Text),
    ("namespace", Shape::Text),
    ("selfLink", Shape::Text),
    ("uid", Shape::Text),
    ("resourceVersion", Shape::Text),
    ("generation", Shape::Count),
    ("creationTimestamp", Shape::Time),
    ("deletionTimestamp", Shape::Time),
    ("deletionGracePeriodSeconds", Shape::OptionalCount),
    ("labels", Shape::TextMap),
    ("annotations", Shape::TextMap),
    ("ownerReferences", Shape::List(OWNER)),
    ("finalizers", Shape::Texts),
    ("managedFields", Shape::List(MANAGED)),
];

const OWNER: &[(&str, Shape)] = &[
    ("apiVersion", Shape::RequiredText),
    ("kind", Shape::RequiredText),
    ("name", Shape::RequiredText),
    ("uid", Shape::RequiredText),
    ("controller", Shape::OptionalFlag),
    ("blockOwnerDeletion", Shape::OptionalFlag),
];

const MANAGED: &[(&str, Shape)] = &[
    ("manager", Shape::Text),
    ("operation", Shape::Text),
    ("apiVersion", Shape::Text),
    ("time", Shape::Time),
    ("fieldsType", Shape::Text),
    ("fieldsV1", Shape::Object),
    ("subresource", Shape::Text),
];

/// Reads metadata, and returns it as it would be written: without unknown fields, nulls and empty values. `Err` names a
/// field of the wrong type.
pub(in crate::structural) fn read_metadata(
    metadata: &Value,
    strictness: Strictness,
) -> Result<Map<String, Value>, String> {
    match metadata {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => read_record(map, METADATA, strictness),
        _ if strictness == Strictness::Drop => Ok(Map::new()),
        _ => Err("metadata must be an object".to_owned()),
    }
}

fn read_record(
    map: &Map<String, Value>,
    fields: &[(&str, Shape)],
    strictness: Strictness,
) -> Result<Map<String, Value>, String> {
    let mut record = Map::new();
    for (name, shape) in fields {
        let value = map.get(*name).unwrap_or(&Value::Null);
        match read(value, *shape) {
            Ok(Some(value)) => drop(record.insert((*name).to_owned(), value)),
            Ok(None) => {}
            Err(_) if strictness == Strictness::Drop => {}
            Err(wanted) => return Err(format!("{name} must be {wanted}")),
        }
    }
    Ok(record)
}

/// The value to write; `None` if nothing is written; or the expected type.
fn read(value: &Value, shape: Shape) -> Result<Option<Value>, String> {
    let kept = |kept: bool| Ok(kept.then(|| value.clone()));
    match (shape, value) {
        (Shape::RequiredText, Value::Null) => Ok(Some(Value::String(String::new()))),
        (Shape::RequiredText, Value::String(_))
        | (Shape::OptionalFlag, Value::Bool(_))
        | (Shape::Object, Value::Object(_)) => kept(true),
        (_, Value::Null) => kept(false),
        (Shape::Text, Value::String(text)) => kept(!text.is_empty()),
        (Shape::Count, _) => whole(value).map(|count| (count != 0).then(|| count.into())),
        (Shape::OptionalCount, _) => whole(value).map(|count| Some(count.into())),
        (Shape::Time, Value::String(text)) if date_time_for_rules(text).is_some() => kept(true),
        (Shape::Texts, Value::Array(items)) => texts(items),
        (Shape::TextMap, Value::Object(map)) => text_map(map),
        (Shape::List(fields), Value::Array(items)) => records(items, fields),
        (Shape::Text | Shape::RequiredText, _) => Err("a string".to_owned()),
        (Shape::Time, _) => Err("a time as of RFC 3339".to_owned()),
        (Shape::Texts, _) => Err("a list of strings".to_owned()),
        (Shape::TextMap, _) => Err("a map of strings".to_owned()),
        (Shape::OptionalFlag, _) => Err("true or false".to_owned()),
        (Shape::Object, _) => Err("an object".to_owned()),
        (Shape::List(_), _) => Err("a list of objects".to_owned()),
    }
}

fn whole(value: &Value) -> Result<i64, String> {
    let mut value = value.clone();
    super::super::print::print(&mut value);
    value.as_i64().ok_or_else(|| "a whole number of 64 bits".to_owned())
}

/// A null among strings is read as the empty string.
fn text(value: &Value) -> Option<Value> {
    match value {
        Value::Null => Some(Value::String(String::new())),
        Value::String(_) => Some(value.clone()),
        _ => None,
    }
}

fn texts(items: &[Value]) -> Result<Option<Value>, String> {
    let items: Option<Vec<_>> = items.iter().map(text).collect();
    let items = items.ok_or("a list of strings")?;
    Ok((!items.is_empty()).then_some(Value::Array(items)))
}

fn text_map(map: &Map<String, Value>) -> Result<Option<Value>, String> {
    let map: Option<Map<_, _>> = map.iter().map(|(name, value)| Some((name.clone(), text(value)?))).collect();
    let map = map.ok_or("a map of strings")?;
    Ok((!map.is_empty()).then_some(Value::Object(map)))
}

fn records(items: &[Value], fields: &[(&str, Shape)]) -> Result<Option<Value>, String> {
    let empty = Map::new();
    let mut records = Vec::with_capacity(items.len());
    for item in items {
        let map = match item {
            Value::Null => &empty,
            Value::Object(map) => map,
            _ => return Err("a list of objects".to_owned()),
        };
        let record = read_record(map, fields, Strictness::Refuse);
        let record = record.map_err(|fault| format!("a list of objects whose {fault}"))?;
        records.push(Value::Object(record));
    }
    Ok((!records.is_empty()).then_some(Value::Array(records)))
}
