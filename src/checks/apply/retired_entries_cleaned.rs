//! Entries of a version are rewritten before it is removed.

use crate::checks::shared_trace::{Found, judged, retired_versions};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{RetirementStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/retired-entries-cleaned",
    title: "after a version is retired, no managedFields entry names it, and applies work",
    why: "A managedFields entry at a removed version makes every apply to the object fail, for every manager.",
    source: &[
        "docs/api-server-behaviour.md#entries-of-a-removed-version-block-applies",
        "docs/api-server-behaviour.md#an-empty-entry-resets-managed-fields",
        "https://github.com/kubernetes/kubernetes/issues/111937",
    ],
    severity: Severity::Error,
    since: Some(19),
    help: "retire versions with `crdproof retire`, which rewrites the entries first; make the converter deterministic",
    needs: &[Need::Scenario(Scenario::Retirement)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let gone = retired_versions(trace);
        for snapshot in trace.snapshots(RetirementStep::After) {
            for (name, object) in &snapshot.objects {
                found.examined += 1;
                for entry in object["metadata"]["managedFields"].as_array().into_iter().flatten() {
                    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
                    let (manager, at) = (text("manager"), text("apiVersion"));
                    let Some(version) = at.rsplit('/').next().filter(|version| gone.contains(*version)) else {
                        continue;
                    };
                    let message = format!("{manager} has an entry at {version} in {name} after {version} was retired");
                    found.failure(&snapshot.version, message, format!("{manager} {version}"));
                }
            }
        }
        for call in trace.calls(RetirementStep::Apply) {
            found.examined += 1;
            if !call.is_success() {
                let message = format!("{} to {} failed: {}", call.action, call.name, call.message());
                found.failure(&call.version, message, call.action.to_string());
            }
        }
    })
}
