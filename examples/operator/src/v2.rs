//! Version 2: storage and backup are objects of their own, and storage has a class.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v1;

/// What a database should be like.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v2", kind = "Database", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseSpec {
    /// The engine, such as `postgres`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Where it keeps its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// How it is backed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<Backup>,
}

/// Where a database keeps its data.
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

/// How a database is backed up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// When, as a cron schedule.
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
