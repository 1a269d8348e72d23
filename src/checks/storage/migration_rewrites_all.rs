//! After migration nothing is stored at the old version.

use crate::checks::shared_drivers::judged_by_driver;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Scenario;

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-rewrites-all",
    title: "migration stores every object at the new version",
    why: "An object that is left behind prevents the removal of the old version, or is lost with it.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-migration-moves-every-object",
    ],
    severity: Severity::Error,
    since: None,
    help: "migrate again, and check why the remaining writes are refused",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged_by_driver(evidence, |trace, driver, found| {
        let Some(new) = evidence.crd.storage() else { return };
        // A migration that reports that it is not done is honest, but still not done.
        let unfinished = trace.driven(driver.done).find(|driven| !driven.done);
        if let Some(driven) = unfinished {
            let message = format!("the migration{} is not done: {}", driver.by, driven.said);
            found.failure("", message, format!("not done{}", driver.by));
        }
        let Some(stored) = trace.stored(driver.done).last() else { return };
        for (name, version) in stored {
            found.examined += 1;
            if *version != new.name {
                let after = if driver.by.is_empty() { String::new() } else { format!(" after migration{}", driver.by) };
                let message = format!("{name} is still stored at {version}{after}");
                found.failure(version, message, format!("left{}", driver.by));
            }
        }
    })
}
