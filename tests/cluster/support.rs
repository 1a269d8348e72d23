//! What all trials use.

use crdproof::cluster::ClusterError;
use libtest_mimic::Failed;
use serde_json::{Value, json};

pub(crate) fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}

pub(crate) fn check(holds: bool, otherwise: impl Into<String>) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(otherwise.into().into()) }
}

pub(crate) fn describe(error: &ClusterError) -> Failed {
    format!("{error} ({})\n{}", error.help(), error.log().unwrap_or_default()).into()
}

pub(crate) fn crd() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"size": {"type": "integer"}}}}}});
    let subresources = json!({"status": {}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": schema, "subresources": subresources},
                {"name": "v2", "served": true, "storage": false, "schema": schema, "subresources": subresources},
            ],
        },
    })
}

/// The same CRD with a scale.
pub(crate) fn scalable_crd() -> Value {
    let mut crd = crd();
    for version in [0, 1] {
        crd["spec"]["versions"][version]["subresources"]["scale"] =
            json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    }
    crd
}

/// An object of the CRD.
pub(crate) fn widget(version: &str, name: &str, size: u32) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Widget", "metadata": {"name": name, "labels": {"odd": (size % 2 == 1).to_string()}},
           "spec": {"size": size}})
}
