//! Who migrated: all are judged alike, but what the control plane does by itself is no fault of the subject.

use super::shared_trace::{Found, judged};
use super::{Breach, Evidence, Verdict};
use crate::evidence::Trace;

/// Somebody who migrates, and the steps in which that was seen.
pub(super) struct Driver {
    /// How it is named in messages; nothing for the built-in migration.
    pub(super) by: &'static str,
    /// Before the migration.
    pub(super) ready: &'static str,
    /// After it.
    pub(super) done: &'static str,
    /// A pass of the built-in migration after that.
    pub(super) again: &'static str,
    /// While one object cannot be written.
    pub(super) unmovable: &'static str,
    /// A migration that was begun and got nowhere.
    pub(super) stuck: &'static str,
}

const OWN: [Driver; 2] = [
    Driver {
        by: "",
        ready: "storage/ready",
        done: "storage/migrate",
        again: "storage/migrate-again",
        unmovable: "storage/unmovable",
        stuck: "storage/cut",
    },
    Driver {
        by: " by the subject's own command",
        ready: "storage/migrate-command/ready",
        done: "storage/migrate-command/done",
        again: "storage/migrate-command/again",
        unmovable: "storage/migrate-command/unmovable",
        stuck: "storage/migrate-command/second",
    },
];

pub(super) const IN_TREE: Driver = Driver {
    by: " by the control plane",
    ready: "storage/migrate-in-tree/ready",
    done: "storage/migrate-in-tree/done",
    again: "storage/migrate-in-tree/again",
    unmovable: "storage/migrate-in-tree/unmovable",
    stuck: "storage/migrate-in-tree/second",
};

/// Judges every driver that took part.
pub(super) fn judged_by_driver(evidence: &Evidence<'_>, judge: impl Fn(&Trace, &Driver, &mut Found)) -> Verdict {
    let own = judged(evidence, |trace, found| OWN.iter().for_each(|driver| judge(trace, driver, found)));
    let servers = judged(evidence, |trace, found| judge(trace, &IN_TREE, found));
    match (own, servers) {
        (Verdict::Broken(breaches), _) => Verdict::Broken(breaches),
        (_, Verdict::Broken(breaches)) => {
            let messages: Vec<String> = breaches.into_iter().map(|Breach { message, .. }| message).collect();
            Verdict::ServerFact(messages.join("; "))
        }
        (Verdict::Held { examined }, Verdict::Held { examined: more }) => Verdict::Held { examined: examined + more },
        (Verdict::Undecided(_), servers @ Verdict::Held { .. }) => servers,
        (own, _) => own,
    }
}
