//! Operators that change more than the path of a value.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Move;

/// The handling of a value that would not come back the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Otherwise {
    /// Refuses the conversion, with a message.
    #[default]
    Refuse,
    /// Accepts another spelling of the same value; refuses values that the other version cannot express.
    Accept,
    /// Keeps the original value in an annotation.
    Stash(String),
}

/// A field whose values have other names in the other version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValueTable {
    /// The field's path in each version.
    pub paths: Move,
    /// Rows with the value in each version. No value may occur twice in a column.
    pub table: Vec<BTreeMap<String, Value>>,
    /// The handling of other values: `refuse`, `accept` (they stay unchanged) or `{stash: ANNOTATION}`.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// A string of one version whose parts are fields of the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Split {
    /// The version that has the whole string.
    pub version: String,
    /// The path of the string in that version.
    pub path: String,
    /// The template of the string, such as `{host}:{port}`.
    pub template: String,
    /// The parts, by their names in the template.
    pub parts: BTreeMap<String, Part>,
    /// The handling of strings that do not fit: `refuse`, `accept` (`080` comes back as `80`) or `{stash: ANNOTATION}`.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// A part of a string.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Part {
    /// The part's path in the other version.
    pub path: String,
    /// Its type in that version.
    #[serde(default, rename = "type")]
    pub ty: PartType,
    /// A regular expression for it; by default, a part ends before the next separator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// The type of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PartType {
    /// A string.
    #[default]
    String,
    /// An integer.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// A field that is a list in the other version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Wrap {
    /// The field's path in each version.
    pub paths: Move,
    /// The version in which it is a list.
    pub list: String,
    /// The handling of lists with more than one item or none: `refuse`, `accept` (an empty list is the same as none) or
    /// `{stash: ANNOTATION}`.
    pub otherwise: Otherwise,
}

/// A field with another unit in the other version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnitChange {
    /// The field's path in each version.
    pub paths: Move,
    /// The unit in each version.
    pub units: BTreeMap<String, Unit>,
    /// The handling of values that do not come back: `refuse`, `accept` (`60s` comes back as `1m0s`) or `{stash:
    /// ANNOTATION}`.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// A unit of time or size: an integer number of it, or a string with its own units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Unit {
    /// A number of nanoseconds.
    Nanoseconds,
    /// A number of microseconds.
    Microseconds,
    /// A number of milliseconds.
    Milliseconds,
    /// A number of seconds.
    Seconds,
    /// A number of minutes.
    Minutes,
    /// A number of hours.
    Hours,
    /// A duration as Go writes it, such as `1h30m0s`.
    Duration,
    /// A number of bytes.
    Bytes,
    /// A number of kibibytes.
    Kibibytes,
    /// A number of mebibytes.
    Mebibytes,
    /// A number of gibibytes.
    Gibibytes,
    /// A quantity as Kubernetes writes it, such as `10Mi`.
    Quantity,
}

/// A structure that is a string in the other version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stringify {
    /// The field's path in each version.
    pub paths: Move,
    /// The version in which it is a string.
    pub text: String,
    /// The format for reading strings. They are written as JSON on one line, which is also YAML.
    #[serde(default)]
    pub format: Format,
    /// The handling of strings that do not come back: `refuse`, `accept` (spaces and order of keys may change) or
    /// `{stash: ANNOTATION}`.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// The format of a string that is read as a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// JSON.
    #[default]
    Json,
    /// YAML, as Kubernetes reads it.
    Yaml,
}

/// Lists of one version that are a single list in the other. Converting back puts all items into the first list; a
/// stash of the whole difference restores their original lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gather {
    /// The version that has several lists.
    pub version: String,
    /// Its lists, in the order in which their items are joined.
    pub lists: Vec<GatheredList>,
    /// The path of the one list in the other version.
    pub into: String,
}

/// One of several lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GatheredList {
    /// The list's path.
    pub path: String,
    /// Each item becomes an object that has the item in this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// This field of each item becomes a string, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stringify: Option<String>,
}

/// For each version, the path of a field and the expression that computes it from the object of the other version.
pub type Compute = BTreeMap<String, Computed>;

/// A field that an expression computes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Computed {
    /// The field's path in this version.
    pub path: String,
    /// An expression in CEL over `self`, the whole object of the other version. It is evaluated if the other version
    /// has its field; null leaves this one out.
    pub expression: String,
}

/// A value for a field of one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fixed {
    /// The version that has the field.
    pub version: String,
    /// The field's path there.
    pub path: String,
    /// The value.
    pub value: Value,
}
