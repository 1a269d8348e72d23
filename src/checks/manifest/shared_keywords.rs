//! The keywords that are allowed in the schema of a CRD, by place.

use serde_json::{Value, json};

use crdproof_schema::structural::Keyword;

/// Keywords that a CRD schema can have; the API server drops any other.
pub(super) const KNOWN: &[&str] = &[
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Returns true if the API server knows a keyword and refuses it. Some are refused only with a value.
pub(super) fn is_forbidden(keyword: &Keyword) -> bool {
    let is_empty = |empty: Value| keyword.value.as_ref() == Some(&empty);
    match keyword.name.as_str() {
        "$ref" | "additionalItems" | "dependencies" => true,
        "$schema" | "id" => !is_empty("".into()),
        "definitions" | "patternProperties" => !is_empty(json!({})),
        _ => false,
    }
}

/// The fields of keywords whose values are objects, or lists of objects.
const FIELDS: [(&str, &[&str]); 2] = [
    ("externalDocs", &["description", "url"]),
    ("x-kubernetes-validations", &["fieldPath", "message", "messageExpression", "optionalOldSelf", "reason", "rule"]),
];

/// The fields inside a keyword that the API server does not have.
pub(super) fn unknown_fields(keyword: &Keyword) -> Vec<&str> {
    let Some((_, known)) = FIELDS.iter().find(|(name, _)| *name == keyword.name) else { return Vec::new() };
    let objects = match &keyword.value {
        Some(Value::Array(items)) => items.iter().collect(),
        Some(other) => vec![other],
        None => Vec::new(),
    };
    let names = objects.into_iter().filter_map(Value::as_object).flat_map(|object| object.keys().map(String::as_str));
    names.filter(|name| !known.contains(name)).collect()
}

/// Keywords that are allowed only outside allOf, anyOf, oneOf and not.
pub(super) const OUTER_ONLY: &[&str] = &[
    "additionalProperties",
    "default",
    "description",
    "nullable",
    "title",
    "type",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Keywords that are allowed at the root of a version with the status subresource.
pub(super) const ROOT_WITH_STATUS: &[&str] = &[
    "description",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Returns true if a keyword has the same effect as its absence.
pub(super) fn says_nothing(keyword: &Keyword) -> bool {
    keyword.value.as_ref().is_some_and(|value| value == &json!(false) || value == "" || value.is_null())
}
