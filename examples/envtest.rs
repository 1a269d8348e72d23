//! Tests with their own API servers, as an operator's author writes them.
//!
//! ```sh
//! crdproof env use 1.36
//! cargo run --example envtest
//! ```
//!
//! The tests below run in parallel, in one process (`cargo test --example envtest`) or in one process each (`cargo
//! nextest run --example envtest`): control planes are independent of each other, and the binaries come from one cache.

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;

use crdproof_envtest::api::{PatchKind, Query, Resource};
use crdproof_envtest::local::Local;
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = server().await?;
    let applied = apply(&server, "a", 1).await?;
    println!("Kubernetes {} stored {applied}", server.version());
    Ok(())
}

/// Starts a control plane that serves our CRD. It stops when the handle is dropped, and also if this process is killed.
async fn server() -> Result<Local, Box<dyn Error>> {
    // The first start on a machine builds or downloads the binaries; later ones use the cache.
    let server = crdproof_envtest::start("1.36").await?;
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    server
        .install_crds(&[json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Widget", "plural": "widgets"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
            },
        })])
        .await?;

    Ok(server)
}

/// Stores a widget by server-side apply. `server.client()` is a normal `kube::Client`; these raw verbs return status,
/// headers, bytes and the time taken.
async fn apply(server: &Local, name: &str, size: u32) -> Result<Value, Box<dyn Error>> {
    let widgets = Resource::namespaced("example.com", "v1", "widgets", "default");
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "size": size});
    let path = Query::new().manager("example").on(widgets.path_of(name));
    Ok(server.api().patch(&path, PatchKind::Apply, &widget).await?.ok()?.json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_widget_is_stored() -> Result<(), Box<dyn Error>> {
        let server = server().await?;
        assert_eq!(apply(&server, "a", 1).await?["size"], 1);
        Ok(())
    }

    #[tokio::test]
    async fn widgets_of_other_tests_are_elsewhere() -> Result<(), Box<dyn Error>> {
        let server = server().await?;
        let stored = apply(&server, "a", 2).await?;
        assert_eq!((&stored["size"], &stored["metadata"]["generation"]), (&json!(2), &json!(1)));
        Ok(())
    }
}
