//! A watch reports every change once, in order, at its own version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/watches-complete",
    title: "a watch at any version reports every change, once and in order",
    why: "Controllers act on watches. If a change is missing, repeated or reported at another version, they act on a \
          wrong state.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#a-watch-delivers-each-change-once",
    ],
    severity: Severity::Error,
    since: None,
    help: "check what the converter returns for the object while it is watched",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let created = trace.calls(ServingStep::Watch).filter(|call| call.action == Action::Create && call.is_success());
        let names: Vec<&str> = created.map(|call| call.name.as_str()).collect();
        for log in trace.watches(ServingStep::Watch) {
            let desired = format!("{}/{}", evidence.crd.group, log.version);
            for name in &names {
                found.examined += 1;
                let events: Vec<_> = log.events.iter().filter(|event| event.name == *name).collect();
                let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
                if kinds != ["ADDED", "MODIFIED", "DELETED"] {
                    let message = format!(
                        "a watch at {} reports {kinds:?} for {name}, which was created, changed and deleted",
                        log.version
                    );
                    found.failure(&log.version, message, "events".to_owned());
                }
                if let Some(event) = events.iter().find(|event| event.api_version != desired) {
                    let message = format!("a watch at {} returns an object of {}", log.version, event.api_version);
                    found.failure(&log.version, message, "version".to_owned());
                }
            }
            if let Some(error) = log.events.iter().find(|event| event.kind == "ERROR") {
                found.failure(
                    &log.version,
                    format!("a watch at {} ends in an error {}", log.version, error.name),
                    "error".to_owned(),
                );
            }
        }
    })
}
