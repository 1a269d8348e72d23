//! Entries of a removed version stay in managedFields.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "apply/retired-version-blocks-nobody",
    title: "after a version is removed, every manager can still apply",
    why: "API servers convert field ownership to the version of each entry. If that version is gone, every apply to \
          the object fails until the entries are cleared.",
    source: &[
        "docs/api-server-behaviour.md#entries-of-a-removed-version-block-applies",
        "docs/api-server-behaviour.md#an-empty-entry-resets-managed-fields",
        "https://github.com/kubernetes/kubernetes/issues/111937",
        "https://github.com/fluxcd/flux2/pull/5558",
        "https://github.com/knative/operator/issues/1184",
    ],
    severity: Severity::Error,
    since: Some(19),
    help: "clear the entries before you remove the version: patch `metadata.managedFields` to `[{}]`, then apply again",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut blocked = None;
    let verdict = judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(StorageStep::RetiredEntries) {
            found.examined += 1;
            if !call.is_success() && call.action != Action::Apply {
                let message = format!("{} failed: {}", call.action, call.message());
                found.failure(&call.version, message, call.action.to_string());
            }
        }
    });
    if let Some(trace) = evidence.trace {
        blocked =
            trace.calls(StorageStep::RetiredEntries).find(|call| call.action == Action::Apply && !call.is_success());
    }
    match (verdict, blocked) {
        (Verdict::Passed { .. }, Some(call)) => Verdict::KnownServerIssue(format!(
            "after its version was removed an entry in managedFields blocks every apply: {}; clearing managedFields helped",
            call.message()
        )),
        (verdict, _) => verdict,
    }
}
