//! Autoscalers use the scale subresource of one version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/scale-works",
    title: "the scale subresource reads and writes replicas at every version that has it",
    why: "An autoscaler that cannot read or set replicas never scales the workload.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/api-server-behaviour.md#scale-uses-the-paths-of-the-request-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "check the paths of `subresources.scale` in that version",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let calls: Vec<_> = trace.calls(ServingStep::Scale).collect();
        for call in &calls {
            // An object without replicas has no scale; that is not a fault of the version.
            let absent = call.action == Action::GetScale && !call.is_success();
            found.examined += usize::from(!absent);
            if !absent && !call.is_success() {
                found.failure(
                    &call.version,
                    format!("{} at {} failed: {}", call.action, call.version, call.message()),
                    call.action.to_string(),
                );
            }
            if call.action == Action::GetScaleAgain {
                let set = calls.iter().find(|other| other.action == Action::SetScale && other.version == call.version);
                let wanted = set.map(|set| &set.sent["spec"]["replicas"]);
                if wanted.is_some_and(|wanted| *wanted != call.answered["spec"]["replicas"]) {
                    let message = format!("replicas that were set at {} are not read back", call.version);
                    found.failure(&call.version, message, "replicas".to_owned());
                }
            }
        }
    })
}
