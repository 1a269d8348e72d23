//! Changes the storage version, migrates objects, and removes the old version.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::drivers::{self, Cycle};
use super::session::{Request, Session};
use crate::evidence::{Action, MigrationPass, Observation, PassName, Settled, StorageStep};
use crate::operate::migrate::{Migrated, Pace, migrate};
use crate::operate::settle::{Store, Watched, settle, stored_version_by_proxy, version_of};
use crate::subject::objects::Planned;
use crdproof_envtest::api::{PatchKind, Query, Resource, definitions, object_key};
use crdproof_envtest::{ClusterError, Server};

/// Runs the scenario, from another served version to the storage version of the subject.
pub(super) async fn run(session: &mut Session<'_>) -> Result<(), ClusterError> {
    let Some(new) = session.crd.storage().map(|version| version.name.clone()) else { return Ok(()) };
    let Some(old) = session.served().into_iter().find(|version| *version != new).map(str::to_owned) else {
        return Ok(());
    };
    session.step(StorageStep::Install);
    let before = session.definition(|crd| store(crd, &old));
    session.install(&before).await?;
    let objects = session.planned();
    for planned in &objects {
        session
            .create(Request::new(Action::Create, &planned.version, &planned.name), &Query::new(), &planned.object)
            .await?;
    }
    look(session).await?;

    session.step(StorageStep::Flip);
    let after = session.definition(|crd| store(crd, &new));
    session.redefine(Action::Flip, &after).await?;
    settled(session, &objects, &new).await?;
    session.step(StorageStep::Mixed);
    look(session).await?;
    // The server must refuse to remove a version that is still stored.
    session.step(StorageStep::Refusal);
    let without = session.definition(|crd| {
        store(crd, &new);
        remove(crd, &old);
    });
    session.redefine(Action::RemoveWhileStored, &without).await?;

    // Apply at the old version, which leaves a managedFields entry.
    session.step(StorageStep::Entries);
    if let Some(planned) = objects.iter().find(|planned| planned.version == old) {
        let alice = Query::new().manager("alice").force();
        let request = Request::new(Action::Apply, &old, &planned.name);
        session.patch(request, PatchKind::Apply, &alice, &planned.object).await?;
    }
    session.step(StorageStep::Ready);
    look(session).await?;

    session.step(StorageStep::Migrate);
    let first = migrate_all(session, &new).await?;
    record_pass(session, PassName::First, &first);
    look(session).await?;
    session.step(StorageStep::MigrateAgain);
    let second = migrate_all(session, &new).await?;
    record_pass(session, PassName::Second, &second);
    look(session).await?;
    let cycle = Cycle { objects: &objects, old: &old, new: &new, before: &before, after: &after };
    drivers::run(session, &cycle).await?;

    // Start again from the beginning, while others write.
    session.step(StorageStep::Busy);
    session.redefine(Action::FlipBack, &before).await?;
    settled(session, &objects, &old).await?;
    session.redefine(Action::Flip, &after).await?;
    settled(session, &objects, &new).await?;
    busy(session, &objects, &old, &new).await?;
    session.step(StorageStep::Trim);
    trim(session, &new).await?;
    session.step(StorageStep::Retire);
    session.redefine(Action::Remove, &without).await?;
    let path = session.kind.at(&old).path();
    let (_, gone) = session.until(&path, |answer| answer.status == 404).await?;
    session.note(&Request::new(Action::ListRemoved, &old, ""), Value::Null, &gone, Value::Null);
    retired(session, &objects, &old, &new).await?;
    let left: Vec<&str> = session.served().into_iter().filter(|version| *version != old).collect();
    session.snapshot(&left, &Query::new()).await?;

    // Back again: install the old manifest, which stores at the old version.
    session.step(StorageStep::Back);
    session.redefine(Action::FlipBack, &before).await?;
    session.api.until_served(std::slice::from_ref(&before)).await?;
    settled(session, &objects, &old).await?;
    look(session).await
}

/// Applies to an object with an entry of a removed version, and tries a remedy.
async fn retired(session: &mut Session<'_>, objects: &[Planned], old: &str, new: &str) -> Result<(), ClusterError> {
    let Some(planned) = objects.iter().find(|planned| planned.version == old) else { return Ok(()) };
    session.step(StorageStep::RetiredEntries);
    let read = session.get(Request::new(Action::Read, new, &planned.name)).await?.json();
    let mut wish = json!({"apiVersion": read["apiVersion"], "kind": read["kind"], "metadata": {"name": planned.name}});
    wish["metadata"]["labels"] = json!({"crdproof.dev/applied": "yes"});
    let bob = Query::new().manager("bob");
    session.patch(Request::new(Action::Apply, new, &planned.name), PatchKind::Apply, &bob, &wish).await?;
    let remedy = json!({"metadata": {"managedFields": [{}]}});
    session.patch(Request::new(Action::Remedy, new, &planned.name), PatchKind::Merge, &Query::new(), &remedy).await?;
    session.patch(Request::new(Action::ApplyAfterTheRemedy, new, &planned.name), PatchKind::Apply, &bob, &wish).await?;
    // The object is compared later, so bob withdraws his label.
    wish["metadata"]["labels"] = json!({});
    session
        .patch(Request::new(Action::WithdrawAfterTheRemedy, new, &planned.name), PatchKind::Apply, &bob, &wish)
        .await?;
    session.step(StorageStep::Retire);
    Ok(())
}

/// Records everything that can be read: objects at every version, and storage versions.
pub(super) async fn look(session: &mut Session<'_>) -> Result<(), ClusterError> {
    let served = session.served();
    session.snapshot(&served, &Query::new()).await?;
    see_store(session).await
}

/// Records the storage version of each object, and the CRD.
pub(super) async fn see_store(session: &mut Session<'_>) -> Result<(), ClusterError> {
    let stored = stored(session).await?;
    session.see(Observation::Stored(stored));
    session.look_at_definition().await
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

/// The storage version of each object: from our own etcd, otherwise from reviews that the proxy receives.
pub(super) async fn stored(session: &Session<'_>) -> Result<BTreeMap<String, String>, ClusterError> {
    if let Server::Local(local) = session.server {
        let objects = local.stored(&session.crd.group, &session.crd.names.plural).await?;
        return Ok(objects.iter().map(|object| (object_key(object), version_of(object))).collect());
    }
    let mut stored = BTreeMap::new();
    // The versions that the CRD serves now; a version of the subject may already be removed.
    let crd = session.api.get(&definitions().path_of(&session.crd.name)).await?.ok()?.json();
    let served = crd["spec"]["versions"].as_array().into_iter().flatten().find(|version| version["served"] == true);
    let (Some(proxy), Some(asked)) = (&session.proxy, served.and_then(|version| version["name"].as_str())) else {
        return Ok(stored);
    };
    let list = session.list(asked, &Query::new()).await?;
    for item in list["items"].as_array().into_iter().flatten() {
        stored.insert(
            object_key(item),
            stored_version_by_proxy(&session.api, proxy, &session.kind.at(asked), item).await?,
        );
    }
    Ok(stored)
}

/// Waits until the change has taken effect at every API server, and records the number of late writes.
pub(super) async fn settled(session: &mut Session<'_>, objects: &[Planned], wanted: &str) -> Result<(), ClusterError> {
    let Some(planned) = objects.iter().find(|planned| planned.version == wanted).or(objects.first()) else {
        return Ok(());
    };
    let apis = session.server.apis();
    let store = Store::of(session.server, session.served().into_iter().next().unwrap_or_default());
    let watched =
        Watched { apis: &apis, store, kind: &session.kind, object: &planned.object, proxy: session.proxy.as_ref() };
    // The scenario's own requests all have responses; the proxy knows other pending ones.
    let seen = settle(&watched, wanted, Vec::new()).await?;
    // The server with the fewest consecutive writes counts.
    let least = seen.servers.iter().map(|server| server.row).min().unwrap_or(0);
    let in_a_row = if seen.is_settled() { Settled::ENOUGH } else { least.min(Settled::ENOUGH - 1) };
    let late: usize = seen.servers.iter().map(|server| server.late).sum();
    session.see(Observation::Settled(Settled { late: late as u64, in_a_row: in_a_row as u64 }));
    Ok(())
}

/// Migrates while others create, change and delete objects through both versions.
async fn busy(session: &mut Session<'_>, objects: &[Planned], old: &str, new: &str) -> Result<(), ClusterError> {
    let Some(planned) = objects.iter().find(|planned| planned.version == old) else { return Ok(()) };
    let kind = Resource::cluster_wide(&session.crd.group, new, &session.crd.names.plural);
    let (api, objects_at) = (session.api.clone(), session.kind.clone());
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
    let migrating = migrate(&session.api, &kind, Pace::default(), &mut silent);
    let (migrated, refused) = futures::future::join(migrating, writers).await;
    let (migrated, refused) = (migrated?, refused?);
    record_pass(session, PassName::Busy, &migrated);
    session.see(Observation::RefusedWrites(refused as u64));
    // A last pass without other writes, for objects that were written at the old version just before.
    let last = migrate_all(session, new).await?;
    record_pass(session, PassName::Last, &last);
    session.get(Request::new(Action::WrittenByOthers, new, &planned.name)).await?;
    let stored = stored(session).await?;
    session.see(Observation::Stored(stored));
    for number in (0..WRITES).filter(|number| number % 2 == 1) {
        session.api.delete(&session.path(new, &format!("busy-{number}"))).await?;
    }
    let tidy = json!({"metadata": {"labels": {"crdproof.dev/busy": null}}});
    session.api.patch(&session.path(new, &planned.name), PatchKind::Merge, &tidy).await?;
    Ok(())
}

/// The interval of writes by others during a migration.
const WRITES: usize = 20;

/// Runs the built-in migration, through a served version.
pub(super) async fn migrate_all(session: &mut Session<'_>, version: &str) -> Result<Migrated, ClusterError> {
    let kind = Resource::cluster_wide(&session.crd.group, version, &session.crd.names.plural);
    migrate(&session.api, &kind, Pace::default(), &mut |_| {}).await
}

/// Records the result of a pass of the built-in migration.
pub(super) fn record_pass(session: &mut Session<'_>, pass: PassName, migrated: &Migrated) {
    session.see(Observation::Pass(MigrationPass {
        pass,
        seen: migrated.seen,
        rewritten: migrated.rewritten,
        overtaken: migrated.overtaken,
        failed: migrated.failures,
    }));
}

/// Leaves only the new version in `storedVersions`.
async fn trim(session: &mut Session<'_>, version: &str) -> Result<(), ClusterError> {
    let path = definitions().part_of(&session.crd.name, "status");
    let changes = json!({"status": {"storedVersions": [version]}});
    let answer = session.api.patch(&path, PatchKind::Merge, &changes).await?;
    let answered = if answer.is_success() { Value::Null } else { answer.json() };
    session.note(&Request::new(Action::Trim, "", ""), changes, &answer, answered);
    session.look_at_definition().await
}
