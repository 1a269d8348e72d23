//! A resource version that was read at one version protects a write at another.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/locks-cross-versions",
    title: "optimistic locking works across versions",
    why: "Otherwise a client of one version silently overwrites what a client of another version has just written.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#identity-is-the-same-at-every-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "report this to the vendor of the API server",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::Locks) {
            found.examined += 1;
            let wanted = if call.action == Action::StaleLock { call.status == 409 } else { call.is_success() };
            if !wanted {
                let message =
                    format!("a write at {} with a {} is answered with {}", call.version, call.action, call.message());
                found.failure(&call.version, message, call.action.to_string());
            }
        }
    })
}
