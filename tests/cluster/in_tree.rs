//! Storage migration by the control plane itself, compared with ours.

use std::time::Duration;

use crdproof::converter::endpoint::{Function, Request};
use crdproof::converter::proxy::{ConversionProxy, Fault};
use crdproof::converter::review;
use crdproof::operate::in_tree::{CONTROLLERS, Ended, migrate_in_tree, offered, switches};
use crdproof_envtest::HostAccess;
use crdproof_envtest::api::{Resource, definitions};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_schema::kubernetes::KubeVersion;
use libtest_mimic::{Completion, Failed};
use serde_json::{Value, json};

use crate::support::{block, check, crd, describe, forbid_rewrites, stored_versions, widget};

const OBJECTS: u32 = 40;

async fn start(binaries: &Binaries) -> Result<Local, Failed> {
    let version: KubeVersion = Local::builder(binaries.clone()).version().map_err(|error| describe(&error))?;
    let (gates, api) = switches(version.minor);
    let mut builder = Local::builder(binaries.clone()).controllers(CONTROLLERS);
    for gate in gates {
        builder = builder.feature_gate(gate, true);
    }
    if let Some(api) = api {
        builder = builder.runtime_config(api, true);
    }
    builder.start().await.map_err(|error| describe(&error))
}

async fn flip(server: &Local, to: usize) -> Result<(), Failed> {
    let mut definition = server.api().get(&definitions().path_of("widgets.example.com")).await?.ok()?.json();
    for (index, version) in definition["spec"]["versions"].as_array_mut().into_iter().flatten().enumerate() {
        version["storage"] = json!(index == to);
    }
    server.api().put(&definitions().path_of("widgets.example.com"), &definition).await?.ok()?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    Ok(())
}

async fn stored(server: &Local) -> Result<Vec<String>, Failed> {
    let objects = server.stored("example.com", "widgets").await.map_err(|error| describe(&error))?;
    let mut versions: Vec<String> =
        objects.iter().map(|object| object["apiVersion"].as_str().unwrap_or_default().to_owned()).collect();
    versions.sort();
    versions.dedup();
    Ok(versions)
}

async fn run(server: &Local, version: &str) -> Result<Ended, Failed> {
    let api = server.api();
    let kind = Resource::namespaced("example.com", version, "widgets", "default");
    let Some(offered) = offered(&api).await? else { return Err("no migration is offered".into()) };
    let bystander = widget(version, "bystander", 1);
    Ok(migrate_in_tree(&api, &kind, offered, &bystander, Duration::from_secs(120)).await?)
}

#[expect(clippy::print_stdout, reason = "what each release does is worth knowing")]
pub(crate) fn the_control_plane_migrates(binaries: &Binaries) -> Result<Completion, Failed> {
    let version = Local::builder(binaries.clone()).version().map_err(|error| describe(&error))?;
    if !version.at_least(30) {
        return Ok(Completion::ignored_with("no storage migration before 1.30"));
    }
    block(async {
        let server = start(binaries).await?;
        server.install_crds(&[crd()]).await.map_err(|error| describe(&error))?;
        let api = server.api();
        let kind = Resource::namespaced("example.com", "v1", "widgets", "default");
        for number in 0..OBJECTS {
            api.post(&kind.path(), &widget("v1", &format!("w-{number}"), number)).await?.ok()?;
        }
        flip(&server, 1).await?;
        let ended = run(&server, "v2").await?;
        println!(
            "{version}: {ended:?}, stored {:?}, storedVersions {}",
            stored(&server).await?,
            stored_versions(&server.api()).await?
        );
        check(ended.state == "Succeeded", format!("{ended:?}"))?;
        check(stored(&server).await? == ["example.com/v2"], "objects are left at v1")?;
        // 1.36 introduced trimming.
        let expected = if version.at_least(36) { json!(["v2"]) } else { json!(["v1", "v2"]) };
        check(
            stored_versions(&server.api()).await? == expected,
            format!("storedVersions is {}", stored_versions(&server.api()).await?),
        )?;
        Ok(Completion::Completed)
    })
}

/// A failed migration trims `storedVersions` all the same.
#[expect(clippy::print_stdout, reason = "a fact about a server that may change")]
pub(crate) fn a_failed_migration_trims_stored_versions(binaries: &Binaries) -> Result<Completion, Failed> {
    let version = Local::builder(binaries.clone()).version().map_err(|error| describe(&error))?;
    if !version.at_least(36) {
        return Ok(Completion::ignored_with("storedVersions is not trimmed before 1.36"));
    }
    block(async {
        let server = start(binaries).await?;
        server.install_crds(&[crd()]).await.map_err(|error| describe(&error))?;
        let api = server.api();
        let kind = Resource::namespaced("example.com", "v1", "widgets", "default");
        for number in 0..4 {
            api.post(&kind.path(), &widget("v1", &format!("w-{number}"), number)).await?.ok()?;
        }
        forbid_rewrites(&api, "w-2", "not to be touched").await?;
        flip(&server, 1).await?;
        let ended = run(&server, "v2").await?;
        let (left, trimmed) = (stored(&server).await?, stored_versions(&server.api()).await?);
        println!("{version}: {ended:?}, stored {left:?}, storedVersions {trimmed}");
        check(ended.state == "Failed", format!("{ended:?}"))?;
        check(left.contains(&"example.com/v1".to_owned()), "the object was moved after all")?;
        check(trimmed == json!(["v2"]), format!("the server has become careful: storedVersions is {trimmed}"))?;
        Ok(Completion::Completed)
    })
}

/// Effect of starting a second migration on `storedVersions`, while nothing can be migrated yet.
#[expect(clippy::print_stdout, reason = "a fact about a server that may change")]
pub(crate) fn a_second_migration_changes_stored_versions(binaries: &Binaries) -> Result<Completion, Failed> {
    let version = Local::builder(binaries.clone()).version().map_err(|error| describe(&error))?;
    if !version.at_least(36) {
        return Ok(Completion::ignored_with("storedVersions is not trimmed before 1.36"));
    }
    block(async {
        let server = start(binaries).await?;
        let rename = Function(|request: &Request| {
            let review: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            let answer = review::answer(&review, |object, to| {
                let mut object = object.clone();
                object["apiVersion"] = json!(to);
                Ok(object)
            });
            (200, answer.unwrap_or_default().to_string().into_bytes())
        });
        let access = HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
        let proxy =
            ConversionProxy::start(&access, std::sync::Arc::new(rename)).await.map_err(|error| describe(&error))?;
        server.install_crds(&[proxy.redirect(&crd())]).await.map_err(|error| describe(&error))?;
        let api = server.api();
        let kind = Resource::namespaced("example.com", "v1", "widgets", "default");
        for number in 0..4 {
            api.post(&kind.path(), &widget("v1", &format!("w-{number}"), number)).await?.ok()?;
        }
        flip(&server, 1).await?;
        let first = run(&server, "v2").await?;
        check(first.state == "Succeeded", format!("{first:?}"))?;
        flip(&server, 0).await?;
        let before = stored_versions(&server.api()).await?;
        // Nothing can be written at v1 now, so the second migration runs and gets nowhere.
        proxy.fail(Some(Fault::Towards("v1".into())));
        let Some(offered) = offered(&api).await? else { return Err("no migration is offered".into()) };
        let bystander = widget("v2", "bystander", 1);
        let at_v2 = Resource::namespaced("example.com", "v2", "widgets", "default");
        let second = migrate_in_tree(&api, &at_v2, offered, &bystander, Duration::from_secs(8)).await?;
        let during = stored_versions(&server.api()).await?;
        println!(
            "{version}: storedVersions {before} before, {during} while the second migration is {:?} ({}); stored {:?}",
            second.state,
            second.message,
            stored(&server).await?
        );
        check(stored(&server).await? == ["example.com/v2"], "something was migrated after all")?;
        check(before == json!(["v2", "v1"]), format!("storedVersions is {before}"))?;
        check(during == json!(["v1"]), format!("the server has become careful: storedVersions is {during}"))?;
        proxy.fail(None);
        proxy.stop().await;
        Ok(Completion::Completed)
    })
}
