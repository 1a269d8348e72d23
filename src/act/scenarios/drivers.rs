//! Storage migration by the built-in migration, also interrupted and obstructed, by the control plane, and by a command
//! of the subject.

use std::time::Duration;

use serde_json::{Value, json};

use super::admission::Registered;
use super::command;
use super::session::Session;
use super::storage::{look, migrate_all, record_pass, settled, stored};
use crate::converter::proxy::{Fault, RECORDED};
use crate::evidence::{Action, Driven, Listing, Names, Observation, PassName, StorageStep};
use crate::operate::in_tree::{migrate_in_tree, offered};
use crate::operate::migrate::{Migrated, Pace, migrate};
use crate::operate::proof::{self, Proof};
use crate::subject::objects::Planned;
use crdproof_envtest::api::{PatchKind, Resource, definitions};
use crdproof_envtest::{ClusterError, Server};

/// The timeout of the control plane.
const CONTROL_PLANE_TIMEOUT: Duration = Duration::from_secs(120);

/// The time for which a migration without progress is watched.
const STALLED_TIMEOUT: Duration = Duration::from_secs(8);

/// The name of an object that cannot be updated.
const UNMOVABLE: &str = "crdproof-unmovable";

/// The tool that migrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Driver {
    BuiltIn,
    InTree,
    Command,
}

/// The steps in which a migration by one driver is recorded.
struct DriverSteps {
    ready: StorageStep,
    done: StorageStep,
    again: StorageStep,
    unmovable: StorageStep,
}

impl Driver {
    fn steps(self) -> DriverSteps {
        use StorageStep as Step;
        let (ready, done, again, unmovable) = match self {
            Self::BuiltIn => (Step::Ready, Step::Migrate, Step::MigrateAgain, Step::Unmovable),
            Self::InTree => (Step::InTreeReady, Step::InTreeDone, Step::InTreeAgain, Step::InTreeUnmovable),
            Self::Command => (Step::CommandReady, Step::CommandDone, Step::CommandAgain, Step::CommandUnmovable),
        };
        DriverSteps { ready, done, again, unmovable }
    }
}

/// Both states of the CRD, and the objects.
pub(super) struct Cycle<'c> {
    pub(super) objects: &'c [Planned],
    pub(super) old: &'c str,
    pub(super) new: &'c str,
    /// The CRD that stores the old version.
    pub(super) before: &'c Value,
    /// The CRD that stores the new version.
    pub(super) after: &'c Value,
}

/// Starts and ends with all objects stored at the new version.
pub(super) async fn run(session: &mut Session<'_>, cycle: &Cycle<'_>) -> Result<(), ClusterError> {
    // Without etcd or a proxy the storage versions are unknown, and nothing could be judged.
    if session.proxy.is_none() && !matches!(session.server, Server::Local(_)) {
        return Ok(());
    }
    cut(session, cycle).await?;
    unmovable(session, cycle, Driver::BuiltIn).await?;
    if session.subject.file.migration.is_some() && session.server.kubeconfig().is_some() {
        migrated(session, cycle, Driver::Command).await?;
        unmovable(session, cycle, Driver::Command).await?;
    }
    if session.in_tree && offered(&session.api).await?.is_some() {
        migrated(session, cycle, Driver::InTree).await?;
        second(session, cycle).await?;
        unmovable(session, cycle, Driver::InTree).await?;
    }
    Ok(())
}

/// Returns all objects to the old version, and makes the new one the storage version. Stores the extra object at the
/// old one, too.
async fn rewind(session: &mut Session<'_>, cycle: &Cycle<'_>, guest: Option<&Value>) -> Result<(), ClusterError> {
    session.step(StorageStep::Rewind);
    session.redefine(Action::FlipBack, cycle.before).await?;
    settled(session, cycle.objects, cycle.old).await?;
    migrate_all(session, cycle.old).await?;
    if let Some(guest) = guest {
        session.api.post(&session.kind.at(cycle.old).path(), guest).await?.ok()?;
    }
    session.redefine(Action::Flip, cycle.after).await?;
    settled(session, cycle.objects, cycle.new).await
}

/// Interrupts the built-in migration, and starts it again.
async fn cut(session: &mut Session<'_>, cycle: &Cycle<'_>) -> Result<(), ClusterError> {
    rewind(session, cycle, None).await?;
    session.step(StorageStep::Cut);
    let kind = Resource::cluster_wide(&session.crd.group, cycle.new, &session.crd.names.plural);
    let half = u32::try_from(cycle.objects.len().div_ceil(2)).unwrap_or(1).max(1);
    let pace = Pace { page: half, ..Pace::default() };
    let page_done = tokio::sync::Notify::new();
    let mut progress = |_: &Migrated| page_done.notify_one();
    tokio::select! {
        biased;
        // Drops a migration that has just requested its second page.
        () = page_done.notified() => {}
        ended = migrate(&session.api, &kind, pace, &mut progress) => drop(ended?),
    }
    look(session).await?;
    session.step(StorageStep::Resume);
    let driven = built_in(session).await?;
    session.see(Observation::Driven(driven));
    look(session).await
}

/// Runs a whole migration by another tool, and the built-in one afterwards to see if anything is left.
async fn migrated(session: &mut Session<'_>, cycle: &Cycle<'_>, driver: Driver) -> Result<(), ClusterError> {
    let steps = driver.steps();
    rewind(session, cycle, None).await?;
    session.step(steps.ready);
    look(session).await?;
    session.step(steps.done);
    let ended = drive(session, cycle, driver, CONTROL_PLANE_TIMEOUT).await?;
    session.see(Observation::Driven(ended));
    look(session).await?;
    session.step(steps.again);
    let second = migrate_all(session, cycle.new).await?;
    record_pass(session, PassName::Second, &second);
    Ok(())
}

/// Migrates while admission refuses to update one object.
async fn unmovable(session: &mut Session<'_>, cycle: &Cycle<'_>, driver: Driver) -> Result<(), ClusterError> {
    let Some(planned) = cycle.objects.iter().find(|planned| planned.version == cycle.old) else { return Ok(()) };
    let mut guest = planned.object.clone();
    guest["metadata"]["name"] = json!(UNMOVABLE);
    guest["metadata"]["labels"][RECORDED.0] = json!(RECORDED.1);
    rewind(session, cycle, Some(&guest)).await?;
    if let Some(registered) = Registered::new(session, &["*"], planned).await? {
        registered.recorder.refuse(Some(UNMOVABLE));
        session.step(driver.steps().unmovable);
        session.see(Observation::Names(Names {
            what: Listing::Unmovable,
            versions: vec![cycle.old.to_owned()],
            names: vec![UNMOVABLE.to_owned()],
        }));
        let before = registered.recorder.count();
        let ended = drive(session, cycle, driver, CONTROL_PLANE_TIMEOUT).await;
        let refused = registered.recorder.since(before).iter().filter(|seen| !seen.allowed).count();
        registered.withdraw().await?;
        session.see(Observation::Driven(ended?));
        session.see(Observation::RefusedWrites(refused as u64));
        let stored = stored(session).await?;
        session.see(Observation::Stored(stored));
        session.look_at_definition().await?;
    }
    session.step(StorageStep::Rewind);
    // In any case both versions may be stored, and now everything can be updated.
    remember(session, cycle).await?;
    migrate_all(session, cycle.new).await?;
    session.api.delete(&session.path(cycle.new, UNMOVABLE)).await?;
    Ok(())
}

/// Changes the storage version back after a migration by the control plane, and starts a second migration that cannot
/// make progress.
async fn second(session: &mut Session<'_>, cycle: &Cycle<'_>) -> Result<(), ClusterError> {
    // Only our own etcd shows the storage versions while nothing can be converted.
    let (Some(_), Server::Local(_)) = (&session.proxy, session.server) else { return Ok(()) };
    session.step(StorageStep::Rewind);
    session.redefine(Action::FlipBack, cycle.before).await?;
    settled(session, cycle.objects, cycle.old).await?;
    session.step(StorageStep::InTreeSecond);
    let fail = |session: &Session<'_>, fault| session.proxy.iter().for_each(|proxy| proxy.fail(Clone::clone(&fault)));
    fail(session, Some(Fault::Towards(cycle.old.to_owned())));
    let driven = drive(session, cycle, Driver::InTree, STALLED_TIMEOUT).await;
    let stored = stored(session).await;
    session.look_at_definition().await?;
    fail(session, None);
    session.see(Observation::Driven(driven?));
    session.see(Observation::Stored(stored?));
    session.step(StorageStep::Rewind);
    remember(session, cycle).await?;
    session.redefine(Action::Flip, cycle.after).await?;
    settled(session, cycle.objects, cycle.new).await
}

/// Writes both versions into `storedVersions`, so that no version can be removed by mistake.
async fn remember(session: &Session<'_>, cycle: &Cycle<'_>) -> Result<(), ClusterError> {
    let both = json!({"status": {"storedVersions": [cycle.old, cycle.new]}});
    let path = definitions().part_of(&session.crd.name, "status");
    session.api.patch(&path, PatchKind::Merge, &both).await?.ok()?;
    Ok(())
}

async fn drive(
    session: &Session<'_>,
    cycle: &Cycle<'_>,
    driver: Driver,
    within: Duration,
) -> Result<Driven, ClusterError> {
    match driver {
        Driver::BuiltIn => built_in(session).await,
        Driver::Command => command::migrate(session, cycle.new).await,
        Driver::InTree => in_tree(session, cycle, within).await,
    }
}

/// Migrates like `crdproof migrate`.
async fn built_in(session: &Session<'_>) -> Result<Driven, ClusterError> {
    let outlook = proof::outlook(&session.api, &session.crd.name).await?;
    let proof = proof::migrate_until_proven(&session.api, &outlook, Pace::default(), &mut |_, _| {}).await?;
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

async fn in_tree(session: &Session<'_>, cycle: &Cycle<'_>, within: Duration) -> Result<Driven, ClusterError> {
    let Some(offered) = offered(&session.api).await? else {
        return Ok(Driven { done: false, ended: true, said: "this server offers no migration".into() });
    };
    let Some(planned) = cycle.objects.iter().find(|planned| planned.version == cycle.new).or(cycle.objects.first())
    else {
        return Ok(Driven { done: false, ended: true, said: "there is no object to write".into() });
    };
    let mut bystander = planned.object.clone();
    bystander["metadata"]["name"] = json!("bystander");
    let kind = session.kind.at(&planned.version);
    let ended = migrate_in_tree(&session.api, &kind, offered, &bystander, within).await?;
    Ok(Driven {
        done: ended.state == "Succeeded",
        ended: matches!(ended.state.as_str(), "Succeeded" | "Failed"),
        said: format!("{offered}: {} {}", ended.state, ended.message).trim().to_owned(),
    })
}
