//! One object has one identity.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/identity-shared",
    title: "uid, resource version and generation of an object are the same at every version",
    why: "Owner references, locks and controllers compare them across versions. If they differ, dependents lose \
          their owners and controllers reconcile endlessly.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#identity-is-the-same-at-every-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "report this to the vendor of the API server: a converter cannot change them",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let snapshots: Vec<_> = trace.snapshots(ServingStep::Read).collect();
        let Some((first, others)) = snapshots.split_first() else { return };
        for other in others {
            for (name, object) in &first.objects {
                let Some(same) = other.objects.get(name) else { continue };
                found.examined += 1;
                for field in ["uid", "creationTimestamp", "resourceVersion", "generation"] {
                    let (was, now) = (&object["metadata"][field], &same["metadata"][field]);
                    if was != now {
                        let message =
                            format!("{field} of {name} is {was} at {} and {now} at {}", first.version, other.version);
                        found.failure(&other.version, message, field.to_owned());
                    }
                }
            }
        }
    })
}
