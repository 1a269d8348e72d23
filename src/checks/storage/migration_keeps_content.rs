//! Migration changes the storage version of objects, and nothing else.

use crate::checks::shared_drivers::judged_by_driver;
use crate::checks::shared_trace::alike;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Scenario;

pub(crate) const CHECK: Check = Check {
    id: "storage/migration-keeps-content",
    title: "migration changes no object",
    why: "Migration writes every object while clients watch. A change that it causes is a change that no client \
          requested.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-migration-changes-resource-versions-only",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter lossless and deterministic",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged_by_driver(evidence, |trace, driver, found| {
        alike(evidence, trace, (driver.ready, driver.done), &format!("after migration{}", driver.by), found);
    })
}
