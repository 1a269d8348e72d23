//! One request may hold objects of several versions.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::observe::Ask;

pub(crate) const CHECK: Check = Check {
    id: "webhook/mixed-batch-converted",
    title: "a request with objects of several versions is converted whole",
    why: "Lists of objects that were stored at different versions come in one request; while storage migration runs that is the rule.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "W-05",
        "H18",
    ],
    severity: Severity::Error,
    since: None,
    help: "look at the apiVersion of each object, not only of the first",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::all_convert(evidence, |ask| *ask == Ask::MixedBatch)
}
