//! Selectors find the same objects at every version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Call;

pub(crate) const CHECK: Check = Check {
    id: "serving/selectors-hold",
    title: "label and field selectors find the same objects at every version",
    why: "A converter that changes labels makes a Service, a controller or a policy select other objects, \
          depending on who asks.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#label-selectors-see-converted-labels",
        "docs/api-server-behaviour.md#field-selectors-belong-to-one-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep labels as they are",
    needs: &[Need::Trace],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let created: Vec<_> =
            trace.calls("serve/create").filter(|call| call.what == "create" && call.is_success()).collect();
        // Before 1.31 servers drop `selectableFields`, which is no fault of the subject.
        let refused = |call: &&Call| call.what.starts_with("selectable ") && !call.is_success();
        for call in trace.calls("serve/selectors").filter(refused).filter(|_| trace.kubernetes.at_least(31)) {
            found.examined += 1;
            let message = format!("the selector {} is answered with {} at {}", call.what, call.message(), call.version);
            found.breach(&call.version, message, call.what.clone());
        }
        for answer in trace.names("serve/selectors") {
            found.examined += 1;
            let wanted: Vec<&str> = match answer.what.split_once('=') {
                Some(("label born", born)) => {
                    created.iter().filter(|call| call.version == born).map(|call| call.name.as_str()).collect()
                }
                Some((path, value)) if path.starts_with("selectable ") => {
                    let pointer = format!("/{}", path.trim_start_matches("selectable ").replace('.', "/"));
                    let version = answer.versions.first();
                    let reads = trace.calls("serve/single").filter(|call| Some(&call.version) == version);
                    let selected = reads.filter(|call| call.answered.pointer(&pointer).is_some_and(|own| own == value));
                    selected.map(|call| call.name.as_str()).collect()
                }
                Some((_, name)) => created.iter().map(|call| call.name.as_str()).filter(|own| *own == name).collect(),
                None => continue,
            };
            let mut wanted = wanted;
            let mut names: Vec<&str> = answer.names.iter().map(String::as_str).collect();
            wanted.sort_unstable();
            names.sort_unstable();
            if wanted != names {
                let version = answer.versions.first().cloned().unwrap_or_default();
                let message =
                    format!("the selector {} finds {names:?} at {version} instead of {wanted:?}", answer.what);
                found.breach(&version, message, answer.what.clone());
            }
        }
    })
}
