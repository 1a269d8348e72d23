//! Version 1: all fields at the top level.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v2;

/// The desired state of a database.
// Every field is optional: server-side apply sends objects that have only the fields of one owner.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Database", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseSpec {
    /// The engine, such as `postgres`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The size of its storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_gb: Option<i64>,
    /// The backup schedule, in cron syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup_schedule: Option<String>,
}

impl From<v2::DatabaseSpec> for DatabaseSpec {
    fn from(new: v2::DatabaseSpec) -> Self {
        Self {
            engine: new.engine,
            size_gb: new.storage.and_then(|storage| storage.size_gb),
            backup_schedule: new.backup.and_then(|backup| backup.schedule),
        }
    }
}
