//! A dry run stores nothing.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "apply/dry-run-changes-nothing",
    title: "a dry run at any version stores nothing",
    why: "GitOps tools use dry runs to detect drift and to preview changes.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#a-dry-run-stores-nothing",
    ],
    severity: Severity::Error,
    since: None,
    help: "report this to the vendor of the API server, or of an admission webhook that has side effects",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::DryRun) {
            found.examined += 1;
            let wanted = if call.action == Action::AfterDryRun { call.status == 404 } else { call.is_success() };
            if !wanted {
                found.failure(
                    &call.version,
                    format!("{} at {} is answered with {}", call.action, call.version, call.message()),
                    call.action.to_string(),
                );
            }
        }
    })
}
