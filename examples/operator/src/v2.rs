//! Version 2: storage and backup are objects, and storage has a class.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v1;

/// The desired state of a database.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v2", kind = "Database", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseSpec {
    /// The engine, such as `postgres`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// The backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<Backup>,
}

/// The storage of a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// The size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_gb: Option<i64>,
    /// The storage class; v1 has no such field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// The backup of a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// The schedule, in cron syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
}

impl From<v1::DatabaseSpec> for DatabaseSpec {
    fn from(old: v1::DatabaseSpec) -> Self {
        Self {
            engine: old.engine,
            storage: old.size_gb.map(|size_gb| Storage { size_gb: Some(size_gb), class: None }),
            backup: old.backup_schedule.map(|schedule| Backup { schedule: Some(schedule) }),
        }
    }
}
