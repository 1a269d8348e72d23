//! The events of a watch.

use serde::{Deserialize, Serialize};

/// The events of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatchLog {
    /// The version that was watched.
    pub version: String,
    /// Its events, in order.
    pub events: Vec<WatchEvent>,
}

/// One event of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatchEvent {
    /// `ADDED`, `MODIFIED`, `DELETED` or `ERROR`.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// The object's `apiVersion`.
    pub api_version: String,
    /// The object's resource version.
    pub resource_version: String,
}
