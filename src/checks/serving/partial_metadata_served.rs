//! Some clients read metadata only.

use crate::checks::shared_trace::{Found, judged, listed};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/partial-metadata-served",
    title: "metadata-only requests work at every version",
    why: "Garbage collection, namespace deletion and storage migration read only metadata.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#metadata-reads-still-convert",
    ],
    severity: Severity::Error,
    since: None,
    help: "check what the converter returns for the missing objects",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(all) = trace.snapshots(ServingStep::Read).next().map(listed) else { return };
        for answer in trace.names(ServingStep::Metadata) {
            found.examined += 1;
            let mut names = answer.names.clone();
            names.sort();
            if names != all {
                let version = answer.versions.first().cloned().unwrap_or_default();
                let message = format!("a metadata-only list at {version} has {} objects of {}", names.len(), all.len());
                found.failure(&version, message, "metadata".to_owned());
            }
        }
    })
}
