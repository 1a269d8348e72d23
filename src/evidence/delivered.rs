//! What became of the objects of a source that was applied as a whole.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The result for one object of a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delivered {
    /// `Kind/Namespace/Name`; without the middle where the kind has no namespace.
    pub name: String,
    /// The version that it is applied at.
    pub version: String,
    /// Its outcome.
    pub became: Became,
    /// Where the live object was, or is, not as the source wants it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Differs>,
    /// Why, where it is not as it was asked for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The result for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// It was not there.
    Created,
    /// It was there, and is another now.
    Configured,
    /// It was there, and is as it was.
    Unchanged,
    /// It is not as the source wants it, and was only looked at.
    Drifted,
    /// The source has it no more, and neither has the server.
    Deleted,
    /// The server refused it.
    Refused,
}

/// One place where the live object is not as the source wants it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Differs {
    /// JSON pointer; empty for the whole object.
    pub at: String,
    /// What is live; absent where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
    /// What applying makes of it; absent where nothing is.
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
    /// How it is.
    pub state: State,
    /// What it is waiting for, or suffers from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The state of an object, in the words of `kstatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It is what its author asked for.
    Current,
    /// Somebody is at work.
    InProgress,
    /// It will not become what its author asked for.
    Failed,
    /// It is about to go.
    Terminating,
    /// It is not there.
    NotFound,
}

impl fmt::Display for Became {
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
