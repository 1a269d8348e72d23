//! The controller: keeps a `StatefulSet` for each database. It reads v2, whatever version an object was written at.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::api::{Patch, PatchParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Api, Client, Resource as _, ResourceExt as _};
use serde_json::{Value, json};

use crate::v2::Database;

/// The field manager of the controller.
const MANAGER: &str = "database-operator";

/// The size of a database that names none.
const DEFAULT_SIZE_GB: i64 = 10;

/// Runs until the process ends.
pub async fn run(client: Client) {
    let databases = Api::<Database>::all(client.clone());
    let sets = Api::<StatefulSet>::all(client.clone());
    Controller::new(databases, watcher::Config::default())
        .owns(sets, watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), Arc::new(client))
        .for_each(|outcome| {
            if let Err(error) = outcome {
                eprintln!("{error}");
            }
            futures::future::ready(())
        })
        .await;
}

async fn reconcile(database: Arc<Database>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let namespace = database.namespace().unwrap_or_default();
    let sets = Api::<StatefulSet>::namespaced(Client::clone(&client), &namespace);
    let apply = PatchParams::apply(MANAGER).force();
    sets.patch(&database.name_any(), &apply, &Patch::Apply(stateful_set(&database))).await?;
    Ok(Action::await_change())
}

/// The fields of the `StatefulSet` that the controller owns.
fn stateful_set(database: &Database) -> Value {
    let (name, spec) = (database.name_any(), &database.spec);
    let engine = spec.engine.as_deref().unwrap_or("postgres");
    let storage = spec.storage.as_ref();
    let size = storage.and_then(|storage| storage.size_gb).unwrap_or(DEFAULT_SIZE_GB);
    let class = storage.and_then(|storage| storage.class.as_deref());
    let labels = json!({"app.kubernetes.io/name": engine, "app.kubernetes.io/instance": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "ownerReferences": Vec::from_iter(database.controller_owner_ref(&()))},
        "spec": {
            "serviceName": name,
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "database", "image": engine}]},
            },
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": format!("{size}Gi")}},
                    "storageClassName": class,
                },
            }],
        },
    })
}
