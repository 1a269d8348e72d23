//! Values that a converter invents.

use crdproof_schema::document::pointer;
use serde_json::Value;

use crate::checks::shared_difference::Difference;
use crate::evidence::{ConversionRun, Step};
use crdproof_schema::structural::Schema;

/// The values outside metadata that the conversion of an object without content has. `None` if the input has content,
/// or was not converted.
pub(super) fn invented<'t>(conversion_run: &'t ConversionRun, step: &Step<'t>) -> Option<Vec<Difference<'t>>> {
    let own = |name: &str| matches!(name, "apiVersion" | "kind" | "metadata");
    if !conversion_run.input.as_object()?.keys().all(|name| own(name)) {
        return None;
    }
    let answer = step.hop.answer()?;
    let mut found = Vec::new();
    for (name, value) in answer.raw.as_object()?.iter().filter(|(name, _)| !own(name)) {
        leaves(&format!("/{name}"), value, &mut found);
    }
    Some(found)
}

fn leaves<'v>(pointer: &str, value: &'v Value, found: &mut Vec<Difference<'v>>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, value) in map {
                leaves(&format!("{pointer}/{}", pointer::escape(name)), value, found);
            }
        }
        Value::Null => {}
        value => found.push(Difference { pointer: pointer.to_owned(), was: None, now: Some(value) }),
    }
}

impl Difference<'_> {
    /// Returns true if the value is the one that the API server itself would default.
    pub(super) fn is_default(&self, schema: Option<&Schema>) -> bool {
        let schema = schema.and_then(|schema| schema.at_pointer(&self.pointer));
        schema.is_some_and(|schema| schema.default.as_ref() == self.now && self.now.is_some())
    }
}
