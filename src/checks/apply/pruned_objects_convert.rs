//! Server-side apply converts parts of objects.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{ApplyStep, Observation, ObservedReview, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/pruned-objects-convert",
    title: "the converter accepts the partial objects that API servers send",
    why: "To remove a field that is no longer applied, the API server strips all other fields and converts what \
          remains. If the converter refuses that, the apply fails.",
    source: &[
        "docs/api-server-behaviour.md#partial-objects-are-converted",
        "https://github.com/kubernetes/kubernetes/issues/117260",
        "https://github.com/kubernetes/kubernetes/issues/117356",
        "https://github.com/aws/karpenter-provider-aws/issues/6867",
    ],
    severity: Severity::Error,
    since: None,
    help: "treat every field as optional, including metadata",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for seen in trace.of(ApplyStep::Reviews) {
            let Observation::Reviews(reviews) = seen else { continue };
            let is_part = |review: &&ObservedReview| !review.metadata || (!review.spec && has_spec(evidence, review));
            for review in reviews.iter().filter(is_part) {
                found.examined += 1;
                if !review.answered {
                    let lacking = if review.metadata { "a spec" } else { "metadata" };
                    let message = format!("a review to {} of an object without {lacking} was not answered", review.to);
                    found.failure(&review.to, message, lacking.to_owned());
                }
            }
        }
    })
}

/// Returns true if whole objects of a review have a spec. Some kinds keep their content elsewhere.
fn has_spec(evidence: &Evidence<'_>, review: &ObservedReview) -> bool {
    let schemas = review.from.iter().map(|from| evidence.crd.version(from).and_then(|version| version.schema.as_ref()));
    schemas.into_iter().all(|schema| schema.is_some_and(|schema| schema.properties.contains_key("spec")))
}
