//! A migration reports an object that admission refuses to update.

use crate::checks::shared_drivers::judged_by_driver;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Scenario;

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-names-what-it-cannot-move",
    title: "a migration that cannot write an object stops, names the object, and does not report success",
    why: "One object that a policy refuses prevents the removal of the old version. An administrator who does not \
          learn its name cannot fix it.",
    source: &[
        "docs/api-server-behaviour.md#some-errors-end-a-migration-others-repeat-it",
        "https://github.com/kubernetes-sigs/kube-storage-version-migrator/issues/83",
    ],
    severity: Severity::Error,
    since: None,
    help: "stop after a bounded number of retries, list the remaining objects, and return a failing exit code",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

/// Whoever tries one object more often than this has no end in mind.
const TRIES: u64 = 100;

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged_by_driver(evidence, |trace, driver, found| {
        let step = driver.unmovable;
        let Some(unmovable) = trace.names(step).flat_map(|names| &names.names).next() else { return };
        let Some(driven) = trace.driven(step).last() else { return };
        // Had it been written after all, there would have been nothing to name.
        let Some(new) = evidence.crd.storage() else { return };
        let held = |key: &str| key == unmovable || key.ends_with(&format!("/{unmovable}"));
        let stored = trace.stored(step).last().and_then(|stored| stored.iter().find(|(key, _)| held(key)));
        if stored.is_none_or(|(_, version)| *version == new.name) {
            return;
        }
        found.examined += 1;
        let mut failure = |what: &str, key: &str| {
            let message = format!("a migration{} that cannot write {unmovable} {what}: {}", driver.by, driven.said);
            found.failure("", message, format!("{key}{}", driver.by));
        };
        if driven.done {
            failure("reports success", "done");
        } else if !driven.ended {
            failure("does not end", "end");
        } else if !driven.said.contains(unmovable.as_str()) {
            failure("does not name the object", "name");
        }
        let refused = trace.refused_writes(step).next().copied();
        if let Some(refused) = refused.filter(|refused| *refused > TRIES) {
            failure(&format!("tries it {refused} times"), "tries");
        }
    })
}
