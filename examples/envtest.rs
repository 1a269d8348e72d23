//! A test with an API server of its own, as an operator's author writes it.
//!
//! ```sh
//! crdproof env use 1.36
//! cargo run --example envtest
//! ```
//!
//! In a test suite the body of `main` stands in a `#[tokio::test]`. Control planes do not know of each
//! other, so tests run side by side, in one process or, with nextest, in one process each; the binaries
//! come from one cache.

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;

use crdproof::cluster::api::{PatchKind, Query, Resource};
use crdproof::cluster::binaries::{Selector, Sources, Store, resolve};
use crdproof::cluster::local::Local;
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Once per machine this builds or fetches; afterwards it looks into the cache.
    let root = Store::default_root(&|name| std::env::var_os(name)).ok_or("no home folder")?;
    let selector: Selector = "1.36".parse()?;
    let assets = resolve(&Store::open(root)?, &selector, &Sources::default(), &|_| ())?;
    let binaries = assets.into_iter().next().ok_or("no release")?.into();

    // Gone with the handle, and also if this process is killed.
    let server = Local::builder(binaries).start().await?;
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

    // `server.client()` is an ordinary `kube::Client`; these are the raw verbs.
    let widgets = Resource::namespaced("example.com", "v1", "widgets", "default");
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "size": 1});
    let path = Query::new().manager("example").on(widgets.path_of("a"));
    let applied = server.api().patch(&path, PatchKind::Apply, &widget).await?.ok()?;
    println!("{} {} in {:?}", server.version(), applied.status, applied.took);
    Ok(())
}
