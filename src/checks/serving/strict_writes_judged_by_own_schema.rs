//! Strict validation uses the schema of the requested version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/strict-writes-judged-by-own-schema",
    title: "strict writes refuse unknown fields and accept all known ones, at every version",
    why: "kubectl validates strictly. Otherwise it refuses valid fields, or silently drops misspelt ones.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#strict-writes-use-the-schema-of-the-request-version",
    ],
    severity: Severity::Error,
    since: Some(25),
    help: "check that the schema of that version has the field",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::Strict) {
            found.examined += 1;
            let preserves = evidence.crd.version(&call.version).and_then(|version| version.schema.as_ref());
            let preserves = preserves.is_some_and(crdproof_schema::structural::Schema::preserves_unknown);
            let wanted = match call.action {
                Action::UnknownField if !preserves => !call.is_success(),
                _ => call.is_success(),
            };
            if !wanted {
                let message = format!(
                    "a strict write with {} at {} is answered with {}",
                    call.action,
                    call.version,
                    call.message()
                );
                found.failure(&call.version, message, call.action.to_string());
            }
        }
    })
}
