//! A manager that applied a field at one version can withdraw it at another.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{Action, ApplyStep, Scenario};
use crdproof_schema::structural::means_absent;

pub(crate) const CHECK: Check = Check {
    id: "apply/withdrawal-crosses-versions",
    title: "a field applied at one version can be removed by applying without it at another",
    why: "A field that its manager no longer applies must disappear. If it stays, it has no owner, and no apply \
          removes it.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#withdrawal-crosses-versions",
    ],
    severity: Severity::Error,
    since: Some(20),
    help: "make the conversion complete in both directions: API servers compute the removal through conversions",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ApplyStep::Withdraw) {
            let Action::Withdraw(field) = &call.action else { continue };
            let path = field.trim_start_matches('.');
            found.examined += 1;
            let left = call.answered.pointer(&format!("/{}", path.replace('.', "/")));
            if !call.is_success() {
                let message =
                    format!("applying without .{path} of {} at {} failed: {}", call.name, call.version, call.message());
                found.refused(call, message);
            } else if left.is_some_and(|left| !means_absent(None, left)) {
                let message =
                    format!("alice applies without .{path} of {} at {}, and the field stays", call.name, call.version);
                let failure = Failure::new(message).version(&call.version).key("left");
                found.add(Failure {
                    path: Some(field.clone()),
                    ..failure.together("left", "stay after their owner applied without them")
                });
            }
        }
    })
}
