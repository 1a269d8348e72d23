//! Tests on real API servers: one set of trials for each release at hand, in the cache or in
//! `KUBEBUILDER_ASSETS`. Where there is none, one skipped trial says how to get one.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crdproof::cluster::api::{PatchKind, Resource};
use crdproof::cluster::binaries::Store;
use crdproof::cluster::local::{Binaries, Component, Local};
use crdproof::kubernetes::KubeVersion;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each trial starts a control plane of its own; two at a time is what a small machine carries.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let mut trials: Vec<Trial> = releases().into_iter().flat_map(|(name, binaries)| trials(&name, &binaries)).collect();
    if trials.is_empty() {
        let skip = || Ok(Completion::ignored_with("no API server at hand; `crdproof env use 1.36` builds one"));
        trials.push(Trial::ignorable_test("releases_at_hand", skip));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The releases that need no network to be had.
fn releases() -> Vec<(String, Binaries)> {
    let env = |name: &str| std::env::var_os(name);
    let assets =
        env("KUBEBUILDER_ASSETS").map(|folder| ("assets".to_owned(), Binaries::in_folder(PathBuf::from(folder))));
    let store = Store::default_root(&env).and_then(|root| Store::open(root).ok());
    let cached = store.map(|store| store.entries()).unwrap_or_default();
    let cached = cached
        .into_iter()
        .filter_map(|entry| Some((entry.manifest.kubernetes?.to_string(), Binaries::in_folder(entry.folder))));
    assets.into_iter().chain(cached).collect()
}

fn trials(name: &str, binaries: &Binaries) -> Vec<Trial> {
    let trial = |what: &str, test: fn(Binaries) -> Result<(), Failed>| {
        let binaries = binaries.clone();
        Trial::test(format!("{name}::{what}"), move || test(binaries))
    };
    vec![
        trial("starts_answers_and_leaves_nothing", starts_answers_and_leaves_nothing),
        trial("serves_every_version_of_a_crd", serves_every_version_of_a_crd),
        trial("a_component_is_paused_and_restarted", a_component_is_paused_and_restarted),
    ]
}

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}

fn starts_answers_and_leaves_nothing(binaries: Binaries) -> Result<(), Failed> {
    let folder = block(async {
        let server = Local::builder(binaries).start().await.map_err(|error| describe(&error))?;
        let version = server.api().get("/version").await?.ok()?.json();
        let said: KubeVersion = version["gitVersion"].as_str().unwrap_or_default().parse()?;
        check(said == server.version(), format!("/version says {said}, the program {}", server.version()))?;
        let folder = server.kubeconfig().parent().map(PathBuf::from).unwrap_or_default();
        check(folder.join("admin.kubeconfig").exists(), "no kubeconfig")?;
        Ok::<_, Failed>(folder)
    })?;
    check(!folder.exists(), format!("{} is left behind", folder.display()))
}

fn serves_every_version_of_a_crd(binaries: Binaries) -> Result<(), Failed> {
    block(async {
        let server = Local::builder(binaries).start().await.map_err(|error| describe(&error))?;
        server.install_crds(&[crd()]).await.map_err(|error| describe(&error))?;
        let api = server.api();
        let at = |version: &str| Resource::namespaced("example.com", version, "widgets", "default");
        let object =
            json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1}});
        let path = format!("{}?fieldManager=test&force=true", at("v2").path_of("a"));
        let applied = api.patch(&path, PatchKind::Apply, &object).await?.ok()?;
        check(applied.status == 201, format!("apply answered {}", applied.status))?;
        for version in ["v1", "v2"] {
            let read = api.get(&at(version).path_of("a")).await?.ok()?.json();
            check(read["spec"]["size"] == 1, format!("{version} reads {read}"))?;
        }
        // An update of what does not exist: 500 up to 1.18.3, 404 from 1.18.4.
        let missing = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "ghost"}, "spec": {"size": 1}});
        let answer = api.put(&at("v1").path_of("ghost"), &missing).await?;
        let version = server.version();
        let broken = version.minor == 18 && version.patch.is_some_and(|patch| patch < 4);
        let expected = if broken { 500 } else { 404 };
        check(answer.status == expected, format!("PUT of a missing object: {} {}", answer.status, answer.message()))?;
        let nobody = server.user("nobody", &[]).await.map_err(|error| describe(&error))?;
        let refused = crdproof::cluster::api::Api::new(nobody, Duration::from_secs(5)).get(&at("v1").path()).await?;
        check(refused.status == 403, format!("a user without rights got {}", refused.status))
    })
}

fn a_component_is_paused_and_restarted(binaries: Binaries) -> Result<(), Failed> {
    block(async {
        let mut server = Local::builder(binaries).start().await.map_err(|error| describe(&error))?;
        server.pause(Component::ApiServer).await.map_err(|error| describe(&error))?;
        let api = crdproof::cluster::api::Api::new(server.client(), Duration::from_secs(1));
        let started = Instant::now();
        check(api.get("/version").await.is_err(), "a paused server answered")?;
        check(started.elapsed() < Duration::from_secs(5), "the deadline was not kept")?;
        server.resume(Component::ApiServer).map_err(|error| describe(&error))?;
        server.api().get("/version").await?.ok()?;
        server.restart(Component::ApiServer).await.map_err(|error| describe(&error))?;
        server.api().get("/api/v1/namespaces/default").await?.ok()?;
        Ok(())
    })
}

fn check(holds: bool, otherwise: impl Into<String>) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(otherwise.into().into()) }
}

fn describe(error: &crdproof::cluster::ClusterError) -> Failed {
    let log = match error {
        crdproof::cluster::ClusterError::Component { log, .. } => log.clone(),
        _ => String::new(),
    };
    format!("{error} ({})\n{log}", error.help()).into()
}

fn crd() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": schema},
                {"name": "v2", "served": true, "storage": false, "schema": schema},
            ],
        },
    })
}
