//! A manager that applies at another version has one entry, at that version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{ApplyStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/entries-follow-versions",
    title: "a manager that applies at another version keeps one managedFields entry, at the new version",
    why: "Entries left at an old version own fields that no manager applies any more, and they prevent the version \
          from being retired.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#an-applier-has-one-entry",
    ],
    severity: Severity::Error,
    since: None,
    help: "check what the converter returns for the object that is applied",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        // Another check reports fields that another manager got without a conflict.
        for call in trace.calls(ApplyStep::Follow).filter(|call| call.status != 409) {
            found.examined += 1;
            if !call.is_success() {
                let message = format!(
                    "the content of {} as read at {} cannot be applied there: {}",
                    call.name,
                    call.version,
                    call.message()
                );
                found.refused(call, message);
                continue;
            }
            let entries = call.answered["metadata"]["managedFields"].as_array().into_iter().flatten();
            let own = entries.filter(|entry| entry["manager"] == "alice" && entry["operation"] == "Apply");
            let versions: Vec<&str> = own.filter_map(|entry| entry["apiVersion"].as_str()).collect();
            let desired = format!("{}/{}", evidence.crd.group, call.version);
            if versions != [desired.as_str()] {
                let message = format!("alice has entries of {versions:?} after an apply at {}", call.version);
                found.failure(&call.version, message, "entries".to_owned());
            }
        }
    })
}
