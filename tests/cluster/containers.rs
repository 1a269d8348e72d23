//! k3s and kind, with a webhook on this machine that the server inside the container reaches.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crdproof::converter::proxy::{Call, Listener, Reply};
use crdproof::converter::review;
use crdproof::evidence::Scenario;
use crdproof_envtest::api::{PatchKind, Query, Resource, definitions};
use crdproof_envtest::k3s::{Datastore, K3s};
use crdproof_envtest::kind::Kind;
use crdproof_envtest::{ClusterError, Server};
use crdproof_schema::kubernetes::KubeVersion;
use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};

use crate::endings;
use crate::kind_operator::a_webhook_in_a_pod_is_tested_where_it_runs;
use crate::scenarios::hold_on;
use crate::support::{block, check, crd, describe, widget};

/// The release of the images.
pub(crate) const RELEASE: &str = "1.36.4";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("kind::converts_through_the_host_and_leaves_nothing", kind_converts),
        Trial::ignorable_test("kind::leaves_nothing_when_interrupted", kind_interrupted),
        Trial::ignorable_test(
            "kind::a_webhook_in_a_pod_is_tested_where_it_runs",
            a_webhook_in_a_pod_is_tested_where_it_runs,
        ),
        Trial::ignorable_test("k3s::converts_through_the_host_and_leaves_nothing", k3s_converts),
        Trial::ignorable_test("k3s::leaves_nothing_when_killed", k3s_killed),
    ]
}

pub(crate) fn release() -> KubeVersion {
    RELEASE.parse().expect("a release")
}

/// Turns a missing program or image into a skip, and any other error into a failure.
pub(crate) fn skip_if_missing(checked: Result<(), ClusterError>) -> Result<Option<Completion>, Failed> {
    match checked {
        Ok(()) => Ok(None),
        Err(error @ ClusterError::Missing { .. }) => {
            Ok(Some(Completion::ignored_with(format!("{error}; {}", error.help()))))
        }
        Err(error) => Err(describe(&error)),
    }
}

/// The kind program that the repository's scripts built, otherwise the one on `PATH`.
pub(crate) fn kind_program() -> PathBuf {
    let env = |name: &str| std::env::var_os(name);
    let root = crdproof_envtest::binaries::Store::default_root(&env).unwrap_or_default();
    let entries = std::fs::read_dir(root.join("kind")).into_iter().flatten().flatten();
    let mut built = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("kind-v"));
    built.next().map_or_else(|| "kind".into(), |entry| entry.path())
}

fn k3s_builder() -> Result<crdproof_envtest::k3s::Builder, ClusterError> {
    let real = K3s::builder(release());
    if real.check().is_ok() {
        return Ok(real);
    }
    // A locally built image that answers like k3s, on the same port and with the same files.
    let image = format!("crdproof/k3s-stand-in:v{RELEASE}");
    let stand_in = K3s::builder(release()).image(&image).datastore(Datastore::Etcd);
    stand_in.check().map(|()| stand_in)
}

#[expect(clippy::print_stderr, reason = "how long a cluster takes is worth a line")]
fn kind_converts() -> Result<Completion, Failed> {
    let builder = Kind::builder(release()).program(kind_program());
    if let Some(skip) = skip_if_missing(builder.check())? {
        return Ok(skip);
    }
    let started = Instant::now();
    let name = block(async {
        let kind = builder.start().await.map_err(|error| describe(&error))?;
        let name = kind.name().to_owned();
        eprintln!("kind cluster {name}: {:.1} s until its API server answered", started.elapsed().as_secs_f64());
        let identity = kind.api().identity().await?;
        let migrates = identity.serves("storagemigration.k8s.io", "v1beta1");
        check(migrates, format!("no storage migration: {:?}", identity.groups))?;
        let server = Server::Kind(Box::new(kind));
        converts(&server).await?;
        hold_on(&server, &[Scenario::Storage, Scenario::Apply], 20).await?;
        server.stop().await.map_err(|error| describe(&error))?;
        Ok::<_, Failed>(name)
    })?;
    eprintln!("kind cluster {name}: {:.1} s from nothing to nothing", started.elapsed().as_secs_f64());
    nothing_is_left_of(&name)?;
    Ok(Completion::Completed)
}

fn k3s_converts() -> Result<Completion, Failed> {
    let builder = match k3s_builder() {
        Ok(builder) => builder,
        Err(error) => return skip_if_missing(Err(error)).map(|skip| skip.unwrap_or(Completion::Completed)),
    };
    block(async {
        let builder = builder.apiserver_arg("max-requests-inflight=401");
        let server = Server::K3s(Box::new(builder.start().await.map_err(|error| describe(&error))?));
        check(server.version() == release(), format!("it says {}", server.version()))?;
        converts(&server).await?;
        hold_on(&server, &[Scenario::Serving], 18).await?;
        server.stop().await.map_err(|error| describe(&error))
    })?;
    Ok(Completion::Completed)
}

/// Installs a CRD whose conversion webhook is a listener of this process, and reads an object at both versions.
pub(crate) async fn converts(server: &Server) -> Result<(), Failed> {
    let access = server.host_access().ok_or("this server does not reach us")?;
    let webhook = |call: Call| {
        let review: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        let marked = |object: &Value, to: &str| {
            let mut object = object.clone();
            object["apiVersion"] = json!(to);
            object["spec"]["size"] = json!(if to.ends_with("v2") { 2 } else { 1 });
            Ok(object)
        };
        match review::answer(&review, marked) {
            Ok(answer) => Reply::json(&answer),
            Err(why) => Reply::text(400, why),
        }
    };
    let listener = Listener::start(&access, webhook).await.map_err(|error| describe(&error))?;
    server.install_crds(&[listener.redirect(&crd())]).await.map_err(|error| describe(&error))?;
    let api = server.api();
    let widgets = Resource::namespaced("example.com", "v1", "widgets", "default");
    let apply = Query::new().manager("test").on(widgets.path_of("a"));
    api.patch(&apply, PatchKind::Apply, &widget("v1", "a", 1)).await?.ok()?;
    for (version, size) in [("v1", 1), ("v2", 2)] {
        let read = api.get(&widgets.at(version).path_of("a")).await?.ok()?.json();
        check(read["spec"]["size"] == size, format!("{version}: {read}"))?;
    }
    // Scenarios install a kind of that name, and never change an existing one.
    let definition = definitions().path_of("widgets.example.com");
    api.delete(&definition).await?.ok()?;
    for _ in 0..100 {
        if api.get(&definition).await?.status == 404 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the CRD does not go away".into())
}

fn kind_interrupted() -> Result<Completion, Failed> {
    let builder = Kind::builder(release()).program(kind_program());
    if let Some(skip) = skip_if_missing(builder.check())? {
        return Ok(skip);
    }
    let kind = kind_program().display().to_string();
    let mut tool =
        endings::tool(&["env", "run", RELEASE, "--provider", "kind", "--kind", &kind, "--", "sleep", "300"])?;
    // Interrupt the creation: the node exists, the cluster does not yet.
    let name = endings::within(Duration::from_secs(120), || {
        docker(&["ps", "--format", "{{.Names}}"]).lines().find_map(|name| {
            let cluster = name.strip_suffix("-control-plane")?;
            cluster.contains(&format!("-{}-", tool.id())).then(|| cluster.to_owned())
        })
    });
    let name = name.ok_or("no node appeared")?;
    endings::signal("INT", tool.id())?;
    let status = tool.wait()?;
    check(status.code() == Some(6), format!("ended with {status}"))?;
    nothing_is_left_of(&name)?;
    Ok(Completion::Completed)
}

fn k3s_killed() -> Result<Completion, Failed> {
    let builder = match k3s_builder() {
        Ok(builder) => builder,
        Err(error) => return skip_if_missing(Err(error)).map(|skip| skip.unwrap_or(Completion::Completed)),
    };
    let image = builder.image_name();
    let mut tool =
        endings::tool(&["env", "run", RELEASE, "--provider", "k3s", "--image", &image, "--", "sleep", "300"])?;
    let name = endings::within(Duration::from_secs(60), || {
        docker(&["ps", "--format", "{{.Names}}"])
            .lines()
            .find(|name| name.contains(&format!("-{}-", tool.id())))
            .map(str::to_owned)
    });
    let name = name.ok_or("no container appeared")?;
    tool.kill()?;
    tool.wait()?;
    nothing_is_left_of(&name)?;
    Ok(Completion::Completed)
}

pub(crate) fn docker(arguments: &[&str]) -> String {
    let output = Command::new("docker").args(arguments).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).into_owned()
}

/// Asserts that no container and no network of this name is left.
pub(crate) fn nothing_is_left_of(name: &str) -> Result<(), Failed> {
    let left = || {
        let all =
            docker(&["ps", "--all", "--format", "{{.Names}}"]) + &docker(&["network", "ls", "--format", "{{.Name}}"]);
        all.lines().filter(|line| line.contains(name)).map(str::to_owned).collect::<Vec<_>>()
    };
    let gone = endings::within(Duration::from_secs(60), || left().is_empty().then_some(()));
    check(gone.is_some(), format!("left: {:?}", left()))
}
