//! The declared relation of versions, as data and as a function.

mod convert;

use std::collections::BTreeMap;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use convert::convert;

/// How two versions of a CRD relate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldMap {
    /// The CRD's name.
    pub crd: String,
    /// The two versions.
    pub between: [String; 2],
    /// Fields that have another path in the other version; keys are version names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rename: Vec<Move>,
    /// Fields that one version lacks and that are kept there in an annotation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stash: Vec<Stash>,
    /// Fields that are lost, knowingly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Loss>,
}

/// The path of one field in each version, such as `{v1: .spec.host, v2: .spec.endpoint.host}`.
pub type Move = BTreeMap<String, String>;

/// A field that lives in an annotation where the version has no place for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stash {
    /// The version that has the field.
    pub from: String,
    /// The version that has not.
    pub to: String,
    /// The field's path in `from`.
    pub path: String,
    /// The annotation that holds it in `to`.
    pub annotation: String,
}

/// A field that does not survive conversion, and why that is accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Loss {
    /// The version that has the field.
    pub from: String,
    /// The version that has not.
    pub to: String,
    /// The field's path in `from`.
    pub path: String,
    /// Why the loss is accepted.
    pub reason: String,
    /// Until when.
    pub until: Date,
}

impl FieldMap {
    /// Whether the map relates these two versions, in either direction.
    pub fn relates(&self, from: &str, to: &str) -> bool {
        let [left, right] = &self.between;
        (left == from && right == to) || (left == to && right == from)
    }

    /// Whether a loss of this field, or of one above it, is declared for this direction.
    pub fn declares_lost(&self, from: &str, to: &str, field: &str) -> bool {
        self.lost.iter().any(|loss| {
            let within = field
                .strip_prefix(loss.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
            loss.from == from && loss.to == to && within
        })
    }
}
