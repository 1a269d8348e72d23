//! Selectors find the same objects at every version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Call, Listing, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/selectors-hold",
    title: "label and field selectors find the same objects at every version",
    why: "If a converter changes labels, a Service, controller or policy selects different objects at different \
          versions.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#label-selectors-see-converted-labels",
        "docs/api-server-behaviour.md#field-selectors-belong-to-one-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep labels unchanged",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let created: Vec<_> = trace
            .calls(ServingStep::Create)
            .filter(|call| call.action == Action::Create && call.is_success())
            .collect();
        // Before 1.31 servers drop `selectableFields`, which is not a fault of the subject.
        let refused = |call: &&Call| matches!(call.action, Action::Selectable(_)) && !call.is_success();
        for call in trace.calls(ServingStep::Selectors).filter(refused).filter(|_| trace.kubernetes.at_least(31)) {
            found.examined += 1;
            let message =
                format!("the selector {} is answered with {} at {}", call.action, call.message(), call.version);
            found.failure(&call.version, message, call.action.to_string());
        }
        for answer in trace.names(ServingStep::Selectors) {
            found.examined += 1;
            let created = || created.iter().copied();
            let wanted: Vec<&str> = match &answer.what {
                Listing::Label(born) => {
                    created().filter(|call| call.version == *born).map(|call| call.name.as_str()).collect()
                }
                Listing::Selectable(selector) => {
                    let Some((path, value)) = selector.split_once('=') else { continue };
                    let pointer = format!("/{}", path.replace('.', "/"));
                    let version = answer.versions.first();
                    let reads = trace.calls(ServingStep::Single).filter(|call| Some(&call.version) == version);
                    let selected = reads.filter(|call| call.answered.pointer(&pointer).is_some_and(|own| own == value));
                    selected.map(|call| call.name.as_str()).collect()
                }
                Listing::Name(name) => created().map(|call| call.name.as_str()).filter(|own| own == name).collect(),
                _ => continue,
            };
            let mut wanted = wanted;
            let mut names: Vec<&str> = answer.names.iter().map(String::as_str).collect();
            wanted.sort_unstable();
            names.sort_unstable();
            if wanted != names {
                let version = answer.versions.first().cloned().unwrap_or_default();
                let message =
                    format!("the selector {} finds {names:?} at {version} instead of {wanted:?}", answer.what);
                found.failure(&version, message, answer.what.to_string());
            }
        }
    })
}
