//! Transition rules compare an object with its old state, both at the version of the request.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Observation, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/rules-see-converted-old-self",
    title: "transition rules compare a write with the old object, converted to the version written",
    why: "If the old object is not converted, a rule that forbids a change does not take effect. If it converts \
          differently each time, the rule refuses every write.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/api-server-behaviour.md#rules-see-the-old-object-converted",
        "docs/api-server-behaviour.md#ratcheting-compares-converted-values",
    ],
    severity: Severity::Error,
    since: Some(25),
    help: "make the converter lossless and deterministic; add the rule to every served version",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        if trace.of(ServingStep::Rules).any(|seen| *seen == Observation::RulesKept(false)) {
            found.examined += 1;
            found.failure("", "the server drops transition rules of a CRD".to_owned(), "kept".to_owned());
        }
        for call in trace.calls(ServingStep::Rules).filter(|call| !call.name.is_empty()) {
            found.examined += 1;
            let version = call.version.as_str();
            let message = match (&call.action, call.status) {
                (Action::Changed, 200..300) => {
                    format!("a rule of {version} forbids a change, but a write through {version} makes it")
                }
                (Action::Unchanged | Action::UnchangedAfterwards, 422) => format!(
                    "a rule of {version} forbids a change, and also refuses a write without that change: {}",
                    call.message()
                ),
                (Action::ChangedThroughAnotherVersion, 422) => {
                    format!("a rule of another version refuses a write through {version}: {}", call.message())
                }
                (Action::Changed, 422) | (_, 200..300) => continue,
                (what, _) => {
                    format!("a write with the field {what} through {version} is answered with {}", call.message())
                }
            };
            if call.is_success() {
                found.failure(version, message, call.action.to_string());
            } else {
                found.refused(call, message);
            }
        }
    })
}
