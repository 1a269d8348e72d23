//! `crdproof migrate` on a real server: dry run, killed halfway, started again, verified and trimmed.

use std::process::Command;

use crdproof_envtest::api::{PatchKind, Resource, definitions};
use crdproof_envtest::local::{Binaries, Local};
use futures::StreamExt as _;
use libtest_mimic::Failed;
use serde_json::json;

use crate::support::{block, check, crd, describe, forbid_rewrites, said, stored_versions, widget};

/// Enough objects to kill the migration halfway.
const OBJECTS: u32 = 1500;

fn migrate(server: &Local, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.args(["migrate", "widgets.example.com", "--kubeconfig"]).arg(server.kubeconfig()).args(more);
    command
}

async fn count_stored_at(server: &Local, version: &str) -> Result<usize, Failed> {
    let stored = server.stored("example.com", "widgets").await.map_err(|error| describe(&error))?;
    Ok(stored.iter().filter(|object| object["apiVersion"] == format!("example.com/{version}").as_str()).count())
}

/// A server with objects that are stored at v1, while v2 is the storage version.
async fn start_flipped(binaries: &Binaries) -> Result<Local, Failed> {
    let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
    server.install_crds(&[crd()]).await.map_err(|error| describe(&error))?;
    let api = server.api();
    let kind = Resource::namespaced("example.com", "v1", "widgets", "default");
    let writes = (0..OBJECTS).map(|number| {
        let (api, path) = (api.clone(), kind.path());
        async move { api.post(&path, &widget("v1", &format!("w-{number}"), number % 9)).await?.ok() }
    });
    let made: Vec<_> = futures::stream::iter(writes).buffer_unordered(32).collect().await;
    made.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| describe(&error))?;
    let flip = json!([
        {"op": "replace", "path": "/spec/versions/0/storage", "value": false},
        {"op": "replace", "path": "/spec/versions/1/storage", "value": true},
    ]);
    api.patch(&definitions().path_of("widgets.example.com"), PatchKind::Json, &flip).await?.ok()?;
    // The change has taken effect once a write is stored at the new version.
    for number in 0..500 {
        let name = format!("probe-{number}");
        api.post(&kind.path(), &widget("v1", &name, 1)).await?;
        let landed = count_stored_at(&server, "v2").await? > 0;
        api.delete(&kind.path_of(&name)).await?;
        if landed {
            return Ok(server);
        }
    }
    Err("the flip did not take effect".into())
}

pub(crate) fn a_killed_migration_is_resumed_and_verified(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = start_flipped(binaries).await?;
        let all = usize::try_from(OBJECTS)?;
        let dry = migrate(&server, &["--trim"]).output()?;
        check(dry.status.success() && said(&dry).contains("nothing was changed"), said(&dry))?;
        check(count_stored_at(&server, "v1").await? == all, "a dry run moved objects")?;

        let mut first = migrate(&server, &["--allow-changes", "--trim", "--together", "2"]).spawn()?;
        let killed = loop {
            let moved = count_stored_at(&server, "v2").await?;
            if moved > 20 {
                first.kill()?;
                first.wait()?;
                break moved;
            }
            if first.try_wait()?.is_some() {
                return Err("it ended before it could be killed".into());
            }
        };
        let left = count_stored_at(&server, "v1").await?;
        check(left > 0, format!("nothing was left after {killed} objects"))?;
        check(stored_versions(&server.api()).await? == json!(["v1", "v2"]), "trimmed without proof")?;

        let second = migrate(&server, &["--allow-changes", "--trim"]).output()?;
        check(second.status.success(), said(&second))?;
        check(said(&second).contains("nothing is stored at another version than v2"), said(&second))?;
        check(
            count_stored_at(&server, "v2").await? == all && count_stored_at(&server, "v1").await? == 0,
            "objects are left at v1",
        )?;
        check(stored_versions(&server.api()).await? == json!(["v2"]), "storedVersions is not trimmed")?;

        let third = migrate(&server, &["--allow-changes"]).output()?;
        check(said(&third).contains(&format!("pass 1: {all} objects, 0 rewritten")), said(&third))
    })
}

pub(crate) fn objects_that_cannot_be_migrated_are_reported(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = start_flipped(binaries).await?;
        forbid_rewrites(&server.api(), "w-7", "w-7 is not to be touched").await?;
        let output = migrate(&server, &["--allow-changes", "--trim"]).output()?;
        check(output.status.code() == Some(1), said(&output))?;
        let words = ["default/w-7", "w-7 is not to be touched", "1 objects could not be written"];
        check(words.iter().all(|word| said(&output).contains(word)), said(&output))?;
        check(stored_versions(&server.api()).await? == json!(["v1", "v2"]), "trimmed although an object is left")
    })
}
