//! Single reads, lists, and writing back an object must agree.

use crate::checks::shared_trace::{Found, Occasion, alike, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/versions-agree",
    title: "all ways to read an object give the same result, and writing it back changes nothing",
    why: "Controllers read lists and watches, users read single objects, and GitOps tools write back what they read. \
          If these differ, clients overwrite each other's changes.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#the-stored-version-must-not-show",
        "docs/api-server-behaviour.md#cached-and-fresh-reads-must-agree",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the converter deterministic and lossless; `crdproof run --suite converter` finds the field",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let alone = Occasion { key: "alone", when: "when it is read alone" };
    judged(evidence, |trace, found: &mut Found| {
        for snapshot in trace.snapshots(ServingStep::Read) {
            for call in trace.calls(ServingStep::Single).filter(|call| call.version == snapshot.version) {
                let listed = snapshot.objects.values().find(|object| object["metadata"]["name"] == call.name.as_str());
                if let Some(listed) = listed.filter(|_| call.is_success()) {
                    found.compare(evidence, &snapshot.version, (listed, &call.answered), &alone);
                }
            }
        }
        alike(evidence, trace, (ServingStep::Read, ServingStep::Rewrite), "after it was read and written back", found);
    })
}
