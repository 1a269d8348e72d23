//! A value of the wrong type is refused at every write, from Kubernetes 1.30 on at writes that change it, and clients
//! cannot decode the new one.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crdproof_schema::structural::compare::What;

pub(crate) const CHECK: Check = Check {
    id: "upgrade/type-kept",
    title: "no field changes its type in an existing version",
    why: "Stored objects no longer fit the schema, so updates of them are refused (from Kubernetes 1.30 on, updates \
          that touch the value), and clients built against the old type cannot decode the new one.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/deprecation-policy/#fields-of-rest-resources",
        "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api_changes.md#on-compatibility",
        "docs/api-server-behaviour.md#unchanged-invalid-values-are-tolerated",
    ],
    severity: Severity::Error,
    since: None,
    help: "add a new field of the new type, or change the type in a new version with a converter",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::judge_schemas(evidence, |delta, failure| {
        let about_types = matches!(delta.what, What::TypeChanged { .. } | What::ItemsChanged { .. });
        (about_types && delta.is_breaking()).then_some(failure)
    })
}
