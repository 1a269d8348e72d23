//! No finding must mean that nothing changed. A keyword that this release of crdproof does not know, or cannot read, is
//! reported in one line instead of being ignored.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crdproof_schema::structural::compare::What;

pub(crate) const CHECK: Check = Check {
    id: "upgrade/change-understood",
    title: "every change of a schema is understood",
    why: "A changed keyword that crdproof does not know may refuse or drop what stored objects contain.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema",
        "https://github.com/operator-framework/operator-controller/issues/1092",
    ],
    severity: Severity::Error,
    since: None,
    help: "correct the keyword if it is misspelt; otherwise review the change by hand and waive this finding",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::judge_schemas(evidence, |delta, failure| {
        matches!(delta.what, What::NotUnderstood { .. }).then_some(failure)
    })
}
