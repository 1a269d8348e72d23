//! Objects in etcd have the version at which they were written. A version must not be removed from the CRD before its
//! objects were rewritten and `status.storedVersions` was trimmed.

use std::collections::BTreeMap;

use super::shared;
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{Crd, Version};
use crdproof_schema::document::{Node, Span};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/stored-version-kept",
    title: "a version that may be stored stays in spec.versions",
    why: "The API server refuses the new CRD while status.storedVersions names the version. If that list was trimmed \
          by hand without a migration, objects can no longer be read.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#upgrade-existing-objects-to-a-new-stored-version",
        "docs/api-server-behaviour.md#a-stored-version-cannot-be-removed",
        "https://github.com/kubernetes-sigs/cluster-api/issues/6691",
        "https://github.com/operator-framework/operator-lifecycle-manager/pull/1535",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the version with `served: false`, migrate all objects, trim status.storedVersions, and remove it in a later release",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let new = evidence.crd;
    let old = match shared::old_state(evidence) {
        Ok(old) => old,
        Err(verdict) => return verdict,
    };
    let stored = stored_versions(old);
    let examined = stored.len();
    let gone = stored.into_iter().filter(|(name, _)| new.version(name).is_none());
    let failures = gone.map(|(name, span)| {
        shared::changed(format!("{name} is gone from spec.versions, but objects may be stored at it"))
            .at(new.span_at("/spec/versions"))
            .version(name)
            .related(span, "it was stored")
            .key("gone")
    });
    Verdict::from_failures(failures.chain(unproven(old, new)).collect(), examined)
}

/// Versions that were removed without evidence that no object is stored at them. Another check reports those that were
/// served until now.
fn unproven(old: &Crd, new: &Crd) -> Vec<Failure> {
    // A CRD from a server lists its stored versions; one from a repository does not.
    if old.node.at(&["status", "storedVersions"]).is_some() {
        return Vec::new();
    }
    let gone = old.versions.iter().filter(|version| !version.storage && !version.served);
    let gone = gone.filter(|version| new.version(&version.name).is_none());
    let failure = |version: &Version| {
        shared::changed(format!(
            "{} is gone from spec.versions, and nothing shows that no object is stored at it",
            version.name
        ))
        .at(new.span_at("/spec/versions"))
        .version(&version.name)
        .related(version.name_span, "it was not served any more")
        .severity(Severity::Warning)
        .help("ask users to make sure, before they upgrade, that status.storedVersions does not name the version")
        .key("unproven")
    };
    gone.map(failure).collect()
}

/// The versions that etcd may contain, with their locations in the old state.
fn stored_versions(old: &Crd) -> BTreeMap<&str, Span> {
    let listed = old.node.at(&["status", "storedVersions"]);
    let listed = listed.map(Node::items).unwrap_or_default().iter();
    let listed = listed.filter_map(|item| Some((item.as_str()?, item.span)));
    let marked = old.versions.iter().filter(|version| version.storage);
    let marked = marked.map(|version| (version.name.as_str(), version.name_span));
    listed.chain(marked).collect()
}
