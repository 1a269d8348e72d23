//! Migration moves no ownership.

use crate::checks::shared_trace::{Found, judged, same_owners};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "apply/ownership-survives-migration",
    title: "migration leaves field ownership as it is",
    why: "Migration writes every object. Where it takes fields from their owners, every later apply conflicts \
          or loses them.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#a-migration-leaves-ownership-alone",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter deterministic, and the defaults of all versions alike",
    needs: &[Need::Trace],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        same_owners(trace, ("storage/ready", "storage/migrate"), "by migration", found);
    })
}
