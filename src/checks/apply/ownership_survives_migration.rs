//! Migration does not change ownership.

use crate::checks::shared_trace::{Found, judged, same_owners};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "apply/ownership-survives-migration",
    title: "migration does not change field ownership",
    why: "Migration writes every object. If it takes fields from their owners, every later apply conflicts or loses \
          those fields.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#a-migration-leaves-ownership-alone",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter deterministic, and give all versions the same defaults",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        same_owners(trace, (StorageStep::Ready, StorageStep::Migrate), "by migration", found);
    })
}
