//! Storage migration by the control plane itself, if it supports it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Api, Resource};

/// The group of `StorageVersionMigration`.
const GROUP: &str = "storagemigration.k8s.io";

/// Newest first: the newest version that a server has is used.
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// The end of a migration by the control plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The API version that was used.
    pub version: String,
    /// `Succeeded`, `Failed`, or the state at the timeout.
    pub state: String,
    /// The message of the control plane.
    pub message: String,
    /// Its duration.
    pub took: Duration,
}

/// The version of `StorageVersionMigration` that a server has.
pub async fn offered(api: &Api) -> Result<Option<&'static str>, ClusterError> {
    for version in VERSIONS {
        if api.get(&format!("/apis/{GROUP}/{version}")).await?.is_success() {
            return Ok(Some(version));
        }
    }
    Ok(None)
}

/// Feature gates and an API that a release needs for it.
pub fn switches(minor: u32) -> (&'static [&'static str], Option<&'static str>) {
    match minor {
        30..=34 => (&["StorageVersionMigrator", "InformerResourceVersion"], Some("storagemigration.k8s.io/v1alpha1")),
        35 | 36 => (&["StorageVersionMigrator"], Some("storagemigration.k8s.io/v1beta1")),
        _ => (&[], None),
    }
}

/// The controllers that it needs.
pub const CONTROLLERS: [&str; 2] = ["storage-version-migrator-controller", "garbage-collector-controller"];

/// Lets the control plane migrate a kind, and waits. `bystander` is an object of the kind that is created and deleted
/// at intervals: on a quiet cluster the caches of the control plane do not advance otherwise.
pub async fn migrate_in_tree(
    api: &Api,
    kind: &Resource,
    offered: &str,
    bystander: &Value,
    within: Duration,
) -> Result<Ended, ClusterError> {
    let started = Instant::now();
    let migrations = Resource::cluster_wide(GROUP, offered, "storageversionmigrations");
    let name = format!("crdproof-{}", kind.plural);
    let resource = match offered {
        "v1alpha1" => json!({"group": kind.group, "version": kind.version, "resource": kind.plural}),
        _ => json!({"group": kind.group, "resource": kind.plural}),
    };
    let wish = json!({
        "apiVersion": format!("{GROUP}/{offered}"), "kind": "StorageVersionMigration",
        "metadata": {"name": name}, "spec": {"resource": resource},
    });
    api.post(&migrations.path(), &wish).await?.ok()?;
    let ended = loop {
        let seen = api.get(&migrations.path_of(&name)).await?.ok()?.json();
        let conditions = seen["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let active = conditions
            .iter()
            .filter(|condition| condition["status"] == "True")
            .map(|condition| (text(&condition["type"]), text(&condition["message"])));
        let active: Vec<(String, String)> = active.collect();
        let over = active.iter().find(|(state, _)| matches!(state.as_str(), "Succeeded" | "Failed"));
        let (state, message) = over.or(active.last()).cloned().unwrap_or_default();
        let took = started.elapsed();
        if over.is_some() || took >= within {
            break Ended { version: offered.to_owned(), state, message, took };
        }
        api.post(&kind.path(), bystander).await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
        api.delete(&kind.path_of(bystander["metadata"]["name"].as_str().unwrap_or_default())).await?;
    };
    api.delete(&migrations.path_of(&name)).await?;
    Ok(ended)
}
