//! A release can be rolled back.

use crate::checks::shared_trace::{Found, alike, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, StorageStep};

pub(crate) const CHECK: Check = Check {
    id: "storage/flip-back-works",
    title: "the old CRD can be installed again, and objects are stored at the old version again",
    why: "When a release fails, the old manifest is applied again, and must find its objects.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-rollback-needs-the-old-converter",
        "https://github.com/aws/karpenter-provider-aws/pull/6560",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep converters for both directions for as long as a rollback is possible",
    needs: &[Need::Scenario(Scenario::Storage)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(StorageStep::Back) {
            found.examined += 1;
            if !call.is_success() {
                found.failure(
                    "",
                    format!("{} is answered with {}", call.action, call.message()),
                    call.action.to_string(),
                );
            }
        }
        if trace.settled(StorageStep::Back).next().is_some_and(|settled| !settled.has_taken_effect()) {
            let message = "writes did not land at the old version within the time given".to_owned();
            found.failure("", message, "flip".to_owned());
        }
        alike(
            evidence,
            trace,
            (StorageStep::Migrate, StorageStep::Back),
            "after the old CRD was installed again",
            found,
        );
    })
}
