//! Clients pin versions. They need a release in which a version still works and warns, before it is no longer served,
//! and only a version that is no longer served may be removed.

use super::shared;
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{Crd, Version};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/served-version-kept",
    title: "a served version is first deprecated, then no longer served, then removed",
    why: "Otherwise clients, GitOps tools and Helm releases that use the version fail with \"no matches for kind\", \
          without any warning before.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-deprecation",
        "https://kubernetes.io/docs/reference/using-api/deprecation-policy/",
        "docs/api-server-behaviour.md#clients-of-a-version-break-when-it-is-unserved",
        "https://github.com/external-secrets/external-secrets/issues/5141",
        "https://github.com/linkerd/linkerd2/pull/15584",
    ],
    severity: Severity::Error,
    since: None,
    help: "set `deprecated: true` with a `deprecationWarning` for a release, then `served: false` for a release, then remove the version",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let new = evidence.crd;
    let old = match shared::old_state(evidence) {
        Ok(old) => old,
        Err(verdict) => return verdict,
    };
    let failures = old.versions.iter().filter(|before| before.served).filter_map(|before| gone(before, new)).collect();
    Verdict::from_failures(failures, old.versions.len())
}

fn gone(before: &Version, new: &Crd) -> Option<Failure> {
    let name = &before.name;
    let failure = match new.version(name) {
        Some(after) if after.served || before.deprecated => return None,
        Some(after) => shared::changed(format!("{name} is no longer served, and was not deprecated before"))
            .at(after.node.nearest("/served").span)
            .help("serve it for one more release with `deprecated: true` and a `deprecationWarning`")
            .key("unserved"),
        None => {
            let state = if before.deprecated { ", deprecated or not" } else { " and not even deprecated" };
            shared::changed(format!("{name} is removed while it was still served{state}"))
                .at(new.span_at("/spec/versions"))
                .help("keep it for one release with `served: false`; then restoring it is a one-word change")
                .key("removed")
        }
    };
    let served = before.node.nearest("/served").span;
    Some(failure.version(name).related(served, "it was served"))
}
