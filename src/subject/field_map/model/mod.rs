//! Declared relations in the subject file.

mod operators;

use std::collections::BTreeMap;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use operators::{
    Compute, Computed, Fixed, Format, Gather, GatheredList, Otherwise, Part, PartType, Split, Stringify, Unit,
    UnitChange, ValueTable, Wrap,
};

/// The relation of two versions of a CRD.
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
    /// Fields whose values have other names in the other version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueTable>,
    /// Strings of one version that are several fields in the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<Split>,
    /// Fields that are a list in the other version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrap: Vec<Wrap>,
    /// Fields with another unit in the other version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitChange>,
    /// Structures that are a string in the other version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stringify: Vec<Stringify>,
    /// Lists of one version that are a single list in the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gather: Vec<Gather>,
    /// Fields that are computed by expressions; keys are version names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compute: Vec<Compute>,
    /// Fields that only one version has, always with the same value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<Fixed>,
    /// Values for fields that are missing after conversion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default: Vec<Fixed>,
    /// Fields that one version lacks and that are kept there in an annotation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stash: Vec<Stash>,
    /// Fields that are lost on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Loss>,
}

/// The path of one field in each version, such as `{v1: .spec.host, v2: .spec.endpoint.host}`.
pub type Move = BTreeMap<String, String>;

/// A field that an annotation keeps if the version does not have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stash {
    /// The version that has the field.
    pub from: String,
    /// The version that lacks it.
    pub to: String,
    /// The field's path in `from`; `.` for everything that converting back would not restore.
    pub path: String,
    /// The annotation that holds it in `to`.
    pub annotation: String,
}

impl Stash {
    /// Returns true if it keeps the whole difference.
    pub fn is_whole(&self) -> bool {
        self.path == "."
    }
}

/// A field that does not survive conversion, and why that is accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Loss {
    /// The version that has the field.
    pub from: String,
    /// The version that lacks it.
    pub to: String,
    /// The field's path in `from`.
    pub path: String,
    /// The reason for accepting the loss.
    pub reason: String,
    /// The last day on which it applies.
    pub until: Date,
}
