//! Storing at a version that is not served is valid, but a trap for migration tools and backups.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "manifest/storage-version-served",
    title: "the storage version is served",
    why: "Tools that migrate, back up or clean up read at the storage version. If it is not served, its hash in \
          discovery is empty, and these tools fail or convert every object.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#the-storage-version-may-be-unserved",
    ],
    severity: Severity::Warning,
    since: None,
    help: "serve the storage version, or store a version that is served",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    match evidence.crd.storage() {
        Some(version) if !version.served => {
            let message = format!("{} is stored but not served", version.name);
            let span = version.node.nearest("/served").span;
            Verdict::Failed(vec![Failure::new(message).at(span).version(&version.name).key("served")])
        }
        Some(_) => Verdict::Passed { examined: 1 },
        None => Verdict::Inconclusive("there is no storage version".into()),
    }
}
