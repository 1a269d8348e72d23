//! The path of a schema node: fields, list items and map values.

use std::borrow::Borrow;
use std::fmt;

use serde_json::Value;

/// One step downwards.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A named property.
    Field(String),
    /// Any item of a list.
    Item,
    /// Any value of a map.
    Value,
}

/// A path from the root of an object's schema. Shown as `.spec.ports[*].name`, map values as `.*`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Step>);

impl Path {
    /// The root.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of a property.
    pub fn field(&self, name: &str) -> Self {
        self.then(Step::Field(name.to_owned()))
    }

    /// The path of the items of this list.
    pub fn item(&self) -> Self {
        self.then(Step::Item)
    }

    /// The path of the values of this map.
    pub fn value(&self) -> Self {
        self.then(Step::Value)
    }

    /// The path of a child.
    pub fn then(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    /// Appends a step while a function runs.
    pub(super) fn within(&mut self, step: Step, visit: impl FnOnce(&mut Self)) {
        self.0.push(step);
        visit(self);
        self.0.pop();
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns true if it is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if this path is the other one or below it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// Returns true if this path is in a part that every object has: apiVersion, kind and metadata.
    pub fn is_meta(&self) -> bool {
        matches!(self.0.first(), Some(Step::Field(name)) if matches!(name.as_str(), "apiVersion" | "kind" | "metadata"))
    }

    /// The values of an object at this path, of all items and map values.
    pub fn values<'a>(&self, object: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![object];
        for step in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| -> Vec<&'a Value> {
                    match (step, value) {
                        (Step::Field(name), Value::Object(map)) => map.get(name).into_iter().collect(),
                        (Step::Item, Value::Array(items)) => items.iter().collect(),
                        (Step::Value, Value::Object(map)) => map.values().collect(),
                        _ => Vec::new(),
                    }
                })
                .collect();
        }
        found
    }
}

/// Paths are ordered like their steps.
impl Borrow<[Step]> for Path {
    fn borrow(&self) -> &[Step] {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        for step in &self.0 {
            match step {
                Step::Field(name) if is_plain(name) => write!(f, ".{name}")?,
                Step::Field(name) => write!(f, "[{name:?}]")?,
                Step::Item => f.write_str("[*]")?,
                Step::Value => f.write_str(".*")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shows_and_finds() {
        let path = Path::root().field("spec").field("ports").item().field("x.y").value();
        assert_eq!(path.to_string(), ".spec.ports[*][\"x.y\"].*");
        let object = json!({"spec": {"ports": [{"x.y": {"a": 1, "b": 2}}, {"x.y": {"c": 3}}, {}]}});
        assert_eq!(path.values(&object), [&json!(1), &json!(2), &json!(3)]);
        assert_eq!(Path::root().to_string(), ".");
        assert!(path.is_within(&Path::root().field("spec")));
        assert!(!path.is_meta());
    }
}
