//! Objects that scenarios leave out.

use serde::{Deserialize, Serialize};

/// An object that no scenario writes, because it would make lists or rewrites of its kind fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeftOut {
    /// Its version.
    pub version: String,
    /// Its name.
    pub name: String,
    /// True if it is a sample of the subject.
    pub is_sample: bool,
    /// Its defect.
    #[serde(default)]
    pub reason: LeftOutReason,
    /// The invalid field, if it is a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The message of the converter or of the schema validation.
    pub why: String,
    /// The server's refusal of an object that is not valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// The reason why no scenario writes an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LeftOutReason {
    /// The converter does not convert it to every version and back.
    #[default]
    NotConverted,
    /// It is not valid at its own version.
    NotValid,
    /// It is not valid after the conversion to this version.
    NotValidAt(String),
}
