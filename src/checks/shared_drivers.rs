//! Who migrated: all are judged alike, but what the control plane does by itself is not a fault of the subject.

use super::shared_trace::{Found, judged};
use super::{Evidence, Failure, Verdict};
use crate::evidence::{StorageStep, Trace};

/// Somebody who migrates, and the steps in which that was seen.
pub(super) struct Driver {
    /// The name in messages; nothing for the built-in migration.
    pub(super) by: &'static str,
    /// Before the migration.
    pub(super) ready: StorageStep,
    /// After it.
    pub(super) done: StorageStep,
    /// A pass of the built-in migration after that.
    pub(super) again: StorageStep,
    /// While one object cannot be written.
    pub(super) unmovable: StorageStep,
    /// A migration that was begun and got nowhere.
    pub(super) stuck: StorageStep,
}

const OWN: [Driver; 2] = [
    Driver {
        by: "",
        ready: StorageStep::Ready,
        done: StorageStep::Migrate,
        again: StorageStep::MigrateAgain,
        unmovable: StorageStep::Unmovable,
        stuck: StorageStep::Cut,
    },
    Driver {
        by: " by the subject's own command",
        ready: StorageStep::CommandReady,
        done: StorageStep::CommandDone,
        again: StorageStep::CommandAgain,
        unmovable: StorageStep::CommandUnmovable,
        stuck: StorageStep::CommandSecond,
    },
];

pub(super) const IN_TREE: Driver = Driver {
    by: " by the control plane",
    ready: StorageStep::InTreeReady,
    done: StorageStep::InTreeDone,
    again: StorageStep::InTreeAgain,
    unmovable: StorageStep::InTreeUnmovable,
    stuck: StorageStep::InTreeSecond,
};

/// Judges every driver that took part.
pub(super) fn judged_by_driver(evidence: &Evidence<'_>, judge: impl Fn(&Trace, &Driver, &mut Found)) -> Verdict {
    let own = judged(evidence, |trace, found| OWN.iter().for_each(|driver| judge(trace, driver, found)));
    let servers = judged(evidence, |trace, found| judge(trace, &IN_TREE, found));
    match (own, servers) {
        (Verdict::Failed(failures), _) => Verdict::Failed(failures),
        (_, Verdict::Failed(failures)) => {
            let messages: Vec<String> = failures.into_iter().map(|Failure { message, .. }| message).collect();
            Verdict::KnownServerIssue(messages.join("; "))
        }
        (Verdict::Passed { examined }, Verdict::Passed { examined: more }) => {
            Verdict::Passed { examined: examined + more }
        }
        (Verdict::Inconclusive(_), servers @ Verdict::Passed { .. }) => servers,
        (own, _) => own,
    }
}
