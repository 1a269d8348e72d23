//! Status and the rest of an object have different writers.

use crate::checks::shared_trace::{Found, content, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/status-isolated",
    title: "status writes change only status, and other writes do not change status",
    why: "Controllers write status, and users write the rest. If a write changes both parts, one of them overwrites \
          the work of the other.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/api-server-behaviour.md#status-and-spec-are-written-apart",
    ],
    severity: Severity::Error,
    since: None,
    help: "enable the status subresource in all versions",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let calls: Vec<_> = trace.calls(ServingStep::Status).collect();
        for before in calls.iter().filter(|call| call.action == Action::Before) {
            let after = calls.iter().find(|call| call.action == Action::After && call.version == before.version);
            let Some(after) = after else { continue };
            found.examined += 1;
            if !after.answered["metadata"]["labels"]["crdproof.dev/status"].is_null() {
                let message = format!("a write of status at {} changed a label", before.version);
                found.failure(&before.version, message, "label".to_owned());
            }
            if content(&before.answered) != content(&after.answered) {
                let message = format!(
                    "the object changed at {} by a write of status, or its status by a write of the object",
                    before.version
                );
                found.failure(&before.version, message, "content".to_owned());
            }
        }
    })
}
