//! Who migrates: the built-in migration also when it is cut and when it is hindered, the control plane, and a command of
//! the subject.

use std::time::Duration;

use serde_json::{Value, json};

use super::admission::Registered;
use super::command;
use super::stage::Stage;
use super::storage::{look, run, settled, stored, tell};
use crate::converter::proxy::{Fault, WITNESSED};
use crate::evidence::{Driven, Names, Seen};
use crate::operate::in_tree::{migrate_in_tree, offered};
use crate::operate::migrate::{Migrated, Pace, migrate};
use crate::operate::proof::{self, Proof};
use crate::subject::objects::Planned;
use crdproof_envtest::api::{PatchKind, Resource, definitions};
use crdproof_envtest::{ClusterError, Server};

/// How long the control plane may take.
const WITHIN: Duration = Duration::from_secs(120);

/// How long a migration that gets nowhere is watched.
const WATCHED: Duration = Duration::from_secs(8);

/// The object that cannot be moved.
const UNMOVABLE: &str = "crdproof-unmovable";

/// Who migrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Driver {
    BuiltIn,
    InTree,
    Command,
}

impl Driver {
    /// The first part of its steps; the built-in migration has those of the journey itself.
    fn steps(self) -> &'static str {
        match self {
            Self::BuiltIn => "",
            Self::InTree => "migrate-in-tree/",
            Self::Command => "migrate-command/",
        }
    }
}

/// Both states of the CRD, and the objects: everything that it takes to go back and to come again.
pub(super) struct Cycle<'c> {
    pub(super) objects: &'c [Planned],
    pub(super) old: &'c str,
    pub(super) new: &'c str,
    /// The CRD that stores the old version.
    pub(super) before: &'c Value,
    /// The CRD that stores the new version.
    pub(super) after: &'c Value,
}

/// Begins and ends with all objects at the new version, which is the stored one.
pub(super) async fn travel(stage: &mut Stage<'_>, cycle: &Cycle<'_>) -> Result<(), ClusterError> {
    // Where neither etcd nor a tap tells what is stored, nothing of this could be judged.
    if stage.tap.is_none() && !matches!(stage.server, Server::Local(_)) {
        return Ok(());
    }
    cut(stage, cycle).await?;
    unmovable(stage, cycle, Driver::BuiltIn).await?;
    if stage.subject.file.migration.is_some() && stage.server.kubeconfig().is_some() {
        migrated(stage, cycle, Driver::Command).await?;
        unmovable(stage, cycle, Driver::Command).await?;
    }
    if stage.in_tree && offered(&stage.api).await?.is_some() {
        migrated(stage, cycle, Driver::InTree).await?;
        second(stage, cycle).await?;
        unmovable(stage, cycle, Driver::InTree).await?;
    }
    Ok(())
}

/// Brings all objects back to the old version, and makes the new one the stored one. A guest is stored at the old one, too.
async fn rewind(stage: &mut Stage<'_>, cycle: &Cycle<'_>, guest: Option<&Value>) -> Result<(), ClusterError> {
    stage.step("rewind");
    stage.redefine("flip back", cycle.before).await?;
    settled(stage, cycle.objects, cycle.old).await?;
    run(stage, cycle.old).await?;
    if let Some(guest) = guest {
        stage.api.post(&stage.kind.at(cycle.old).path(), guest).await?.ok()?;
    }
    stage.redefine("flip", cycle.after).await?;
    settled(stage, cycle.objects, cycle.new).await
}

/// The built-in migration is cut in the middle, and started again.
async fn cut(stage: &mut Stage<'_>, cycle: &Cycle<'_>) -> Result<(), ClusterError> {
    rewind(stage, cycle, None).await?;
    stage.step("cut");
    let kind = Resource::cluster_wide(&stage.crd.group, cycle.new, &stage.crd.names.plural);
    let half = u32::try_from(cycle.objects.len().div_ceil(2)).unwrap_or(1).max(1);
    let pace = Pace { page: half, ..Pace::default() };
    let page_done = tokio::sync::Notify::new();
    let mut progress = |_: &Migrated| page_done.notify_one();
    tokio::select! {
        biased;
        // What is dropped here is a migration that has just asked for its second page.
        () = page_done.notified() => {}
        ended = migrate(&stage.api, &kind, pace, &mut progress) => drop(ended?),
    }
    look(stage).await?;
    stage.step("resume");
    let driven = built_in(stage).await?;
    stage.see(Seen::Driven(driven));
    look(stage).await
}

/// A whole migration by somebody else, which the built-in one goes after to see whether anything is left.
async fn migrated(stage: &mut Stage<'_>, cycle: &Cycle<'_>, driver: Driver) -> Result<(), ClusterError> {
    let step = |name: &str| format!("{}{name}", driver.steps());
    rewind(stage, cycle, None).await?;
    stage.step(&step("ready"));
    look(stage).await?;
    stage.step(&step("done"));
    let ended = drive(stage, cycle, driver, WITHIN).await?;
    stage.see(Seen::Driven(ended));
    look(stage).await?;
    stage.step(&step("again"));
    let second = run(stage, cycle.new).await?;
    tell(stage, "second", &second);
    Ok(())
}

/// One object cannot be written: admission refuses it.
async fn unmovable(stage: &mut Stage<'_>, cycle: &Cycle<'_>, driver: Driver) -> Result<(), ClusterError> {
    let Some(planned) = cycle.objects.iter().find(|planned| planned.version == cycle.old) else { return Ok(()) };
    let mut guest = planned.object.clone();
    guest["metadata"]["name"] = json!(UNMOVABLE);
    guest["metadata"]["labels"][WITNESSED.0] = json!(WITNESSED.1);
    rewind(stage, cycle, Some(&guest)).await?;
    if let Some(registered) = Registered::new(stage, &["*"], planned).await? {
        registered.witness.refuse(Some(UNMOVABLE));
        stage.step(&format!("{}unmovable", driver.steps()));
        stage.see(Seen::Names(Names {
            what: "cannot be moved".to_owned(),
            versions: vec![cycle.old.to_owned()],
            names: vec![UNMOVABLE.to_owned()],
        }));
        let before = registered.witness.count();
        let ended = drive(stage, cycle, driver, WITHIN).await;
        let refused = registered.witness.since(before).iter().filter(|seen| !seen.allowed).count();
        registered.withdraw().await?;
        stage.see(Seen::Driven(ended?));
        stage.count("writes of it that were refused", refused);
        let stored = stored(stage).await?;
        stage.see(Seen::Stored(stored));
        stage.look_at_definition().await?;
    }
    stage.step("rewind");
    // Whatever the driver made of it: both versions may be stored, and now everything can be moved.
    remember(stage, cycle).await?;
    run(stage, cycle.new).await?;
    stage.api.delete(&stage.path(cycle.new, UNMOVABLE)).await?;
    Ok(())
}

/// After a migration by the control plane the CRD is flipped back, and a second migration is begun that gets nowhere.
async fn second(stage: &mut Stage<'_>, cycle: &Cycle<'_>) -> Result<(), ClusterError> {
    // Only our own etcd says what is stored while nothing can be converted.
    let (Some(_), Server::Local(_)) = (&stage.tap, stage.server) else { return Ok(()) };
    stage.step("rewind");
    stage.redefine("flip back", cycle.before).await?;
    settled(stage, cycle.objects, cycle.old).await?;
    stage.step("migrate-in-tree/second");
    let fail = |stage: &Stage<'_>, fault| stage.tap.iter().for_each(|tap| tap.fail(Clone::clone(&fault)));
    fail(stage, Some(Fault::Towards(cycle.old.to_owned())));
    let driven = drive(stage, cycle, Driver::InTree, WATCHED).await;
    let stored = stored(stage).await;
    stage.look_at_definition().await?;
    fail(stage, None);
    stage.see(Seen::Driven(driven?));
    stage.see(Seen::Stored(stored?));
    stage.step("rewind");
    remember(stage, cycle).await?;
    stage.redefine("flip", cycle.after).await?;
    settled(stage, cycle.objects, cycle.new).await
}

/// Writes both versions into `storedVersions`, so that no version can be removed by mistake.
async fn remember(stage: &Stage<'_>, cycle: &Cycle<'_>) -> Result<(), ClusterError> {
    let both = json!({"status": {"storedVersions": [cycle.old, cycle.new]}});
    let path = definitions().part_of(&stage.crd.name, "status");
    stage.api.patch(&path, PatchKind::Merge, &both).await?.ok()?;
    Ok(())
}

async fn drive(stage: &Stage<'_>, cycle: &Cycle<'_>, driver: Driver, within: Duration) -> Result<Driven, ClusterError> {
    match driver {
        Driver::BuiltIn => built_in(stage).await,
        Driver::Command => command::migrate(stage, cycle.new).await,
        Driver::InTree => in_tree(stage, cycle, within).await,
    }
}

/// As `crdproof migrate` does it.
async fn built_in(stage: &Stage<'_>) -> Result<Driven, ClusterError> {
    let outlook = proof::outlook(&stage.api, &stage.crd.name).await?;
    let proof = proof::migrate_until_proven(&stage.api, &outlook, Pace::default(), &mut |_, _| {}).await?;
    let (done, said) = match proof {
        Proof::Proven { passes } => (true, format!("nothing was left to move after {} passes", passes.len())),
        Proof::Restless { passes } => (false, format!("each of {} passes stored objects anew", passes.len())),
        Proof::Failed { passes } => {
            let failed = passes.last().map(|pass| pass.failed.clone()).unwrap_or_default();
            (false, failed.iter().map(|(name, why)| format!("{name}: {why}")).collect::<Vec<_>>().join("; "))
        }
    };
    Ok(Driven { done, ended: true, said })
}

async fn in_tree(stage: &Stage<'_>, cycle: &Cycle<'_>, within: Duration) -> Result<Driven, ClusterError> {
    let Some(offered) = offered(&stage.api).await? else {
        return Ok(Driven { done: false, ended: true, said: "this server offers no migration".into() });
    };
    let Some(planned) = cycle.objects.iter().find(|planned| planned.version == cycle.new).or(cycle.objects.first())
    else {
        return Ok(Driven { done: false, ended: true, said: "there is no object to write".into() });
    };
    let mut bystander = planned.object.clone();
    bystander["metadata"]["name"] = json!("bystander");
    let kind = stage.kind.at(&planned.version);
    let ended = migrate_in_tree(&stage.api, &kind, offered, &bystander, within).await?;
    Ok(Driven {
        done: ended.state == "Succeeded",
        ended: matches!(ended.state.as_str(), "Succeeded" | "Failed"),
        said: format!("{offered}: {} {}", ended.state, ended.message).trim().to_owned(),
    })
}
