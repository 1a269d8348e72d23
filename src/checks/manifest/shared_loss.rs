//! Fields that one schema keeps and another would prune.

use crdproof_schema::structural::{Additional, Path, Schema};

/// The reason why a field does not survive the other schema.
pub(super) enum Loss<'a> {
    /// The other schema does not have it. `poor` is its nearest node.
    Unknown { rich: &'a Schema, poor: &'a Schema },
    /// Unknown fields are kept in one version and pruned in the other.
    Closed { rich: &'a Schema, poor: &'a Schema },
    /// Both have it, with different types.
    Retyped { rich: &'a Schema, poor: &'a Schema, from: &'static str, to: &'static str },
}

impl Loss<'_> {
    /// Returns true if two losses of the same field have the same reason.
    pub(super) fn same_kind(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown { .. }, Self::Unknown { .. }) | (Self::Closed { .. }, Self::Closed { .. }) => true,
            (Self::Retyped { to: left, .. }, Self::Retyped { to: right, .. }) => left == right,
            _ => false,
        }
    }
}

/// The topmost fields that `rich` keeps and `poor` does not.
pub(super) fn losses<'a>(rich: &'a Schema, poor: &'a Schema) -> Vec<(Path, Loss<'a>)> {
    let mut found = Vec::new();
    compare(rich, poor, &Path::root(), &mut found);
    found
}

fn compare<'a>(rich: &'a Schema, poor: &'a Schema, path: &Path, found: &mut Vec<(Path, Loss<'a>)>) {
    let (from, to) = (type_name(rich), type_name(poor));
    if from != to && from != "anything" && to != "anything" {
        found.push((path.clone(), Loss::Retyped { rich, poor, from, to }));
        return;
    }
    if keeps_unknown(rich) && !keeps_unknown(poor) {
        found.push((path.clone(), Loss::Closed { rich, poor }));
    }
    for (name, property) in &rich.properties {
        let path = path.field(name);
        // Every object has these, whatever the schema says.
        if path.is_meta() || (poor.embedded_resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata")) {
            continue;
        }
        match poor.child(name) {
            Some(other) => compare(property, other, &path, found),
            None if poor.preserves_unknown() => {}
            // An untyped map keeps the key but empties everything below it.
            None if matches!(poor.additional, Some(Additional::Allowed(_)))
                && property.ty.is_some_and(crdproof_schema::structural::Type::is_scalar) => {}
            None => found.push((path, Loss::Unknown { rich: property, poor })),
        }
    }
    if let (Some(rich), Some(poor)) = (rich.items.as_deref(), poor.items.as_deref()) {
        compare(rich, poor, &path.item(), found);
    }
    if let Some(values) = rich.values() {
        match poor.values() {
            Some(other) => compare(values, other, &path.value(), found),
            None if poor.preserves_unknown() => {}
            None => found.push((path.value(), Loss::Unknown { rich: values, poor })),
        }
    }
}

/// Returns true if unknown fields survive.
fn keeps_unknown(schema: &Schema) -> bool {
    schema.preserves_unknown()
}

fn type_name(schema: &Schema) -> &'static str {
    match schema.ty {
        _ if schema.int_or_string => "integer or string",
        Some(ty) => ty.as_str(),
        None => "anything",
    }
}
