//! Which keywords may stand where in the schema of a CRD.

use serde_json::json;

use crdproof_schema::structural::Keyword;

/// Keywords that a CRD schema can hold at all; any other is dropped by the API server.
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

/// Keywords that the API server knows and refuses.
pub(super) const FORBIDDEN: &[&str] =
    &["$ref", "additionalItems", "definitions", "dependencies", "id", "patternProperties"];

/// Keywords that may stand only outside allOf, anyOf, oneOf and not.
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

/// Keywords that may stand at the root of a version with the status subresource.
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

/// Whether a keyword has the value that it has when it is absent.
pub(super) fn says_nothing(keyword: &Keyword) -> bool {
    keyword.value.as_ref().is_some_and(|value| value == &json!(false) || value == "" || value.is_null())
}
