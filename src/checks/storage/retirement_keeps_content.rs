//! Retiring a version changes the storage version and the managedFields of objects, and nothing else.

use crate::checks::shared_trace::{Found, alike, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{RetirementStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "storage/retirement-keeps-content",
    title: "retiring a version changes no object",
    why: "Clients of the other versions do not expect their objects to change when a version is retired.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#any-write-stores-at-the-storage-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter lossless and deterministic",
    needs: &[Need::Scenario(Scenario::Retirement)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        alike(evidence, trace, (RetirementStep::Before, RetirementStep::After), "after a version was retired", found);
    })
}
