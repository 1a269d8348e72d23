//! Applying the same twice changes nothing.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{ApplyStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/reapply-is-no-op",
    title: "applying the same again changes nothing",
    why: "GitOps tools apply every few minutes. An apply that writes makes every controller work for nothing, \
          for ever.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#an-identical-apply-writes-nothing",
        "https://github.com/kubernetes/kubernetes/pull/125263",
    ],
    severity: Severity::Error,
    since: Some(31),
    help: "store everything that is applied: a field that is lost on the way to the stored version moves the object every time",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for again in trace.calls(ApplyStep::Reapply) {
            let mut calls = trace.calls(ApplyStep::Apply);
            let Some(first) = calls.find(|call| call.name == again.name && call.version == again.version) else {
                continue;
            };
            found.examined += 1;
            let version = |call: &crate::evidence::Call| call.answered["metadata"]["resourceVersion"].clone();
            if !again.is_success() {
                found.failure(
                    &again.version,
                    format!("applying {} again failed: {}", again.name, again.message()),
                    "failed".to_owned(),
                );
            } else if version(first) != version(again) {
                let message = format!("applying {} again at {} wrote it again", again.name, again.version);
                found.failure(&again.version, message, "written".to_owned());
            }
        }
    })
}
