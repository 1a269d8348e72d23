//! A version that is no longer served is gone, and can be served again.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/unserved-is-gone",
    title: "a version that is not served answers 404, and works again once it is served",
    why: "A version is retired in steps. A step that has no effect, or cannot be undone, is noticed too late.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#an-unserved-version-answers-404",
    ],
    severity: Severity::Error,
    since: None,
    help: "check the conditions of the CRD",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::Unserve) {
            let wanted = match call.action {
                Action::ListUnserved => call.status == 404,
                _ => call.is_success(),
            };
            found.examined += 1;
            if !wanted {
                let message = format!("{} {} is answered with {}", call.action, call.version, call.message());
                found.failure(&call.version, message, call.action.to_string());
            }
        }
    })
}
