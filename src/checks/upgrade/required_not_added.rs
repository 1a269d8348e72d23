//! An object without a newly required field is refused as soon as anything around the missing field changes. Ratcheting
//! accepts only an object without any change.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crdproof_schema::structural::compare::What;

pub(crate) const CHECK: Check = Check {
    id: "upgrade/required-not-added",
    title: "no field becomes required in an existing version without a default",
    why: "Stored objects and manifests without the field are refused, and controllers can no longer update such \
          objects.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting",
        "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api_changes.md#on-compatibility",
        "docs/api-server-behaviour.md#unchanged-invalid-values-are-tolerated",
        "docs/api-server-behaviour.md#migration-writes-are-validated-and-admitted",
    ],
    severity: Severity::Error,
    since: None,
    help: "give the field a default, or keep it optional and let the controller handle its absence",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::judge_schemas(evidence, |delta, failure| {
        let required = matches!(delta.what, What::RequiredAdded { .. });
        (required && delta.is_breaking()).then_some(failure)
    })
}
