//! Subresources are enabled for each version separately. If versions differ, data that is protected at one can be
//! overwritten through another.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "manifest/subresources-agree",
    title: "all served versions enable the same subresources",
    why: "At a version without the status subresource, an ordinary write changes status and increases the \
          generation; at a version without scale, autoscalers get 404.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#subresources",
        "docs/api-server-behaviour.md#subresources-belong-to-one-version",
    ],
    severity: Severity::Warning,
    since: None,
    help: "enable the same subresources in every version",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let served: Vec<_> = evidence.crd.versions.iter().filter(|version| version.served).collect();
    let mut failures = Vec::new();
    for (what, enabled) in [
        ("status", served.iter().map(|version| version.status).collect::<Vec<_>>()),
        ("scale", served.iter().map(|version| version.scale.as_ref().map(|scale| scale.span)).collect()),
    ] {
        let Some(with) = enabled.iter().flatten().next() else {
            continue;
        };
        for (version, _) in served.iter().zip(&enabled).filter(|(_, span)| span.is_none()) {
            let message = format!("{} has no {what} subresource, but another served version has", version.name);
            let failure = Failure::new(message).at(version.name_span).version(&version.name).key(what);
            failures.push(failure.related(*with, format!("{what} is enabled here")));
        }
    }
    Verdict::from_failures(failures, evidence.crd.versions.len())
}
