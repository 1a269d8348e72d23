//! One value in one version, a list in the other.

use serde_json::Value;

use super::{Said, Side};

/// A value that is the only item of a list in the other version.
#[derive(Debug)]
pub(in crate::subject::field_map) struct Wrapped {
    /// The side that has the list.
    pub(in crate::subject::field_map) list: Side,
}

impl Wrapped {
    pub(super) fn say(&self, from: Side, value: &Value) -> Said {
        if from != self.list {
            return Said::exactly(Value::Array(vec![value.clone()]));
        }
        match value.as_array().map(Vec::as_slice) {
            Some([]) => Said::respelled(None, "the list is empty, and the other version has no empty list"),
            Some([Value::Null]) => Said::not_quite(Some(Value::Null), "its only item is null"),
            Some([only]) => Said::exactly(only.clone()),
            Some([first, rest @ ..]) => {
                let why = format!("the list has {} items, and the other version has room for one", rest.len() + 1);
                Said::not_quite(Some(first.clone()), why)
            }
            None => Said::not_quite(None, "this is not a list"),
        }
    }

    /// The stashed list, with the present value as its first item. So an edit through the other version keeps the items
    /// that it cannot see.
    pub(super) fn restore(present: Option<&Value>, stashed: &Value) -> Option<Value> {
        let hidden = stashed.as_array()?.iter().skip(1);
        let items: Vec<Value> = present.into_iter().chain(hidden).cloned().collect();
        Some(Value::Array(items))
    }
}
