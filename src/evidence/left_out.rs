//! Objects that no scenario can use.

use serde::{Deserialize, Serialize};

/// An object that no scenario writes: with it, lists or rewrites of its kind would fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeftOut {
    /// Its version.
    pub version: String,
    /// Its name.
    pub name: String,
    /// Whether the subject's author wrote it.
    pub is_sample: bool,
    /// Its defect.
    #[serde(default)]
    pub reason: LeftOutReason,
    /// The field that is wrong, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What the converter said, or what the schema does not admit.
    pub why: String,
}

/// The reason why no scenario writes an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LeftOutReason {
    /// The converter does not take it to every version and back.
    #[default]
    NotConverted,
    /// It is not valid at its own version.
    NotValid,
    /// It is not valid when it is converted to this version.
    NotValidAt(String),
}
