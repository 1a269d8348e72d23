//! The tools that migrate: all are judged alike, but faults of the control plane are not faults of the subject.

use super::shared_trace::{Found, judged};
use super::{Evidence, Failure, Verdict};
use crate::evidence::{StorageStep, Trace};

/// A tool that migrates, and the steps that record it.
pub(super) struct Driver {
    /// The name in messages; empty for the built-in migration.
    pub(super) by: &'static str,
    /// The state before the migration.
    pub(super) ready: StorageStep,
    /// The state after the migration.
    pub(super) done: StorageStep,
    /// A pass of the built-in migration afterwards.
    pub(super) again: StorageStep,
    /// A migration while one object cannot be written.
    pub(super) unmovable: StorageStep,
    /// A migration that was started and made no progress.
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

/// Judges every driver of the trace.
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
