//! Places of values in an object. Places are on the stack while an object is walked and become text only for messages.

use serde_json::Value;

use super::verdict::{Reason, Violation};
use crate::document::pointer;

/// Maximum depth of objects. No tool that writes JSON or YAML for Kubernetes goes deeper, and the walk must not exhaust
/// the stack.
pub(super) const DEPTH_LIMIT: usize = 128;

/// The notation of the root on the server.
pub(super) const NIL: &str = "<nil>";

/// A place and the path to it.
pub(super) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
    depth: usize,
}

enum Step<'a> {
    Root,
    Field(&'a str),
    Value(&'a str),
    Item(usize),
}

/// The notation of map keys: the schema validator joins them by dots, all other parts of the server put them into
/// brackets.
#[derive(Clone, Copy)]
enum Style {
    Dots,
    Brackets,
}

impl<'a> Place<'a> {
    /// The root of the object.
    pub(super) fn root() -> Self {
        Self { parent: None, step: Step::Root, depth: 0 }
    }

    /// The place of a property.
    pub(super) fn field(&'a self, name: &'a str) -> Self {
        self.then(Step::Field(name))
    }

    /// The place of a map value.
    pub(super) fn value(&'a self, key: &'a str) -> Self {
        self.then(Step::Value(key))
    }

    /// The place of a list item.
    pub(super) fn item(&'a self, index: usize) -> Self {
        self.then(Step::Item(index))
    }

    fn then(&'a self, step: Step<'a>) -> Self {
        Self { parent: Some(self), step, depth: self.depth + 1 }
    }

    /// Returns true if it is too deep to go further.
    pub(super) fn is_too_deep(&self) -> bool {
        self.depth > DEPTH_LIMIT
    }

    /// The path as the schema validator writes it.
    pub(super) fn dotted(&self) -> String {
        self.path(Style::Dots)
    }

    /// The path as every other part of the server writes it.
    pub(super) fn bracketed(&self) -> String {
        self.path(Style::Brackets)
    }

    /// The generic path, such as `.spec.x[*].y`: without indexes and keys of maps.
    pub(super) fn generic(&self) -> String {
        let parent = self.parent.map(Place::generic).unwrap_or_default();
        match &self.step {
            Step::Root => parent,
            Step::Field(name) => parent + "." + name,
            Step::Value(_) | Step::Item(_) => parent + "[*]",
        }
    }

    /// The path with its root, as `.spec.x[0].y`.
    pub(super) fn path_from_root(&self) -> String {
        let path = self.dotted();
        if path.starts_with('[') { path } else { format!(".{path}") }
    }

    fn path(&self, style: Style) -> String {
        let mut path = String::new();
        self.write(&mut path, style);
        if path.is_empty() {
            path.push_str(NIL);
        }
        path
    }

    fn write(&self, path: &mut String, style: Style) {
        if let Some(parent) = self.parent {
            parent.write(path, style);
        }
        match (&self.step, style) {
            (Step::Root, _) => {}
            (Step::Value(key), Style::Brackets) => {
                path.push('[');
                path.push_str(key);
                path.push(']');
            }
            (Step::Field(name) | Step::Value(name), _) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            (Step::Item(index), _) => {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
            }
        }
    }

    /// The place as a JSON pointer.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = self.parent.map(Place::pointer).unwrap_or_default();
        match &self.step {
            Step::Root => pointer.len(),
            Step::Field(name) | Step::Value(name) => pointer::descend(&mut pointer, name),
            Step::Item(index) => pointer::descend(&mut pointer, &index.to_string()),
        };
        pointer
    }

    /// A violation that the schema validator reports here.
    pub(super) fn violation(&self, reason: Reason, keyword: &'static str, message: String) -> Violation {
        Violation { field: self.dotted(), pointer: self.pointer(), reason, keyword, message }
    }

    /// A violation that the schema validator reports without a path.
    pub(super) fn violation_of_whole(&self, keyword: &'static str, message: String) -> Violation {
        Violation { field: NIL.to_owned(), pointer: self.pointer(), reason: Reason::Invalid, keyword, message }
    }

    /// A violation that another part of the server reports here.
    pub(super) fn refused(&self, reason: Reason, keyword: &'static str, message: String) -> Violation {
        Violation { field: self.bracketed(), pointer: self.pointer(), reason, keyword, message }
    }
}

/// Returns true if a value has more levels than this.
pub(super) fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let Some(left) = levels.checked_sub(1) else {
        return true;
    };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper_than(item, left)),
        Value::Object(map) => map.values().any(|value| is_deeper_than(value, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_paths_as_the_server_does() {
        let root = Place::root();
        let spec = root.field("spec");
        let map = spec.field("m");
        let value = map.value("a.b/c");
        let item = value.item(3);
        assert_eq!(root.dotted(), "<nil>");
        assert_eq!(item.dotted(), "spec.m.a.b/c[3]");
        assert_eq!(item.bracketed(), "spec.m[a.b/c][3]");
        assert_eq!(item.pointer(), "/spec/m/a.b~1c/3");
        assert_eq!(item.generic(), ".spec.m[*][*]");
    }
}
