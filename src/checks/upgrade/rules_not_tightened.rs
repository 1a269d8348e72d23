//! A rule that stored objects violate makes their updates fail. Rules are compared by meaning if their structure shows
//! it; otherwise one line shows both.

use super::shared::{self, Ratcheting};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::structural::compare::{Delta, Direction, What};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/rules-not-tightened",
    title: "rules of an existing version refuse nothing that was allowed",
    why: "Stored objects that violate the new rule cannot be updated, and existing manifests are refused.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules",
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting",
        "docs/api-server-behaviour.md#unchanged-invalid-values-are-tolerated",
        "https://github.com/kubernetes-sigs/crdify/issues/50",
    ],
    severity: Severity::Error,
    since: None,
    help: "exempt what was valid before, for example with `|| self == oldSelf` in a transition rule, or add the rule \
           in a new version",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::judge_schemas(evidence, |delta, failure| match delta.what {
        What::RuleChanged { transition, .. } if delta.is_breaking() => {
            Some(weigh(evidence, delta, failure, transition))
        }
        _ => None,
    })
}

fn weigh(evidence: &Evidence<'_>, delta: &Delta, failure: Failure, transition: bool) -> Failure {
    if transition {
        // It only runs on updates, so no stored object violates it.
        return failure
            .severity(Severity::Warning)
            .help("tell clients which updates are refused from now on; no stored object is affected");
    }
    let failure = if delta.direction == Direction::Unknown {
        failure.help("compare the rules by hand: their structure does not tell which one allows more; waive this finding if the new one does")
    } else {
        failure
    };
    match shared::ratcheting(evidence, delta) {
        Ratcheting::Softens => failure.severity(Severity::Warning),
        Ratcheting::Useless | Ratcheting::Uncertain => failure,
    }
}
