//! Results of applying a whole source.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The result for one object of a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delivered {
    /// `Kind/Namespace/Name`; `Kind/Name` for cluster-scoped kinds.
    pub name: String,
    /// The version at which it is applied.
    pub version: String,
    /// Its outcome.
    pub became: DeliveryOutcome,
    /// Differences between the live object and the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<FieldDifference>,
    /// The reason, if it is not as requested.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The result for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryOutcome {
    /// It did not exist.
    Created,
    /// It existed, and was changed.
    Configured,
    /// It existed, and was not changed.
    Unchanged,
    /// It differs from the source, and was only read.
    Drifted,
    /// It was removed from the source and from the server.
    Deleted,
    /// The server refused it.
    Refused,
}

/// A difference between the live object and the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldDifference {
    /// JSON pointer; empty for the whole object.
    pub at: String,
    /// The live value, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
    /// The value that applying would set, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Value>,
}

/// The health of an object, each time that it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Health {
    /// As in [`Delivered::name`].
    pub name: String,
    /// The version that it was read at.
    pub version: String,
    /// The state.
    pub state: State,
    /// The reason for the state.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The state of an object, in the terms of `kstatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It is as requested.
    Current,
    /// It is being reconciled.
    InProgress,
    /// It cannot become as requested.
    Failed,
    /// It is being deleted.
    Terminating,
    /// It does not exist.
    NotFound,
}

impl fmt::Display for DeliveryOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
            Self::Drifted => "drifted",
            Self::Deleted => "deleted",
            Self::Refused => "refused",
        })
    }
}

/// A line of a log, such as `Widget/default/blue configured`.
impl fmt::Display for Delivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.became)?;
        if self.why.is_empty() { Ok(()) } else { write!(f, ": {}", self.why) }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {:?}", self.name, self.state)?;
        if self.why.is_empty() { Ok(()) } else { write!(f, ": {}", self.why) }
    }
}
