//! `storedVersions` keeps a version from being removed while objects are stored at it.

use crate::evidence::Scenario;
use std::collections::BTreeSet;

use crate::checks::shared_drivers::judged_by_driver;
use crate::checks::shared_trace::stored_versions;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "storage/failed-migration-does-not-trim",
    title: "an incomplete migration keeps every stored version in `storedVersions`",
    why: "A version that is no longer in `storedVersions` can be removed from the CRD, and objects that are still \
          stored at it can then no longer be read.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-failed-migration-trims-them-too",
        "docs/api-server-behaviour.md#a-second-migration-trims-them-at-its-start",
    ],
    severity: Severity::Error,
    since: None,
    help: "trim `storedVersions` only after a pass has proved that nothing is left, as `crdproof migrate --trim` does",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged_by_driver(evidence, |trace, driver, found| {
        let steps = [(driver.unmovable, "that failed"), (driver.stuck, "that has not got anywhere yet")];
        for (step, which) in steps {
            let (Some(stored), Some(definition)) = (trace.stored(step).last(), trace.definition(step)) else {
                continue;
            };
            let known = stored_versions(definition);
            found.examined += 1;
            let versions: BTreeSet<&String> = stored.values().collect();
            for version in versions.into_iter().filter(|version| !known.contains(version)) {
                let count = stored.values().filter(|other| *other == version).count();
                let message = format!(
                    "after a migration{} {which} storedVersions is {known:?}, although {count} objects are stored at \
                     {version}",
                    driver.by
                );
                found.failure(version, message, format!("{which}{}", driver.by));
            }
        }
    })
}
