//! Changing the storage version does not change ownership.

use crate::checks::shared_trace::{Found, judged, same_owners};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "apply/ownership-survives-flip",
    title: "flipping the storage version does not change field ownership",
    why: "If owners change without a write, managers run into conflicts that none of them caused.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#a-flip-leaves-ownership-alone",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter deterministic",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        same_owners(trace, (StorageStep::Install, StorageStep::Mixed), "by the flip", found);
    })
}
