//! Control planes of local processes.

use std::time::{Duration, Instant};

use crdproof_envtest::api::{Api, PatchKind, Query, Resource};
use crdproof_envtest::local::{Binaries, Component, Local};
use crdproof_schema::kubernetes::KubeVersion;
use libtest_mimic::Failed;
use serde_json::json;

use crate::support::{block, check, crd, describe, widget};

pub(crate) fn a_server_starts_answers_and_leaves_nothing(binaries: &Binaries) -> Result<(), Failed> {
    let folder = block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let version = server.api().get("/version").await?.ok()?.json();
        let said: KubeVersion = version["gitVersion"].as_str().unwrap_or_default().parse()?;
        check(said == server.version(), format!("/version says {said}, the program {}", server.version()))?;
        let folder = server.folder().to_owned();
        check(folder.join("admin.kubeconfig").exists(), "no kubeconfig")?;
        Ok::<_, Failed>(folder)
    })?;
    check(!folder.exists(), format!("{} is left behind", folder.display()))
}

pub(crate) fn etcd_refuses_other_clients(binaries: &Binaries) -> Result<(), Failed> {
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::PermissionsExt as _;
    block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let mode = std::fs::metadata(server.folder())?.permissions().mode() & 0o777;
        check(mode == 0o700, format!("the folder has mode {mode:o}"))?;
        // etcd answers clients that have its certificate.
        server.install_crds(&[crd()]).await.map_err(|error| describe(&error))?;
        let stored = server.stored("apiextensions.k8s.io", "customresourcedefinitions").await;
        check(stored.map_err(|error| describe(&error))?.len() == 1, "the CRD is not in the store")?;
        // Every user of this machine can see where etcd listens.
        let listed = std::process::Command::new("ps").args(["-A", "-ww", "-o", "args="]).output()?.stdout;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let folder = server.folder().display().to_string();
        let flags = listed.lines().find(|line| line.contains("--listen-client-urls") && line.contains(&folder));
        let url = flags.and_then(|line| line.split("--listen-client-urls=").nth(1)?.split_whitespace().next());
        let url = url.ok_or("no etcd is listed")?.to_owned();
        check(url.starts_with("https://127.0.0.1:"), &url)?;
        let mut stream = std::net::TcpStream::connect(url.trim_start_matches("https://"))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"POST /v3/kv/range HTTP/1.1\r\nhost: x\r\ncontent-length: 16\r\n\r\n{\"key\": \"AA==\"} ")?;
        let mut answer = Vec::new();
        // Whether this fails or not, no data of etcd may come back.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        check(!answer.contains(" 200 ") && !answer.contains("kvs"), format!("etcd answers anybody: {answer}"))
    })
}

pub(crate) fn every_version_of_a_crd_is_served(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
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
        // Updating a missing object: 500 up to 1.18.3, 404 from 1.18.4.
        let missing = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "ghost"}, "spec": {"size": 1}});
        let answer = api.put(&at("v1").path_of("ghost"), &missing).await?;
        let version = server.version();
        let broken = version.minor == 18 && version.patch.is_some_and(|patch| patch < 4);
        let expected = if broken { 500 } else { 404 };
        check(answer.status == expected, format!("PUT of a missing object: {} {}", answer.status, answer.message()))?;
        let nobody = server.user("nobody", &[]).await.map_err(|error| describe(&error))?;
        let refused = Api::new(nobody, Duration::from_secs(5)).get(&at("v1").path()).await?;
        check(refused.status == 403, format!("a user without rights got {}", refused.status))
    })
}

pub(crate) fn a_component_is_paused_and_restarted(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let mut server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        server.pause(Component::ApiServer).await.map_err(|error| describe(&error))?;
        let api = Api::new(server.client(), Duration::from_secs(1));
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

pub(crate) fn two_api_servers_share_a_store(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let second = binaries.apiserver.clone();
        let builder = Local::builder(binaries.clone()).second_apiserver(second);
        let mut server = builder.start().await.map_err(|error| describe(&error))?;
        server.install_crds(&[crd()]).await.map_err(|error| describe(&error))?;
        let other = server.second_api().ok_or("no second server")?;
        check(server.second_version() == Some(server.version()), "the second server is of another release")?;
        let widgets = Resource::namespaced("example.com", "v1", "widgets", "default");
        let apply = Query::new().manager("test").on(widgets.path_of("a"));
        server.api().patch(&apply, PatchKind::Apply, &widget("v1", "a", 1)).await?.ok()?;
        let read = other.get(&widgets.path_of("a")).await?.ok()?.json();
        check(read["spec"]["size"] == 1, format!("the second server reads {read}"))?;
        server.kill(Component::ApiServer).map_err(|error| describe(&error))?;
        check(server.api().get("/version").await.is_err(), "a killed server answered")?;
        other.get(&widgets.path_of("a")).await?.ok()?;
        server.restart(Component::ApiServer).await.map_err(|error| describe(&error))?;
        server.api().get(&widgets.path_of("a")).await?.ok()?;
        Ok(())
    })
}

pub(crate) fn audit_log_and_controllers_work(binaries: &Binaries) -> Result<(), Failed> {
    let managed = binaries.controller_manager.is_some();
    block(async {
        let policy = json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [
            {"level": "Metadata", "verbs": ["create"], "resources": [{"group": "", "resources": ["namespaces"]}]},
            {"level": "None"},
        ]});
        let mut builder = Local::builder(binaries.clone()).audit(policy);
        if managed {
            builder = builder.controllers(["namespace"]);
        }
        let server = builder.start().await.map_err(|error| describe(&error))?;
        let api = server.api();
        let namespaces = Resource::cluster_wide("", "v1", "namespaces");
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "audited"}});
        api.post(&namespaces.path(), &namespace).await?.ok()?;
        let events = server.audit_log().map_err(|error| describe(&error))?;
        let named = |name: &str| events.iter().any(|event| event["objectRef"]["name"] == name);
        check(named("audited"), format!("no event tells of the namespace: {events:?}"))?;
        check(events.iter().all(|event| event["verb"] == "create"), "the policy is not kept")?;
        // Only a controller empties a namespace and finishes its deletion.
        api.delete(&namespaces.path_of("audited")).await?.ok()?;
        let mut gone = false;
        let end = Instant::now() + Duration::from_secs(if managed { 40 } else { 2 });
        while !gone && Instant::now() < end {
            gone = api.get(&namespaces.path_of("audited")).await?.status == 404;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let log = server.log_tail(Component::ControllerManager);
        check(gone == managed, format!("the namespace is gone: {gone}, a manager runs: {managed}\n{log}"))
    })
}
