//! A complete retirement of a version: every step succeeds, and the version is gone at the end.

use crate::checks::shared_trace::{Found, judged, retired_versions, stored_versions};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Listing, RetirementStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "storage/old-version-retires",
    title: "a version can be retired, and every step is verified",
    why: "A version that cannot be retired must be served and converted for ever. If it is removed although a step \
          failed, it leaves objects that no client can read.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#a-stored-version-cannot-be-removed",
        "docs/api-server-behaviour.md#objects-of-a-removed-version-cannot-be-read",
        "docs/api-server-behaviour.md#the-old-version-can-go-after-a-migration",
    ],
    severity: Severity::Error,
    since: None,
    help: "the step that failed says what to do; converters that are not deterministic are a frequent cause",
    needs: &[Need::Scenario(Scenario::Retirement)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let steps = [RetirementStep::Flip, RetirementStep::Work];
        let refused = steps.into_iter().flat_map(|step| trace.names(step));
        for names in refused.filter(|names| names.what == Listing::Refused) {
            found.examined += 1;
            for why in &names.names {
                found.failure("", format!("the retirement was refused: {why}"), "refused".to_owned());
            }
        }
        let Some(after) = trace.definition(RetirementStep::After) else { return };
        found.examined += 1;
        let gone = retired_versions(trace);
        if gone.is_empty() {
            found.failure("", "no version is gone after the retirement".to_owned(), "gone".to_owned());
        }
        let stored = stored_versions(after);
        if stored.len() != 1 || gone.contains(&stored[0]) {
            let message = format!("storedVersions is [{}] after the retirement", stored.join(", "));
            found.failure("", message, "storedVersions".to_owned());
        }
        for (name, version) in trace.stored(RetirementStep::After).flatten() {
            found.examined += 1;
            if gone.contains(version) {
                let message = format!("{name} is stored at {version} after the retirement");
                found.failure(version, message, "stored".to_owned());
            }
        }
    })
}
