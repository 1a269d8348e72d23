//! Objects read the same, whatever their storage version.

use crate::checks::shared_trace::{Found, alike, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/mixed-storage-reads-alike",
    title: "objects stored at different versions read alike",
    why: "Between flip and migration, objects are stored at both versions. Clients must not notice.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#the-stored-version-must-not-show",
        "docs/api-server-behaviour.md#lists-return-every-object-at-the-request-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter lossless in both directions",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        alike(
            evidence,
            trace,
            (StorageStep::Install, StorageStep::Mixed),
            "after the storage version was flipped",
            found,
        );
    })
}
