//! Deleting a CRD deletes all its objects. Tools that prune, such as Helm, delete a CRD that a bundle no longer
//! contains.

use std::collections::BTreeSet;

use crate::checks::{Change, Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/crd-kept",
    title: "no CRD is removed",
    why: "An applier that prunes deletes a CRD that is no longer in the bundle, and with it every object of that \
          kind in the cluster.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#delete-a-customresourcedefinition",
        "docs/api-server-behaviour.md#deleting-a-crd-deletes-its-objects",
        "https://github.com/ricoberger/vault-secrets-operator/issues/115",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the CRD in the bundle until no cluster has objects of it; then announce its removal and waive this \
           finding",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    match evidence.change {
        Change::Unknown => Verdict::Inconclusive("no baseline to compare with".into()),
        Change::Added | Change::Kept(_) => Verdict::Passed { examined: 1 },
        Change::Removed => Verdict::Failed(vec![gone(evidence)]),
    }
}

fn gone(evidence: &Evidence<'_>) -> Failure {
    let old = evidence.crd;
    let failure = Failure::new(format!("the CRD {} is gone", old.name)).at(old.span_at("/metadata/name")).key("gone");
    let known: BTreeSet<_> = evidence.subject.baseline.iter().flatten().map(|crd| &crd.name).collect();
    let heir = evidence.subject.crds.iter().find(|crd| !known.contains(&crd.name) && crd.names.kind == old.names.kind);
    match heir {
        Some(heir) => {
            failure.related(heir.span_at("/metadata/name"), "the same kind is now defined here").help(format!(
                "keep {} beside {} and move the objects over: the API server takes them for different resources",
                old.name, heir.name
            ))
        }
        None => failure.change("the CRD is gone"),
    }
}
