//! The server must accept the CRD.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/crd-accepted",
    title: "the API server accepts the CRD",
    why: "If the API server refuses a CRD, its kind is not available, and an upgrade that contains the CRD stops \
          half-way.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/api-server-behaviour.md#the-conversion-stanza-has-fixed-rules",
    ],
    severity: Severity::Error,
    since: None,
    help: "correct what the API server names; the manifest checks say where it is in your files",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::Install).filter(|call| call.action == Action::Install) {
            found.examined += 1;
            if !call.is_success() {
                found.failure("", format!("the server refuses the CRD: {}", call.message()), "refused".to_owned());
            }
        }
    })
}
