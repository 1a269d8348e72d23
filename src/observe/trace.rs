//! What was seen on an API server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kubernetes::KubeVersion;

/// One journey on one API server: what was written and what every served version showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trace {
    /// The server's version.
    pub kubernetes: KubeVersion,
    /// When it was recorded, RFC 3339.
    pub recorded: String,
    /// The CRD.
    pub crd: String,
    /// Served versions.
    pub served: Vec<String>,
    /// The storage version.
    pub stored: String,
    /// What was written, in order.
    pub writes: Vec<Write>,
    /// All objects as each version shows them, keyed by `namespace/name`.
    pub snapshots: Vec<Snapshot>,
}

/// One write and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Write {
    /// The version written through.
    pub version: String,
    /// The object's name.
    pub name: String,
    /// What was sent.
    pub sent: Value,
    /// What the server answered.
    pub answered: Value,
}

/// All objects at one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snapshot {
    /// The version read at.
    pub version: String,
    /// Objects by `namespace/name`.
    pub objects: BTreeMap<String, Value>,
}
