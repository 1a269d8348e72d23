//! Retires a version step by step, and verifies every step before the next one: change the storage version, migrate,
//! clean the entries that name the version, trim `storedVersions`, stop serving it, remove it. The state is read from
//! the cluster, so that an interrupted retirement can be resumed.

mod claims;
mod clean;
mod definition;
pub mod dependents;
mod entries;

pub use clean::Cleaned;

use std::time::Duration;

use self::clean::{Target, clean};
use self::definition::Definition;
use super::migrate::{Migrated, Pace, migrate};
use super::proof::{self, Outlook, Proof};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, Api, Query, Resource};
use crdproof_envtest::retry;

/// The maximum number of passes that clean entries.
const PASSES: usize = 5;

/// The request of a user.
#[derive(Debug, Clone)]
pub struct RetireRequest {
    /// The CRD.
    pub crd: String,
    /// The version to retire.
    pub version: String,
    /// The new storage version, if the retired one is the storage version; the newest served one by default.
    pub to: Option<String>,
    /// The time that a request may still run after a change: the `--request-timeout` of the API servers, and a margin.
    pub drain: Duration,
    /// The settings of writes.
    pub pace: Pace,
}

/// A step of a retirement, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Changes the storage version.
    Flip,
    /// Stores every object at the new version, and verifies that.
    Migrate,
    /// Replaces entries of managedFields that name the version by entries of the remaining one.
    Clean,
    /// Leaves only the storage version in `storedVersions`.
    Trim,
    /// Stops serving the version.
    Unserve,
    /// Verifies again that no entry names the version, and that nothing is stored at another one.
    Check,
    /// Removes the version from the CRD.
    Remove,
}

impl Step {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flip => "flip",
            Self::Migrate => "migrate",
            Self::Clean => "clean",
            Self::Trim => "trim",
            Self::Unserve => "unserve",
            Self::Check => "check",
            Self::Remove => "remove",
        }
    }
}

/// A failed precondition. The retirement stopped there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub why: String,
    /// The remedy.
    pub help: String,
}

impl Refusal {
    fn new(why: impl Into<String>, help: impl Into<String>) -> Self {
        Self { why: why.into(), help: help.into() }
    }
}

/// The plan of a retirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The remaining steps.
    pub steps: Vec<Step>,
    /// The storage version at the end.
    pub to: String,
    /// The kind at a served version that remains.
    pub kind: Resource,
    /// The current storage version.
    pub storage: String,
    /// The current `status.storedVersions`.
    pub stored: Vec<String>,
    /// True if the CRD still has the version.
    pub listed: bool,
}

/// Progress of a retirement.
#[derive(Debug)]
pub enum RetireEvent<'t> {
    /// A step starts.
    Begins(Step),
    /// Waits for requests that started before a change.
    Waits(Duration),
    /// A pass of the migration, so far.
    Passes(usize, &'t Migrated),
    /// The migration is verified.
    Proven(&'t [Migrated]),
    /// A pass over the entries ended.
    Cleaned(&'t Cleaned),
    /// A step is done and verified.
    Done(Step),
}

/// The receiver of progress.
pub type RetireObserver<'t> = &'t mut (dyn FnMut(RetireEvent<'_>) + Send);

/// A refusal is a result, not an error.
pub type Gated<T> = Result<Result<T, Refusal>, ClusterError>;

/// Reads the remaining steps. Changes nothing.
pub async fn plan(api: &Api, wish: &RetireRequest) -> Gated<Plan> {
    Ok(Definition::read(api, &wish.crd).await?.plan(wish))
}

/// Retires a version. Reads from all servers, and writes through the first.
pub async fn retire(apis: &[Api], wish: &RetireRequest, notify: RetireObserver<'_>) -> Gated<Plan> {
    let Some(api) = apis.first() else {
        return Ok(Err(Refusal::new("there is no API server", "name one")));
    };
    let plan = match plan(api, wish).await? {
        Ok(plan) => plan,
        refused => return Ok(refused),
    };
    let mut work = Work { api, apis, wish, plan: &plan, proven: None };
    for step in plan.steps.iter().copied() {
        notify(RetireEvent::Begins(step));
        if let Err(refusal) = work.take(step, notify).await? {
            return Ok(Err(refusal));
        }
        notify(RetireEvent::Done(step));
    }
    Ok(Ok(plan))
}

/// A retirement in progress.
struct Work<'a> {
    api: &'a Api,
    apis: &'a [Api],
    wish: &'a RetireRequest,
    plan: &'a Plan,
    /// The verified state.
    proven: Option<Outlook>,
}

impl Work<'_> {
    async fn take(&mut self, step: Step, notify: RetireObserver<'_>) -> Gated<()> {
        match step {
            Step::Flip => self.flip().await,
            Step::Migrate => self.migrate(notify).await,
            Step::Clean => self.clean(notify).await,
            Step::Trim => self.trim().await,
            Step::Unserve => self.unserve().await,
            Step::Check => self.check(notify).await,
            Step::Remove => self.remove().await,
        }
    }

    async fn flip(&self) -> Gated<()> {
        let before = self.definition().await?;
        if let Err(refusal) = before.change(self.api, before.flip(&self.plan.to)).await? {
            return Ok(Err(refusal));
        }
        let now = self.definition().await?;
        let flipped = now.storage() == self.plan.to && now.stored().contains(&self.plan.to);
        Ok(if flipped { Ok(()) } else { Err(self.changed()) })
    }

    async fn migrate(&mut self, notify: RetireObserver<'_>) -> Gated<()> {
        // A request that started before the change stores at the old version, whenever it ends.
        self.drain(notify).await?;
        let mut outlook = proof::outlook(self.api, &self.wish.crd).await?;
        if outlook.storage != self.plan.to {
            return Ok(Err(self.changed()));
        }
        outlook.kind = self.plan.kind.clone();
        let mut progress = |number: usize, so_far: &Migrated| notify(RetireEvent::Passes(number, so_far));
        let proof = proof::migrate_until_proven(self.api, &outlook, self.wish.pace, &mut progress).await?;
        Ok(match proof {
            Proof::Proven { passes } => {
                notify(RetireEvent::Proven(&passes));
                self.proven = Some(outlook);
                Ok(())
            }
            Proof::Failed { passes } => Err(unwritten(passes.last().map(|pass| (&pass.failed, pass.failures)))),
            Proof::Restless { .. } => Err(Refusal::new(
                "every pass had to rewrite objects, so nothing is proved",
                "the converter may not be deterministic; `crdproof run --suite converter` says",
            )),
        })
    }

    /// Cleans entries. Once nothing can write at the version any more, a pass must find nothing.
    async fn clean(&self, notify: RetireObserver<'_>) -> Gated<()> {
        let definition = self.definition().await?;
        let served = definition.is_served(&self.wish.version);
        let target = Target {
            kind: self.plan.kind.clone(),
            gone: self.wish.version.clone(),
            served,
            version: definition.version(&self.plan.kind.version).cloned().unwrap_or_default(),
        };
        for _ in 0..PASSES {
            let cleaned = clean(self.api, &target, self.wish.pace).await?;
            notify(RetireEvent::Cleaned(&cleaned));
            if cleaned.failures > 0 {
                return Ok(Err(unwritten(Some((&cleaned.failed, cleaned.failures)))));
            }
            if cleaned.rewritten == 0 {
                return Ok(Ok(()));
            }
        }
        if served {
            return Ok(Ok(()));
        }
        Ok(Err(Refusal::new(
            format!("entries that name {} come back", self.wish.version),
            "find out which client writes managedFields directly, and run the command again",
        )))
    }

    async fn trim(&self) -> Gated<()> {
        let Some(proven) = &self.proven else {
            return Ok(Err(Refusal::new("nothing is proven", "start it again")));
        };
        match proof::trim(self.api, &self.wish.crd, proven).await {
            Err(ClusterError::NotAllowed { why, help }) => return Ok(Err(Refusal::new(why, help))),
            trimmed => trimmed?,
        }
        let stored = self.definition().await?.stored();
        Ok(if stored.contains(&self.wish.version) { Err(self.changed()) } else { Ok(()) })
    }

    async fn unserve(&self) -> Gated<()> {
        let before = self.definition().await?;
        if let Err(refusal) = before.change(self.api, before.unserve(&self.wish.version)).await? {
            return Ok(Err(refusal));
        }
        for api in self.apis {
            if !until(api, &self.plan.kind.at(&self.wish.version), false).await? {
                return Ok(Err(Refusal::new(
                    format!(
                        "{} is still served {} s after `served` was set to false",
                        self.wish.version,
                        retry::TIMEOUT.as_secs()
                    ),
                    "check the API server's log, and run the command again",
                )));
            }
        }
        Ok(Ok(()))
    }

    async fn check(&self, notify: RetireObserver<'_>) -> Gated<()> {
        // A request that started while the version was served may still add an entry.
        self.drain(notify).await?;
        if let Err(refusal) = self.clean(notify).await? {
            return Ok(Err(refusal));
        }
        let definition = self.definition().await?;
        if definition.storage() != self.plan.to || definition.stored().contains(&self.wish.version) {
            return Ok(Err(self.changed()));
        }
        let pass = migrate(self.api, &self.plan.kind, self.wish.pace, &mut |_| {}).await?;
        if pass.failures > 0 {
            return Ok(Err(unwritten(Some((&pass.failed, pass.failures)))));
        }
        Ok(match pass.rewritten {
            0 => Ok(()),
            moved => Err(Refusal::new(
                format!(
                    "{moved} objects were rewritten after the proof; the version is no longer served, and was not removed"
                ),
                format!(
                    "serve {} again, find out which client stores objects at another version, and run the command again",
                    self.wish.version
                ),
            )),
        })
    }

    async fn remove(&self) -> Gated<()> {
        let before = self.definition().await?;
        if let Err(refusal) = before.change(self.api, before.remove(&self.wish.version)).await? {
            return Ok(Err(refusal));
        }
        if self.definition().await?.version(&self.wish.version).is_some() {
            return Ok(Err(self.changed()));
        }
        for api in self.apis {
            if !until(api, &self.plan.kind, true).await? {
                return Ok(Err(Refusal::new(
                    format!("{} is not served any more", self.plan.kind.version),
                    "check the conditions of the CRD and the API server's log",
                )));
            }
        }
        Ok(Ok(()))
    }

    async fn definition(&self) -> Result<Definition, ClusterError> {
        Definition::read(self.api, &self.wish.crd).await
    }

    /// Waits until no request can be running that started before the last change of the CRD.
    async fn drain(&self, notify: RetireObserver<'_>) -> Result<(), ClusterError> {
        let definition = self.definition().await?;
        let left = self.wish.drain.saturating_sub(definition.unchanged_for());
        if !left.is_zero() {
            notify(RetireEvent::Waits(left));
            tokio::time::sleep(left).await;
        }
        Ok(())
    }

    fn changed(&self) -> Refusal {
        Refusal::new(
            format!("another client changed {} meanwhile", self.wish.crd),
            "find out which one (an operator may reinstall its manifest), and run the command again",
        )
    }
}

/// Changes the storage version only, for callers that verify the effect themselves.
pub(crate) async fn flip(api: &Api, wish: &RetireRequest) -> Gated<Plan> {
    let plan = match plan(api, wish).await? {
        Ok(plan) => plan,
        refused => return Ok(refused),
    };
    let work = Work { api, apis: std::slice::from_ref(api), wish, plan: &plan, proven: None };
    let flipped = if plan.steps.contains(&Step::Flip) { work.flip().await? } else { Ok(()) };
    Ok(flipped.map(|()| plan))
}

fn unwritten(failed: Option<(&Vec<(String, String)>, u64)>) -> Refusal {
    let (failed, failures) = failed.map(|(failed, failures)| (failed.as_slice(), failures)).unwrap_or_default();
    let named: String = failed.iter().map(|(name, why)| format!("\n    {name}: {why}")).collect();
    Refusal::new(
        format!("{failures} objects could not be written:{named}"),
        "make them writable, or delete them, and run the command again",
    )
}

/// Waits until a kind is served, or is not.
async fn until(api: &Api, kind: &Resource, served: bool) -> Result<bool, ClusterError> {
    let path = Query::new().limit(1).on(kind.path());
    let wanted = |answer: &Answer| if served { answer.is_success() } else { answer.status == 404 };
    Ok(retry::get_until(api, &path, wanted).await?.0)
}
