//! The API server prunes fields that the schema does not have, at the next write of each object. Removing a field from
//! a version's schema therefore deletes its values, and a rename is a removal.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crdproof_schema::structural::compare::{Direction, What};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/field-kept",
    title: "no field is removed from an existing version",
    why: "The next write of each object drops the values, clients that set the field get no error, and server-side \
          apply fails where managedFields still names it.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/deprecation-policy/#fields-of-rest-resources",
        "docs/api-server-behaviour.md#owned-paths-exist-in-their-version",
        "https://github.com/prometheus-operator/prometheus-operator/issues/7114",
        "https://github.com/fluxcd/kustomize-controller/pull/1635",
        "https://github.com/argoproj/argo-cd/issues/26619",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the field and mark it as deprecated in its description; remove it in a new version with a converter",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::judge_schemas(evidence, |delta, failure| {
        if delta.direction != Direction::Lossy {
            return None;
        }
        match &delta.what {
            What::PropertyRemoved { renamed_to: Some(name) } => Some(failure.help(format!(
                "keep both fields and let the controller read either; a rename to `{name}` inside a version erases the values"
            ))),
            What::PropertyRemoved { renamed_to: None } => Some(failure),
            What::MapValuesChanged { .. } => {
                Some(failure.help("keep `additionalProperties` with its schema, or the values are dropped"))
            }
            What::EmbeddedResourceChanged { .. } => {
                Some(failure.help("keep `x-kubernetes-embedded-resource`, or apiVersion, kind and metadata are dropped"))
            }
            _ => None,
        }
    })
}
