//! Speed of storage migration: raw parallel merge patches, our migration, and the control plane's, on the same server.
//! Prints rates and ratios; asserts nothing about time.
//!
//! ```sh
//! cargo bench --bench migrate            # 10,000 objects on 1.37
//! cargo bench --bench migrate -- 2000 1.36
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::time::{Duration, Instant};

use crdproof::operate::in_tree::{CONTROLLERS, migrate_in_tree, offered, switches};
use crdproof::operate::migrate::{Pace, migrate};
use crdproof_envtest::api::{Api, PatchKind, Resource, definitions};
use crdproof_envtest::binaries::{Sources, Store, resolve};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_envtest::runtime::block_on;
use crdproof_schema::kubernetes::Selector;
use futures::StreamExt as _;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

const CRD: &str = "widgets.example.com";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let objects: usize = arguments.first().map_or(Ok(10_000), |text| text.parse())?;
    let release = arguments.get(1).map_or("1.37", String::as_str);
    block_on(compare(objects, release))?
}

async fn compare(objects: usize, release: &str) -> Outcome<()> {
    let store = Store::open(Store::default_root(&|name| std::env::var_os(name)).ok_or("no cache")?)?;
    let selector: Selector = release.parse()?;
    let assets = resolve(&store, &selector, &Sources::default(), &|_| {})?.pop().ok_or("no such release")?;
    let mut builder = Local::builder(Binaries::from(assets)).controllers(CONTROLLERS);
    let (gates, api) = switches(builder.version()?.minor);
    for gate in gates {
        builder = builder.feature_gate(gate, true);
    }
    if let Some(api) = api {
        builder = builder.runtime_config(api, true);
    }
    let server = builder.start().await?;
    let api = server.api();
    server.install_crds(&[crd()]).await?;
    let kind = |version: &str| Resource::namespaced("example.com", version, "widgets", "default");
    let names: Vec<String> = (0..objects).map(|number| format!("w-{number}")).collect();
    let made = names.iter().map(|name| create(&api, kind("v1"), name));
    futures::stream::iter(made).buffer_unordered(32).collect::<Vec<_>>().await;
    println!("{objects} objects on Kubernetes {}, 32 writes at once", server.version());

    flip(&api, 1).await?;
    let begin = Instant::now();
    let patched = names.iter().map(|name| touch(&api, kind("v2"), name));
    let patched = futures::stream::iter(patched).buffer_unordered(32).collect::<Vec<_>>().await;
    let raw = rate(objects, begin.elapsed());
    println!("raw merge patches    {raw:8.0} objects/s ({} refused)", patched.iter().filter(|done| !**done).count());

    flip(&api, 0).await?;
    let begin = Instant::now();
    let all = Resource::cluster_wide("example.com", "v1", "widgets");
    let migrated = migrate(&api, &all, Pace::default(), &mut |_| {}).await?;
    let ours = rate(objects, begin.elapsed());
    println!(
        "crdproof             {ours:8.0} objects/s ({} stored anew, {} failed)",
        migrated.rewritten, migrated.failures
    );
    println!("memory of this process {:.0} MB", resident());

    flip(&api, 1).await?;
    let theirs = match offered(&api).await? {
        None => None,
        Some(version) => {
            let bystander = widget("v2", "bystander");
            let ended = migrate_in_tree(&api, &kind("v2"), version, &bystander, Duration::from_secs(900)).await?;
            println!("control plane        {:8.0} objects/s ({})", rate(objects, ended.took), ended.state);
            Some(rate(objects, ended.took))
        }
    };
    println!("crdproof / raw           {:.2}", ours / raw);
    if let Some(theirs) = theirs {
        println!("crdproof / control plane {:.2}", ours / theirs);
    }
    Ok(())
}

async fn create(api: &Api, kind: Resource, name: &str) -> bool {
    api.post(&kind.path(), &widget("v1", name)).await.is_ok_and(|answer| answer.is_success())
}

async fn touch(api: &Api, kind: Resource, name: &str) -> bool {
    let answer = api.patch(&kind.path_of(name), PatchKind::Merge, &json!({})).await;
    answer.is_ok_and(|answer| answer.is_success())
}

/// Changes the storage version, and waits until the change has taken effect.
async fn flip(api: &Api, to: usize) -> Outcome<()> {
    let path = definitions().path_of(CRD);
    let mut definition = api.get(&path).await?.ok()?.json();
    for (index, version) in definition["spec"]["versions"].as_array_mut().into_iter().flatten().enumerate() {
        version["storage"] = json!(index == to);
    }
    api.put(&path, &definition).await?.ok()?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(objects: usize, took: Duration) -> f64 {
    objects as f64 / took.as_secs_f64()
}

/// The resident memory of this process in megabytes; 0 if the system does not report it.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / 1024.0
}

fn widget(version: &str, name: &str) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Widget", "metadata": {"name": name},
           "spec": {"size": 3, "note": "some text that objects usually have"}})
}

fn crd() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version =
        |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": schema});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": CRD},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "versions": [version("v1", true), version("v2", false)]},
    })
}
