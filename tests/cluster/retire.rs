//! `crdproof retire` on a real server: dry run, killed in every step, started again; and the conditions that keep a
//! version.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crdproof_envtest::api::{Api, PatchKind, Query, Resource, definitions};
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::support::{block, check, crd, describe, forbid_rewrites, said, stored_versions, widget};

/// Objects, each with managedFields entries at v1.
const OBJECTS: u32 = 60;

fn command(server: &Local, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.args(["retire", "widgets.example.com", "v1", "--drain", "1s", "--kubeconfig"]).arg(server.kubeconfig());
    command.args(more);
    command
}

fn widgets(version: &str) -> Resource {
    Resource::namespaced("example.com", version, "widgets", "default")
}

/// A server with objects that alice applied and bob labelled at v1, their storage version.
async fn start_prepared(binaries: &Binaries) -> Result<Local, Failed> {
    let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
    server.install_crds(&[crd()]).await.map_err(|error| describe(&error))?;
    let api = server.api();
    for number in 0..OBJECTS {
        let name = format!("w-{number}");
        let path = widgets("v1").path_of(&name);
        let alice = Query::new().manager("alice").on(&path);
        api.patch(&alice, PatchKind::Apply, &widget("v1", &name, number % 9)).await?.ok()?;
        let label = json!({"metadata": {"labels": {"bob": "yes"}}});
        api.patch(&Query::new().manager("bob").on(&path), PatchKind::Merge, &label).await?.ok()?;
    }
    Ok(server)
}

async fn versions(api: &Api) -> Result<Value, Failed> {
    let definition = api.get(&definitions().path_of("widgets.example.com")).await?.ok()?.json();
    let versions = definition["spec"]["versions"].as_array().cloned().unwrap_or_default();
    Ok(versions.iter().map(|version| json!([version["name"], version["served"], version["storage"]])).collect())
}

/// Starts the command, and kills it when it reports the start of a step.
fn kill_at_step(server: &Local, step: &str) -> Result<(), Failed> {
    let mut child = command(server, &["--allow-changes"]).stderr(Stdio::piped()).spawn()?;
    let stderr = child.stderr.take().ok_or("no output")?;
    let begins = format!("► {step}:");
    let mut lines = Vec::new();
    let reached = BufReader::new(stderr).lines().map_while(Result::ok).any(|line| {
        lines.push(line.clone());
        line.starts_with(&begins)
    });
    child.kill()?;
    child.wait()?;
    check(reached, format!("it never came to {step}:\n{}", lines.join("\n")))
}

pub(crate) fn a_killed_retirement_is_resumed(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = start_prepared(binaries).await?;
        let api = server.api();
        let owner = api.get(&widgets("v1").path_of("w-0")).await?.ok()?.json();
        let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child", "ownerReferences": [
            {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w-0", "uid": owner["metadata"]["uid"]}]}});
        api.post(&Resource::namespaced("", "v1", "configmaps", "default").path(), &child).await?.ok()?;
        let before = api.get(&widgets("v2").path()).await?.ok()?.json();

        let dry = command(&server, &[]).output()?;
        check(dry.status.success(), said(&dry))?;
        let words = [
            "1. flip: v2 becomes",
            "7. remove",
            "1 objects name an owner at v1",
            "default/child",
            "nothing was changed",
        ];
        check(words.iter().all(|word| said(&dry).contains(word)), said(&dry))?;
        check(versions(&api).await? == json!([["v1", true, true], ["v2", true, false]]), "a dry run changed the CRD")?;

        for step in ["flip", "migrate", "clean", "trim", "unserve", "check", "remove"] {
            kill_at_step(&server, step)?;
        }
        let last = command(&server, &["--allow-changes"]).output()?;
        check(last.status.success() && said(&last).contains("v1 is retired"), said(&last))?;
        check(versions(&api).await? == json!([["v2", true, true]]), "v1 is not gone")?;
        check(stored_versions(&api).await? == json!(["v2"]), "storedVersions is not trimmed")?;
        let stored = server.stored("example.com", "widgets").await.map_err(|error| describe(&error))?;
        let named = stored.iter().filter(|object| object.to_string().contains("example.com/v1\"")).count();
        check(stored.len() == usize::try_from(OBJECTS)? && named == 0, format!("{named} of {} name v1", stored.len()))?;
        clients_still_work(&api, &before).await?;

        let again = command(&server, &["--allow-changes"]).output()?;
        check(again.status.success() && said(&again).contains("has no version v1"), said(&again))
    })
}

/// Asserts that the content is unchanged, that alice and bob own the same fields, and that both can still write.
async fn clients_still_work(api: &Api, before: &Value) -> Result<(), Failed> {
    for was in before["items"].as_array().into_iter().flatten() {
        let name = was["metadata"]["name"].as_str().unwrap_or_default();
        let path = widgets("v2").path_of(name);
        let now = api.get(&path).await?.ok()?.json();
        let same = now["spec"] == was["spec"] && now["metadata"]["labels"] == was["metadata"]["labels"];
        check(same && now["metadata"]["generation"] == was["metadata"]["generation"], format!("{was}\n{now}"))?;
        let entries = |object: &Value| -> Vec<Value> {
            let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
            entries
                .map(|entry| json!([entry["manager"], entry["operation"], entry["fieldsV1"], entry["time"]]))
                .collect()
        };
        check(entries(&now) == entries(was), format!("{:?}\n{:?}", entries(was), entries(&now)))?;
    }
    let path = widgets("v2").path_of("w-3");
    let theirs = |size: u32| {
        let mut intent = widget("v2", "w-3", size);
        intent["metadata"]["labels"] = json!({});
        intent
    };
    let stranger = Query::new().manager("carol").on(&path);
    let refused = api.patch(&stranger, PatchKind::Apply, &theirs(8)).await?;
    check(refused.status == 409 && refused.message().contains("alice"), refused.message())?;
    // Alice withdraws fields that she applied at a version that is gone.
    let alice = Query::new().manager("alice").on(&path);
    let skeleton = json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "w-3"}});
    let withdrawn = api.patch(&alice, PatchKind::Apply, &skeleton).await?.ok()?.json();
    check(
        withdrawn["spec"]["size"].is_null() && withdrawn["metadata"]["labels"] == json!({"bob": "yes"}),
        withdrawn.to_string(),
    )?;
    api.patch(&stranger, PatchKind::Apply, &theirs(8)).await?.ok()?;
    Ok(())
}

pub(crate) fn failed_preconditions_keep_a_version(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = start_prepared(binaries).await?;
        let api = server.api();
        let refused = |more: &[&str], word: &str| -> Result<(), Failed> {
            let output = command(&server, more).output()?;
            let text = said(&output);
            check(output.status.code() == Some(1) && text.contains(word) && text.contains("help:"), text)
        };
        refused(&["--to", "v9"], "does not serve v9")?;
        let path = definitions().path_of("widgets.example.com");
        let serve = |served: bool| json!([{"op": "replace", "path": "/spec/versions/1/served", "value": served}]);
        api.patch(&path, PatchKind::Json, &serve(false)).await?.ok()?;
        refused(&["--allow-changes"], "serves no version but v1")?;
        api.patch(&path, PatchKind::Json, &serve(true)).await?.ok()?;

        forbid_rewrites(&api, "w-7", "w-7 is not to be touched").await?;
        refused(&["--allow-changes"], "default/w-7")?;
        let flipped = json!([["v1", true, false], ["v2", true, true]]);
        check(versions(&api).await? == flipped, "something was done beyond the gate")?;
        check(stored_versions(&api).await? == json!(["v1", "v2"]), "trimmed although an object is left")
    })
}

/// A version was removed without cleaning its managedFields entries, which blocks every apply: `retire` can still clean
/// them.
pub(crate) fn entries_of_a_removed_version_are_cleaned(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let mut definition = crd();
        definition["spec"]["versions"][0]["storage"] = json!(false);
        definition["spec"]["versions"][1]["storage"] = json!(true);
        server.install_crds(&[definition]).await.map_err(|error| describe(&error))?;
        let api = server.api();
        let alice = Query::new().manager("alice").on(widgets("v1").path_of("a"));
        api.patch(&alice, PatchKind::Apply, &widget("v1", "a", 3)).await?.ok()?;
        let remove = json!([{"op": "remove", "path": "/spec/versions/0"}]);
        api.patch(&definitions().path_of("widgets.example.com"), PatchKind::Json, &remove).await?.ok()?;

        let bob = Query::new().manager("bob").on(widgets("v2").path_of("a"));
        let mut label = json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "a"}});
        label["metadata"]["labels"] = json!({"bob": "yes"});
        let mut status = 0;
        for _ in 0..200 {
            let dry = format!("{bob}&dryRun=All");
            status = api.patch(&dry, PatchKind::Apply, &label).await?.status;
            if status == 500 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        check(status == 500, format!("an entry at a version that is gone blocks nobody: {status}"))?;
        let output = command(&server, &["--allow-changes"]).output()?;
        check(output.status.success() && said(&output).contains("no entry names v1"), said(&output))?;
        api.patch(&bob, PatchKind::Apply, &label).await?.ok()?;
        let refused = api.patch(&bob, PatchKind::Apply, &widget("v2", "a", 4)).await?;
        check(refused.status == 409 && refused.message().contains("alice"), refused.message())
    })
}
