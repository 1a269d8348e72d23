//! The storage version is flipped, objects are migrated, the old version is retired.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::drivers::{self, Cycle};
use super::stage::{Ask, Stage};
use crate::evidence::Seen;
use crate::operate::migrate::{Migrated, Pace, migrate};
use crate::operate::settle::{SETTLED, Store, Watched, ask, settle, version_of};
use crate::subject::objects::Planned;
use crdproof_envtest::api::{PatchKind, Query, Resource, definitions, object_key};
use crdproof_envtest::{ClusterError, Server};

/// The journey, from another served version to the one that the subject stores.
pub(super) async fn travel(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    let Some(new) = stage.crd.storage().map(|version| version.name.clone()) else { return Ok(()) };
    let Some(old) = stage.served().into_iter().find(|version| *version != new).map(str::to_owned) else {
        return Ok(());
    };
    stage.step("install");
    let before = stage.definition(|crd| store(crd, &old));
    stage.install(&before).await?;
    let objects = stage.planned();
    for planned in &objects {
        stage.create(Ask::new("create", &planned.version, &planned.name), &Query::new(), &planned.object).await?;
    }
    look(stage).await?;

    stage.step("flip");
    let after = stage.definition(|crd| store(crd, &new));
    stage.redefine("flip", &after).await?;
    settled(stage, &objects, &new).await?;
    stage.step("mixed");
    look(stage).await?;
    // Removing a version that is still stored must be refused.
    stage.step("refusal");
    let without = stage.definition(|crd| {
        store(crd, &new);
        remove(crd, &old);
    });
    stage.redefine("remove while stored", &without).await?;

    // Somebody applied at the old version, and will be remembered by it.
    stage.step("entries");
    if let Some(planned) = objects.iter().find(|planned| planned.version == old) {
        let alice = Query::new().manager("alice").force();
        let ask = Ask::new("apply", &old, &planned.name);
        stage.patch(ask, PatchKind::Apply, &alice, &planned.object).await?;
    }
    stage.step("ready");
    look(stage).await?;

    stage.step("migrate");
    let first = run(stage, &new).await?;
    tell(stage, "first", &first);
    look(stage).await?;
    stage.step("migrate-again");
    let second = run(stage, &new).await?;
    tell(stage, "second", &second);
    look(stage).await?;
    let cycle = Cycle { objects: &objects, old: &old, new: &new, before: &before, after: &after };
    drivers::travel(stage, &cycle).await?;

    // Once more from the beginning, while others write.
    stage.step("busy");
    stage.redefine("flip back", &before).await?;
    settled(stage, &objects, &old).await?;
    stage.redefine("flip", &after).await?;
    settled(stage, &objects, &new).await?;
    busy(stage, &objects, &old, &new).await?;
    stage.step("trim");
    trim(stage, &new).await?;
    stage.step("retire");
    stage.redefine("remove", &without).await?;
    let path = stage.kind.at(&old).path();
    let (_, gone) = stage.until(&path, |answer| answer.status == 404).await?;
    stage.note(&Ask::new("list removed", &old, ""), Value::Null, &gone, Value::Null);
    retired(stage, &objects, &old, &new).await?;
    let left: Vec<&str> = stage.served().into_iter().filter(|version| *version != old).collect();
    stage.snapshot(&left, &Query::new()).await?;

    // Back again: the old manifest is installed once more, and stores at the old version.
    stage.step("back");
    stage.redefine("flip back", &before).await?;
    stage.api.until_served(std::slice::from_ref(&before)).await?;
    settled(stage, &objects, &old).await?;
    look(stage).await
}

/// An object with an entry of a version that is gone: who applies to it now, and what helps.
async fn retired(stage: &mut Stage<'_>, objects: &[Planned], old: &str, new: &str) -> Result<(), ClusterError> {
    let Some(planned) = objects.iter().find(|planned| planned.version == old) else { return Ok(()) };
    stage.step("retired-entries");
    let read = stage.get(Ask::new("read", new, &planned.name)).await?.json();
    let mut wish = json!({"apiVersion": read["apiVersion"], "kind": read["kind"], "metadata": {"name": planned.name}});
    wish["metadata"]["labels"] = json!({"crdproof.dev/applied": "yes"});
    let bob = Query::new().manager("bob");
    stage.patch(Ask::new("apply", new, &planned.name), PatchKind::Apply, &bob, &wish).await?;
    let remedy = json!({"metadata": {"managedFields": [{}]}});
    stage.patch(Ask::new("remedy", new, &planned.name), PatchKind::Merge, &Query::new(), &remedy).await?;
    stage.patch(Ask::new("apply after the remedy", new, &planned.name), PatchKind::Apply, &bob, &wish).await?;
    // The object is compared later, so bob takes his label back.
    wish["metadata"]["labels"] = json!({});
    stage.patch(Ask::new("withdraw after the remedy", new, &planned.name), PatchKind::Apply, &bob, &wish).await?;
    stage.step("retire");
    Ok(())
}

/// Everything that can be seen without changing anything: objects at every version, and what is stored.
pub(super) async fn look(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    let served = stage.served();
    stage.snapshot(&served, &Query::new()).await?;
    see_store(stage).await
}

/// What is stored at which version, and the CRD.
pub(super) async fn see_store(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    let stored = stored(stage).await?;
    stage.see(Seen::Stored(stored));
    stage.look_at_definition().await
}

pub(super) fn store(crd: &mut Value, version: &str) {
    for one in crd["spec"]["versions"].as_array_mut().into_iter().flatten() {
        one["storage"] = json!(one["name"] == version);
    }
}

fn remove(crd: &mut Value, version: &str) {
    if let Some(versions) = crd["spec"]["versions"].as_array_mut() {
        versions.retain(|one| one["name"] != version);
    }
}

/// The version that each object is stored at: from etcd where it is ours, else by what the tap is asked.
pub(super) async fn stored(stage: &Stage<'_>) -> Result<BTreeMap<String, String>, ClusterError> {
    if let Server::Local(local) = stage.server {
        let objects = local.stored(&stage.crd.group, &stage.crd.names.plural).await?;
        return Ok(objects.iter().map(|object| (object_key(object), version_of(object))).collect());
    }
    let mut stored = BTreeMap::new();
    // What the CRD serves now; a version of the subject may be gone already.
    let crd = stage.api.get(&definitions().path_of(&stage.crd.name)).await?.ok()?.json();
    let served = crd["spec"]["versions"].as_array().into_iter().flatten().find(|version| version["served"] == true);
    let (Some(tap), Some(asked)) = (&stage.tap, served.and_then(|version| version["name"].as_str())) else {
        return Ok(stored);
    };
    let list = stage.list(asked, &Query::new()).await?;
    for item in list["items"].as_array().into_iter().flatten() {
        stored.insert(object_key(item), ask(&stage.api, tap, &stage.kind.at(asked), item).await?);
    }
    Ok(stored)
}

/// Waits until the flip has taken effect at every API server, and says how many writes were late.
pub(super) async fn settled(stage: &mut Stage<'_>, objects: &[Planned], wanted: &str) -> Result<(), ClusterError> {
    let Some(planned) = objects.iter().find(|planned| planned.version == wanted).or(objects.first()) else {
        return Ok(());
    };
    let apis = stage.server.apis();
    let store = Store::of(stage.server, stage.served().into_iter().next().unwrap_or_default());
    let watched = Watched { apis: &apis, store, kind: &stage.kind, object: &planned.object, tap: stage.tap.as_ref() };
    // The journey's own requests have all been answered; what else is under way the tap knows.
    let seen = settle(&watched, wanted, Vec::new()).await?;
    stage.count("writes at the old version after the flip", seen.servers.iter().map(|server| server.late).sum());
    // The server that is least sure of it counts.
    stage.count(
        "writes at the new version in a row",
        if seen.is_settled() {
            SETTLED
        } else {
            seen.servers.iter().map(|server| server.row).min().unwrap_or(0).min(SETTLED - 1)
        },
    );
    Ok(())
}

/// Migrates while others create, change and delete objects through both versions.
async fn busy(stage: &mut Stage<'_>, objects: &[Planned], old: &str, new: &str) -> Result<(), ClusterError> {
    let Some(planned) = objects.iter().find(|planned| planned.version == old) else { return Ok(()) };
    let kind = Resource::cluster_wide(&stage.crd.group, new, &stage.crd.names.plural);
    let (api, objects_at) = (stage.api.clone(), stage.kind.clone());
    let label = |number: usize| json!({"metadata": {"labels": {"crdproof.dev/busy": number.to_string()}}});
    let writers = async {
        let mut refused = 0;
        for number in 0..WRITES {
            let name = format!("busy-{number}");
            let mut object = planned.object.clone();
            object["metadata"]["name"] = json!(name);
            let at = |version: &str| objects_at.at(version);
            let made = api.post(&at(old).path(), &object).await?;
            let changed = api.patch(&at(new).path_of(&name), PatchKind::Merge, &label(number)).await?;
            let known = api.patch(&at(new).path_of(&planned.name), PatchKind::Merge, &label(number)).await?;
            refused += [&made, &changed, &known].into_iter().filter(|answer| !answer.is_success()).count();
            if number % 2 == 0 {
                refused += usize::from(!api.delete(&at(old).path_of(&name)).await?.is_success());
            }
        }
        Ok::<usize, ClusterError>(refused)
    };
    let mut silent = |_: &Migrated| {};
    let migrating = migrate(&stage.api, &kind, Pace::default(), &mut silent);
    let (migrated, refused) = futures::future::join(migrating, writers).await;
    let (migrated, refused) = (migrated?, refused?);
    tell(stage, "busy", &migrated);
    stage.count("busy: writes of others that were refused", refused);
    // A pass without disturbance, for what was written at the old version's last moment.
    let last = run(stage, new).await?;
    tell(stage, "last", &last);
    stage.get(Ask::new("written by others", new, &planned.name)).await?;
    let stored = stored(stage).await?;
    stage.see(Seen::Stored(stored));
    for number in (0..WRITES).filter(|number| number % 2 == 1) {
        stage.api.delete(&stage.path(new, &format!("busy-{number}"))).await?;
    }
    let tidy = json!({"metadata": {"labels": {"crdproof.dev/busy": null}}});
    stage.api.patch(&stage.path(new, &planned.name), PatchKind::Merge, &tidy).await?;
    Ok(())
}

/// How often others write during a migration.
const WRITES: usize = 20;

/// The built-in migration, through a served version.
pub(super) async fn run(stage: &mut Stage<'_>, version: &str) -> Result<Migrated, ClusterError> {
    let kind = Resource::cluster_wide(&stage.crd.group, version, &stage.crd.names.plural);
    migrate(&stage.api, &kind, Pace::default(), &mut |_| {}).await
}

pub(super) fn tell(stage: &mut Stage<'_>, which: &str, migrated: &Migrated) {
    let counts = [
        ("seen", migrated.seen),
        ("rewritten", migrated.rewritten),
        ("overtaken", migrated.overtaken),
        ("failed", migrated.failures),
    ];
    for (what, count) in counts {
        stage.count(&format!("{which}: {what}"), usize::try_from(count).unwrap_or(usize::MAX));
    }
}

/// Leaves only the new version in `storedVersions`.
async fn trim(stage: &mut Stage<'_>, version: &str) -> Result<(), ClusterError> {
    let path = definitions().part_of(&stage.crd.name, "status");
    let changes = json!({"status": {"storedVersions": [version]}});
    let answer = stage.api.patch(&path, PatchKind::Merge, &changes).await?;
    let answered = if answer.is_success() { Value::Null } else { answer.json() };
    stage.note(&Ask::new("trim", "", ""), changes, &answer, answered);
    stage.look_at_definition().await
}
