//! The fields of a `CustomResourceDefinition` around its schemas, with their types.

use crdproof_schema::document::{Kind, Node};

/// The type of a field.
pub(super) enum Shape {
    /// Judged elsewhere, or not relevant.
    Any,
    Text,
    Flag,
    Whole,
    /// An object with any keys.
    Map(&'static Shape),
    List(&'static Shape),
    /// An object with these fields.
    Fields(&'static [(&'static str, Shape)]),
}

use Shape::{Any, Fields, Flag, List, Map, Text, Whole};

/// A whole definition.
pub(super) const DEFINITION: Shape = Fields(&[
    ("apiVersion", Text),
    ("kind", Text),
    ("metadata", METADATA),
    ("spec", SPEC),
    // A server sets it and ignores what is sent.
    ("status", Any),
]);

const METADATA: Shape = Fields(&[
    ("annotations", Map(&Text)),
    ("creationTimestamp", Text),
    ("deletionGracePeriodSeconds", Whole),
    ("deletionTimestamp", Text),
    ("finalizers", List(&Text)),
    ("generateName", Text),
    ("generation", Whole),
    ("labels", Map(&Text)),
    ("managedFields", Any),
    ("name", Text),
    ("namespace", Text),
    ("ownerReferences", Any),
    ("resourceVersion", Text),
    ("selfLink", Text),
    ("uid", Text),
]);

const SPEC: Shape = Fields(&[
    ("conversion", CONVERSION),
    ("group", Text),
    ("names", NAMES),
    ("preserveUnknownFields", Flag),
    ("scope", Text),
    ("versions", List(&VERSION)),
]);

const NAMES: Shape = Fields(&[
    ("categories", List(&Text)),
    ("kind", Text),
    ("listKind", Text),
    ("plural", Text),
    ("shortNames", List(&Text)),
    ("singular", Text),
]);

const CONVERSION: Shape = Fields(&[("strategy", Text), ("webhook", WEBHOOK)]);

const WEBHOOK: Shape = Fields(&[("clientConfig", CLIENT), ("conversionReviewVersions", List(&Text))]);

const CLIENT: Shape = Fields(&[("caBundle", Text), ("service", SERVICE), ("url", Text)]);

const SERVICE: Shape = Fields(&[("name", Text), ("namespace", Text), ("path", Text), ("port", Whole)]);

const VERSION: Shape = Fields(&[
    ("additionalPrinterColumns", List(&COLUMN)),
    ("deprecated", Flag),
    ("deprecationWarning", Text),
    ("name", Text),
    ("schema", Fields(&[("openAPIV3Schema", Any)])),
    ("selectableFields", List(&Fields(&[("jsonPath", Text)]))),
    ("served", Flag),
    ("storage", Flag),
    ("subresources", Fields(&[("scale", SCALE), ("status", Fields(&[]))])),
]);

const COLUMN: Shape = Fields(&[
    ("description", Text),
    ("format", Text),
    ("jsonPath", Text),
    ("name", Text),
    ("priority", Whole),
    ("type", Text),
]);

const SCALE: Shape = Fields(&[("labelSelectorPath", Text), ("specReplicasPath", Text), ("statusReplicasPath", Text)]);

/// A defect of a field.
pub(super) enum Misfit {
    /// The field is unknown. The text is its name.
    Unknown(String),
    /// The field has another type than this one.
    Type(&'static str),
}

impl Shape {
    /// Calls `found` for every field of a node that does not fit, with its path.
    pub(super) fn compare(&self, node: &Node, path: &str, found: &mut dyn FnMut(&str, &Node, Misfit)) {
        match (self, &node.kind) {
            // A null is the same as nothing.
            (Any, _) | (_, Kind::Null) | (Text, Kind::String(_)) | (Flag, Kind::Bool(_)) => {}
            (Whole, Kind::Number(number)) if number.is_i64() => {}
            (Map(value), Kind::Map(entries)) => {
                for entry in entries {
                    value.compare(&entry.value, &format!("{path}[{}]", entry.key), found);
                }
            }
            (List(item), Kind::List(items)) => {
                for (index, node) in items.iter().enumerate() {
                    item.compare(node, &format!("{path}[{index}]"), found);
                }
            }
            (Fields(fields), Kind::Map(entries)) => {
                for entry in entries {
                    let below = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
                    match fields.iter().find(|(name, _)| *name == entry.key) {
                        Some((_, shape)) => shape.compare(&entry.value, &below, found),
                        None => found(&below, &entry.value, Misfit::Unknown(entry.key.clone())),
                    }
                }
            }
            _ => found(path, node, Misfit::Type(self.name())),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Any => "anything",
            Text => "a string",
            Flag => "true or false",
            Whole => "a whole number",
            Map(_) | Fields(_) => "an object",
            List(_) => "a list",
        }
    }
}
