//! A list that starts at one version can continue at another.

use crate::checks::shared_trace::{Found, judged, listed};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/pages-cross-versions",
    title: "continuing a paged list at another version loses and repeats no object",
    why: "Tools that page through a list while versions change must see each object exactly once.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#pages-may-change-the-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "report this to the vendor of the API server",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let Some(all) = trace.snapshots(ServingStep::Read).next().map(listed) else { return };
        for pages in trace.names(ServingStep::Pages) {
            found.examined += 1;
            let mut names = pages.names.clone();
            names.sort();
            if names != all {
                let first = pages.versions.first().cloned().unwrap_or_default();
                let message =
                    format!("pages at {} give {} objects of {}", pages.versions.join(", "), names.len(), all.len());
                found.failure(&first, message, "pages".to_owned());
            }
        }
    })
}
