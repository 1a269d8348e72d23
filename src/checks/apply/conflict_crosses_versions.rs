//! A manager that applied a field at one version owns it at every version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{Action, ApplyStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/conflict-crosses-versions",
    title: "a field applied at one version conflicts at every other version",
    why: "Without the conflict, a second manager silently takes over the field, and the two managers overwrite each \
          other on every apply.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#conflicts-cross-versions",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the conversion complete in both directions and deterministic: API servers compute ownership through \
           conversions",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ApplyStep::Conflict) {
            let Action::ConflictOver(field) = &call.action else { continue };
            // An invalid value says nothing about owners.
            if !call.is_success() && call.status != 409 {
                continue;
            }
            found.examined += 1;
            let named = call.answered["message"].as_str().is_some_and(|message| message.contains("alice"));
            if call.is_success() || !named {
                let message = format!(
                    "bob applies another value at {} to {field} of {}, which alice owns, and is answered with {} instead of a \
                     conflict",
                    call.version,
                    call.name,
                    call.message()
                );
                let failure = Failure::new(message).version(&call.version).key("conflict");
                found.add(Failure {
                    path: Some(field.clone()),
                    ..failure.together("conflict", "move to another owner without a conflict")
                });
            }
        }
    })
}
