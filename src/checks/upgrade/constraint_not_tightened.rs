//! A stored value outside the new limits makes every update of its object fail. From Kubernetes 1.30 on, an invalid
//! value is accepted if an update changes neither it nor its parts. This is true of most updates of scalars. Lists,
//! maps and objects change with any of their parts.

use super::shared::{self, Ratcheting};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::structural::compare::{Delta, Direction, What};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/constraint-not-tightened",
    title: "values that were valid in an existing version stay valid",
    why: "Stored objects that are no longer valid cannot be updated, scaled, finalised or migrated, and existing \
          manifests are refused.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting",
        "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api_changes.md#on-compatibility",
        "docs/api-server-behaviour.md#unchanged-invalid-values-are-tolerated",
        "docs/api-server-behaviour.md#migration-writes-are-validated-and-admitted",
        "docs/api-server-behaviour.md#a-schema-change-affects-its-own-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the old limit in this version and tighten it in a new one, or validate in an admission policy that \
           exempts old objects",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::judge_schemas(evidence, |delta, failure| {
        if !delta.is_breaking() {
            return None;
        }
        match &delta.what {
            What::PatternChanged { .. } if delta.direction == Direction::Unknown => Some(not_decided(failure)),
            What::BoundChanged { .. }
            | What::EnumAdded { .. }
            | What::EnumChanged { .. }
            | What::PatternChanged { .. }
            | What::FormatChanged { .. }
            | What::JunctorChanged { .. } => Some(softened(evidence, delta, failure)),
            What::EmbeddedResourceChanged { .. } if delta.direction == Direction::Narrower => Some(failure),
            What::NullableChanged { .. } => Some(null(delta, failure)),
            What::PropertyAdded | What::MapValuesChanged { .. } if delta.direction == Direction::Narrower => {
                Some(freed(failure))
            }
            _ => None,
        }
    })
}

/// A pattern that is too large to compare, or that our engine cannot read.
fn not_decided(failure: Failure) -> Failure {
    let help = "compare the patterns by hand: it is not decided whether the new one matches all that the old one does";
    failure.severity(Severity::Warning).help(help)
}

/// Returns the failure as ratcheting softens it.
fn softened(evidence: &Evidence<'_>, delta: &Delta, failure: Failure) -> Failure {
    match shared::ratcheting(evidence, delta) {
        Ratcheting::Useless => failure,
        Ratcheting::Uncertain => failure.help(format!(
            "{}; Kubernetes 1.30 and later excuse an old value that an update leaves alone: declare `kubernetes.minimum: \"1.30\"` if you need no older one",
            CHECK.help
        )),
        Ratcheting::Softens => failure.severity(Severity::Warning).help(format!(
            "{}; the declared Kubernetes versions excuse an old value until somebody changes it",
            CHECK.help
        )),
    }
}

fn null(delta: &Delta, failure: Failure) -> Failure {
    if delta.direction == Direction::Lossy {
        let help = "keep `nullable: true`: the API server drops a null that the field may not hold";
        return failure.severity(Severity::Warning).help(help);
    }
    failure
}

/// Values that the schema did not describe before may happen to fit.
fn freed(failure: Failure) -> Failure {
    let help = "make sure that stored values fit: so far any value was kept here, now it is validated and pruned";
    failure.severity(Severity::Warning).help(help)
}
