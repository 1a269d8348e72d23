//! Requests that show if a release supports the features of a subject's manifests, with the responses.

use std::fmt;

use serde_json::Value;

/// One request and the response.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The CRD.
    pub crd: String,
    /// The content that was sent.
    pub request: AttemptKind,
    /// The body of the request.
    pub sent: Value,
    /// The response of the server.
    pub response: AttemptResponse,
}

/// The content of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptKind {
    /// The CRD of the subject, unchanged.
    Definition,
    /// The CRD with strategy None instead of a webhook, so that objects can be written.
    DefinitionWithoutWebhook,
    /// An object that must be admitted.
    Valid {
        /// The version.
        version: String,
        /// The name of a sample, or the number of a generated object.
        object: ObjectName,
    },
    /// An object that must be refused.
    Invalid {
        /// The version.
        version: String,
        /// The keyword that forbids it.
        keyword: String,
        /// The field.
        field: String,
    },
}

/// The name of an object in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectName {
    /// A sample of the subject.
    Sample(String),
    /// A generated object, by its number.
    Generated(usize),
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sample(name) => f.write_str(name),
            Self::Generated(number) => write!(f, "#{number}"),
        }
    }
}

/// The response to such a request.
#[derive(Debug, Clone, PartialEq)]
pub enum AttemptResponse {
    /// The server accepted it: the object that it returned, and its warnings.
    Accepted(Value, Vec<String>),
    /// The server refused it: its message, and its warnings.
    Refused(String, Vec<String>),
}

impl AttemptResponse {
    /// Returns the warnings of the server.
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Accepted(_, warnings) | Self::Refused(_, warnings) => warnings,
        }
    }
}
