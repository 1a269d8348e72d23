//! Places in objects: `.spec.routes[*].name`, `.metadata.annotations["example.com/a"]`.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

/// A place, or several where it goes through `[*]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Each,
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom(format!("{text:?} is not a place")))
    }
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(next) = rest.strip_prefix("[*]") {
                steps.push(Step::Each);
                rest = next;
            } else if let Some(quoted) = rest.strip_prefix("[\"") {
                let (name, next) = quoted.split_once("\"]")?;
                steps.push(Step::Field(name.to_owned()));
                rest = next;
            } else {
                let plain = rest.strip_prefix('.')?;
                let end = plain.find(['.', '[']).unwrap_or(plain.len());
                steps.push(Step::Field(plain.get(..end).filter(|name| !name.is_empty())?.to_owned()));
                rest = &plain[end..];
            }
        }
        matches!(steps.last(), Some(Step::Field(_))).then_some(Self(steps))
    }

    /// Calls a function with every object that can hold the last field, and with the field's name.
    pub(super) fn parents(&self, object: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>, &str)) {
        if let Some((Step::Field(last), steps)) = self.0.split_last() {
            walk(steps, object, &mut |parent| {
                if let Value::Object(parent) = parent {
                    visit(parent, last);
                }
            });
        }
    }

    /// The values at this place in their order; `None` where the last field is missing.
    pub(super) fn values(&self, object: &Value) -> Vec<Option<Value>> {
        let mut found = Vec::new();
        self.parents(&mut object.clone(), &mut |parent, name| found.push(parent.get(name).cloned()));
        found
    }

    pub(super) fn is_in(&self, object: &Value) -> bool {
        self.values(object).iter().any(Option::is_some)
    }

    /// Removes the values at this place.
    pub(super) fn remove(&self, object: &mut Value) {
        self.parents(object, &mut |parent, name| drop(parent.remove(name)));
    }
}

fn walk(steps: &[Step], value: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    match (steps.split_first(), value) {
        (None, value) => visit(value),
        (Some((Step::Field(name), rest)), Value::Object(map)) => {
            if let Some(child) = map.get_mut(name) {
                walk(rest, child, visit);
            }
        }
        (Some((Step::Each, rest)), Value::Array(items)) => items.iter_mut().for_each(|item| walk(rest, item, visit)),
        (Some((Step::Each, rest)), Value::Object(map)) => map.values_mut().for_each(|item| walk(rest, item, visit)),
        _ => {}
    }
}

/// Sets or removes an annotation. Removes the map if it is empty, as API servers do.
pub(super) fn annotate(object: &mut Value, name: &str, value: Option<Value>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if let Some(map) = annotations.as_object_mut() {
        match value {
            Some(value) => drop(map.insert(name.to_owned(), value)),
            None => drop(map.remove(name)),
        }
        if map.is_empty() {
            metadata.remove("annotations");
        }
    }
}

pub(super) fn annotation<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    object.get("metadata")?.get("annotations")?.get(name)?.as_str()
}
