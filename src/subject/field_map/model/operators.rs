//! The operators that change more than the place of a value.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Move;

/// The handling of a value that would not come back the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Otherwise {
    /// The conversion is refused, in words.
    #[default]
    Refuse,
    /// Another spelling of the same value may come back; what cannot be said at all is refused.
    Accept,
    /// An annotation keeps the value as it was.
    Stash(String),
}

/// A field whose values have other names in the other version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValueTable {
    /// The field's path in each version.
    pub paths: Move,
    /// Rows with the value in each version. No value stands twice in a column.
    pub table: Vec<BTreeMap<String, Value>>,
    /// What becomes of other values: `refuse`, `accept` (they stay as they are) or `{stash: ANNOTATION}`.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// A text of one version whose parts are fields of the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Split {
    /// The version that has the whole text.
    pub version: String,
    /// The text's path there.
    pub path: String,
    /// How the text is made of its parts, such as `{host}:{port}`.
    pub template: String,
    /// The parts, by their names in the template.
    pub parts: BTreeMap<String, Part>,
    /// What becomes of what does not fit: `refuse`, `accept` (`080` comes back as `80`) or `{stash: ANNOTATION}`.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Part {
    /// The part's path in the other version.
    pub path: String,
    /// What it is there.
    #[serde(default, rename = "type")]
    pub ty: PartType,
    /// A regular expression for it; where there is none, a text ends before the next separator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// The type of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PartType {
    /// A text.
    #[default]
    String,
    /// A whole number.
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
    /// What becomes of lists with more than one item or none: `refuse`, `accept` (an empty list is as good as none)
    /// or `{stash: ANNOTATION}`.
    pub otherwise: Otherwise,
}

/// A field that is counted in another unit in the other version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnitChange {
    /// The field's path in each version.
    pub paths: Move,
    /// The unit in each version.
    pub units: BTreeMap<String, Unit>,
    /// What becomes of values that do not come back: `refuse`, `accept` (`60s` comes back as `1m0s`) or
    /// `{stash: ANNOTATION}`.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// A unit of time or size: a whole number of something, or a text that names its own units.
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

/// A structure that is a text in the other version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stringify {
    /// The field's path in each version.
    pub paths: Move,
    /// The version in which it is a text.
    pub text: String,
    /// How texts are read. They are written as JSON on one line, which is YAML too.
    #[serde(default)]
    pub format: Format,
    /// What becomes of texts that do not come back: `refuse`, `accept` (spaces and order of keys may change) or
    /// `{stash: ANNOTATION}`.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// The form of a text that is read as a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// As JSON.
    #[default]
    Json,
    /// As YAML, in the way of Kubernetes.
    Yaml,
}

/// Lists of one version that are a single list in the other. On the way back all items stay in the first one; a stash
/// of the whole difference brings them back to where they were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gather {
    /// The version that has several lists.
    pub version: String,
    /// Its lists, in the order in which their items are put together.
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
    /// This field of each item becomes a text, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stringify: Option<String>,
}

/// For each version, where a field is and how it is computed from the object of the other version.
pub type Compute = BTreeMap<String, Computed>;

/// A field that an expression computes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Computed {
    /// The field's path in this version.
    pub path: String,
    /// An expression in CEL over `self`, the whole object of the other version. It is evaluated where the other version
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
