//! Lists show every object, whatever version it was written at.

use crate::checks::shared_trace::{Found, judged, listed};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/lists-complete",
    title: "a list at any version contains every object",
    why: "A controller that does not see an object treats it as deleted, and cleans up what belongs to it.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#lists-return-every-object-at-the-request-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "check what the converter returns for the missing objects",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let created =
            trace.calls(ServingStep::Create).filter(|call| call.action == Action::Create && call.is_success());
        let mut names: Vec<String> = created.map(|call| call.name.clone()).collect();
        names.sort();
        for snapshot in trace.snapshots(ServingStep::Read) {
            found.examined += 1;
            let seen = listed(snapshot);
            if seen != names {
                let missing: Vec<_> = names.iter().filter(|name| !seen.contains(name)).cloned().collect();
                let message = format!("a list at {} lacks {}", snapshot.version, missing.join(", "));
                found.failure(&snapshot.version, message, "list".to_owned());
            }
        }
    })
}
