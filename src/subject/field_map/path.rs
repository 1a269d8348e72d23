//! Paths of fields: `.spec.ports[*].name`, `.metadata.labels["example.com/tier"]`.

use std::fmt;

use serde_json::{Map, Value};

use crdproof_schema::structural::is_secret;

/// One step downwards.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// A named field.
    Field(String),
    /// Each item of a list, each value of a map.
    Each,
}

/// The item or value that a `[*]` stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Index(usize),
    Name(String),
    /// An item of a keyed list, wherever it is: its keys, as JSON.
    Item(String),
}

/// A path from the root of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldPath(Vec<Step>);

/// The handling of objects that become empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Emptied {
    Stay,
    Go,
    /// Also removes lists of emptied items: the other version has their values in a plain list.
    GoWithItems,
}

impl FieldPath {
    /// Reads a path; `None` if the text is not a path.
    pub(crate) fn parse(text: &str) -> Option<Self> {
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
        let starts_with_field = matches!(steps.first(), Some(Step::Field(_)));
        starts_with_field.then_some(Self(steps))
    }

    /// The path of an annotation.
    pub(super) fn annotation(name: &str) -> Self {
        Self(["metadata", "annotations", name].map(|step| Step::Field(step.to_owned())).to_vec())
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    /// Returns true if its values must be redacted, by the names on the path.
    pub(super) fn is_secret(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Field(name) if is_secret(name, None)))
    }

    /// Returns the number of `[*]` in it.
    pub(crate) fn each_count(&self) -> usize {
        self.0.iter().filter(|step| **step == Step::Each).count()
    }

    pub(crate) fn ends_with_each(&self) -> bool {
        self.0.last() == Some(&Step::Each)
    }

    /// The paths of the lists and maps whose items it passes.
    pub(crate) fn containers(&self) -> impl Iterator<Item = Self> {
        let ends = self.0.iter().enumerate().filter(|(_, step)| **step == Step::Each).map(|(index, _)| index);
        ends.map(|end| Self(self.0[..end].to_vec()))
    }

    /// The path with these items instead of each `[*]`.
    pub(super) fn at(&self, keys: &[Key]) -> String {
        let mut keys = keys.iter();
        let steps = self.0.iter().map(|step| match step {
            Step::Field(name) => field(name),
            Step::Each => match keys.next() {
                Some(Key::Index(index)) => format!("[{index}]"),
                Some(Key::Name(name)) => field(name),
                Some(Key::Item(name)) => format!("[{name}]"),
                None => "[*]".to_owned(),
            },
        });
        steps.collect()
    }

    /// The values at this path, each with the items that lead to it.
    pub(super) fn get<'a>(&self, object: &'a Value) -> Vec<(Vec<Key>, &'a Value)> {
        let mut found = vec![(Vec::new(), object)];
        for step in &self.0 {
            let next = found.into_iter().flat_map(|(keys, value)| below(step, &keys, value));
            found = next.collect();
        }
        found
    }

    /// Removes the values at this path and returns them.
    pub(super) fn take(&self, object: &mut Value, emptied: Emptied) -> Vec<(Vec<Key>, Value)> {
        let mut taken = Vec::new();
        take(&self.0, object, &mut Vec::new(), emptied, &mut taken);
        taken
    }

    /// Sets one value, and creates missing parents. `Err` names a conflicting value.
    pub(super) fn put(&self, object: &mut Value, keys: &[Key], value: Value) -> Result<(), String> {
        put(&self.0, object, keys, value)
    }

    /// Returns the number of items that an object has at the last `[*]` of this path.
    pub(super) fn count_items(&self, object: &Value) -> usize {
        let end = self.0.iter().rposition(|step| *step == Step::Each).map_or(0, |at| at + 1);
        Self(self.0[..end].to_vec()).get(object).len()
    }

    /// Returns true if an object has the item that leads to this place. A path without `[*]` needs none; the last item
    /// of a path that ends with `[*]` is created with its value.
    pub(super) fn has_item(&self, object: &Value, keys: &[Key]) -> bool {
        let steps = if self.ends_with_each() { &self.0[..self.0.len() - 1] } else { &self.0[..] };
        let Some(last) = steps.iter().rposition(|step| *step == Step::Each) else { return true };
        let items = Self(steps[..=last].to_vec());
        let keys = &keys[..items.each_count().min(keys.len())];
        items.get(object).iter().any(|(known, _)| known == keys)
    }

    /// Calls a function for every object that can have the last step as a field.
    pub(super) fn visit_parents(&self, object: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>, &str)) {
        if let Some((Step::Field(last), parents)) = self.0.split_last() {
            visit_parents(parents, last, object, visit);
        }
    }

    /// The concrete field of this path that corresponds to a concrete field of another path.
    pub(super) fn in_place_of(&self, source: &Self, concrete: &[&str]) -> String {
        let items = source.0.iter().zip(concrete).filter(|(step, _)| **step == Step::Each);
        let key = |item: &str| item.parse().map_or_else(|_| Key::Name(item.to_owned()), Key::Index);
        let keys: Vec<Key> = items.map(|(_, item)| key(item)).collect();
        let rest = concrete[source.0.len()..].iter();
        let rest = rest.map(|step| step.parse::<usize>().map_or_else(|_| field(step), |index| format!("[{index}]")));
        self.at(&keys) + &rest.collect::<String>()
    }

    /// Returns true if this is the path of a field with concrete items, or of a field above it.
    pub(super) fn covers(&self, concrete: &[&str]) -> bool {
        self.0.len() <= concrete.len()
            && self.0.iter().zip(concrete).all(|(step, name)| match step {
                Step::Field(field) => field == name,
                Step::Each => true,
            })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at(&[]))
    }
}

fn field(name: &str) -> String {
    if name.contains(['.', '[', ']', '/']) { format!("[{name:?}]") } else { format!(".{name}") }
}

fn below<'a>(step: &Step, keys: &[Key], value: &'a Value) -> Vec<(Vec<Key>, &'a Value)> {
    let with = |key: Key| {
        let mut keys = keys.to_vec();
        keys.push(key);
        keys
    };
    match (step, value) {
        (Step::Field(name), Value::Object(map)) => {
            map.get(name).map(|value| (keys.to_vec(), value)).into_iter().collect()
        }
        (Step::Each, Value::Array(items)) => {
            items.iter().enumerate().map(|(index, item)| (with(Key::Index(index)), item)).collect()
        }
        (Step::Each, Value::Object(map)) => {
            map.iter().map(|(name, value)| (with(Key::Name(name.clone())), value)).collect()
        }
        _ => Vec::new(),
    }
}

fn take(steps: &[Step], value: &mut Value, keys: &mut Vec<Key>, emptied: Emptied, taken: &mut Vec<(Vec<Key>, Value)>) {
    let Some((step, rest)) = steps.split_first() else { return };
    match (step, value) {
        (Step::Field(name), Value::Object(map)) if rest.is_empty() => {
            taken.extend(map.remove(name).map(|value| (keys.clone(), value)));
        }
        (Step::Field(name), Value::Object(map)) => {
            let Some(child) = map.get_mut(name) else { return };
            let before = taken.len();
            take(rest, child, keys, emptied, taken);
            // Every object keeps `.spec` and similar fields.
            if emptied != Emptied::Stay && taken.len() > before && is_empty(child) && !keeps(name) {
                map.remove(name);
            }
        }
        (Step::Each, Value::Array(items)) if rest.is_empty() => {
            let items = std::mem::take(items).into_iter().enumerate();
            taken.extend(items.map(|(index, item)| (with(keys, Key::Index(index)), item)));
        }
        (Step::Each, Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                keys.push(Key::Index(index));
                take(rest, item, keys, emptied, taken);
                keys.pop();
            }
            if emptied == Emptied::GoWithItems && items.iter().all(is_empty) {
                items.clear();
            }
        }
        (Step::Each, Value::Object(map)) if rest.is_empty() => {
            let values = std::mem::take(map).into_iter();
            taken.extend(values.map(|(name, value)| (with(keys, Key::Name(name)), value)));
        }
        (Step::Each, Value::Object(map)) => {
            for (name, child) in map.iter_mut() {
                keys.push(Key::Name(name.clone()));
                take(rest, child, keys, emptied, taken);
                keys.pop();
            }
        }
        _ => {}
    }
}

fn with(keys: &[Key], key: Key) -> Vec<Key> {
    let mut keys = keys.to_vec();
    keys.push(key);
    keys
}

fn keeps(name: &str) -> bool {
    matches!(name, "spec" | "status" | "metadata")
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn put(steps: &[Step], target: &mut Value, keys: &[Key], value: Value) -> Result<(), String> {
    let Some((step, rest)) = steps.split_first() else {
        *target = value;
        return Ok(());
    };
    if target.is_null() {
        *target = match (step, keys.first()) {
            (Step::Each, Some(Key::Index(_))) => Value::Array(Vec::new()),
            _ => Value::Object(Map::new()),
        };
    }
    match (step, target, keys.split_first()) {
        (Step::Field(name), Value::Object(map), _) => {
            put(rest, map.entry(name.clone()).or_insert(Value::Null), keys, value)
        }
        (Step::Each, Value::Array(items), Some((Key::Index(index), keys))) => {
            while items.len() <= *index {
                if rest.is_empty() && items.len() < *index {
                    return Err(format!("there is no value for item {}", items.len()));
                }
                items.push(if rest.is_empty() { Value::Null } else { Value::Object(Map::new()) });
            }
            put(rest, &mut items[*index], keys, value)
        }
        (Step::Each, Value::Object(map), Some((Key::Name(name), keys))) => {
            put(rest, map.entry(name.clone()).or_insert(Value::Null), keys, value)
        }
        (Step::Field(name), other, _) => Err(format!("{name} needs an object, and there is {}", kind(other))),
        (Step::Each, other, _) => Err(format!("it needs a list or a map, and there is {}", kind(other))),
    }
}

/// Returns the type of a value, with an article.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn visit_parents(steps: &[Step], last: &str, value: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>, &str)) {
    match (steps.split_first(), value) {
        (None, Value::Object(map)) => visit(map, last),
        (Some((Step::Field(name), rest)), Value::Object(map)) => {
            if let Some(child) = map.get_mut(name) {
                visit_parents(rest, last, child, visit);
            }
        }
        (Some((Step::Each, rest)), Value::Object(map)) => {
            for child in map.values_mut() {
                visit_parents(rest, last, child, visit);
            }
        }
        (Some((Step::Each, rest)), Value::Array(items)) => {
            for item in items {
                visit_parents(rest, last, item, visit);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn paths_are_read_and_shown() {
        for text in [".spec", ".spec.ports[*].name", ".spec.a[*][*]", ".metadata.labels[\"example.com/a\"]"] {
            assert_eq!(path(text).to_string(), text);
        }
        for text in ["", ".", "spec", ".spec.", ".a..b", "[*]", ".a[0]", ".a[\"b"] {
            assert_eq!(FieldPath::parse(text), None, "{text}");
        }
    }

    #[test]
    fn taken_values_can_be_put_elsewhere_item_by_item() {
        let mut object = json!({"spec": {"a": [{"x": 1, "y": 2}, {"y": 3}, {"x": 4}], "m": {"k": {"x": 5}}}});
        let taken = path(".spec.a[*].x").take(&mut object, Emptied::Go);
        assert_eq!(object["spec"]["a"], json!([{"y": 2}, {"y": 3}, {}]));
        for (keys, value) in taken {
            path(".spec.a[*].z.w").put(&mut object, &keys, value).unwrap();
        }
        assert_eq!(object["spec"]["a"], json!([{"y": 2, "z": {"w": 1}}, {"y": 3}, {"z": {"w": 4}}]));
        for (keys, value) in path(".spec.m[*].x").take(&mut object, Emptied::Go) {
            path(".spec.n[*]").put(&mut object, &keys, value).unwrap();
        }
        assert_eq!(object["spec"]["n"], json!({"k": 5}));
    }

    #[test]
    fn an_emptied_object_is_removed_but_spec_stays() {
        let mut object = json!({"spec": {"endpoint": {"host": "h"}}});
        path(".spec.endpoint.host").take(&mut object, Emptied::Go);
        assert_eq!(object, json!({"spec": {}}));
    }

    #[test]
    fn conflicting_values_are_reported() {
        let mut object = json!({"spec": {"a": "text"}});
        let refused = path(".spec.a.b").put(&mut object, &[], json!(1)).unwrap_err();
        assert_eq!(refused, "b needs an object, and there is a text");
        let hole = path(".spec.l[*]").put(&mut object, &[Key::Index(1)], json!(1)).unwrap_err();
        assert_eq!(hole, "there is no value for item 0");
    }
}
