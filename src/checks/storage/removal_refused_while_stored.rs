//! A version with objects stored at it cannot be removed.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/removal-refused-while-stored",
    title: "the API server refuses to remove a version that is still stored",
    why: "No client can read objects that are stored at a removed version.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-stored-version-cannot-be-removed",
    ],
    severity: Severity::Error,
    since: None,
    help: "report this to the vendor of the API server",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(StorageStep::Refusal) {
            found.examined += 1;
            if call.is_success() {
                let message = "a version was removed from the CRD although objects are stored at it".to_owned();
                found.failure("", message, "removed".to_owned());
            }
        }
    })
}
