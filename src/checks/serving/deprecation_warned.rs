//! Clients of a deprecated version get a warning.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/deprecation-warned",
    title: "responses at deprecated versions carry a warning, and other responses do not",
    why: "The warning is all that users of an old version see before it is removed.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/api-server-behaviour.md#deprecated-versions-send-a-warning",
    ],
    severity: Severity::Warning,
    since: Some(19),
    help: "set `deprecated` and `deprecationWarning` on the versions that you deprecate",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::Warnings) {
            let Some(version) = evidence.crd.version(&call.version) else { continue };
            found.examined += 1;
            if version.deprecated == call.warnings.is_empty() {
                let message = match call.warnings.first() {
                    Some(warning) => format!("{} is not deprecated, but the server warns: {warning}", call.version),
                    None => format!("{} is deprecated, but the server does not say so", call.version),
                };
                found.failure(&call.version, message, "warning".to_owned());
            }
        }
    })
}
