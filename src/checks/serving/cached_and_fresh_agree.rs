//! Reads from the cache agree with stored objects.

use crate::checks::shared_trace::{Found, alike, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/cached-and-fresh-agree",
    title: "cached reads and fresh reads agree",
    why: "Controllers mostly read from the API server's cache, which converts an object once and keeps the result.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#cached-and-fresh-reads-must-agree",
        "https://github.com/kubernetes/kubernetes/issues/131022",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter deterministic",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        alike(evidence, trace, (ServingStep::Read, ServingStep::Cached), "when it is read from the cache", found);
    })
}
