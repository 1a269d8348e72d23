//! `/status` and `/scale` are separate endpoints. A controller that writes to a removed one gets 404, and an added
//! status subresource makes normal updates ignore `status`.

use super::shared;
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{Scale, Version};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/subresources-kept",
    title: "a served version keeps its status and scale subresources",
    why: "Controllers that write to /status, and autoscalers that write to /scale, get 404 when it is removed. With \
          a new scale path, /scale of an object without that field answers 500. Where /status is new, ordinary \
          updates no longer change `status`.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#subresources",
        "docs/api-server-behaviour.md#status-and-spec-are-written-apart",
        "docs/api-server-behaviour.md#scale-uses-the-paths-of-the-request-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the subresource of this version unchanged",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let old = match shared::old_state(evidence) {
        Ok(old) => old,
        Err(verdict) => return verdict,
    };
    let served = shared::served_in_both(old, evidence.crd);
    let examined = served.len();
    let failures =
        served.into_iter().flat_map(|(before, after)| status(before, after).into_iter().chain(scale(before, after)));
    Verdict::from_failures(failures.collect(), examined.max(1))
}

fn status(before: &Version, after: &Version) -> Option<Failure> {
    let name = &after.name;
    let failure = match (before.status, after.status) {
        (Some(span), None) => {
            shared::changed(format!("{name} loses the status subresource: writes to /status get 404"))
                .at(after.name_span)
                .related(span, "it was here")
        }
        (None, Some(span)) => {
            shared::changed(format!("{name} gains the status subresource: ordinary updates no longer change `status`"))
                .at(span)
                .related(before.name_span, "there was none")
                .severity(Severity::Warning)
                .help("release a controller that writes to /status before this CRD, or together with it")
        }
        (Some(_), Some(_)) | (None, None) => return None,
    };
    Some(failure.version(name).key(format!("status {}", after.status.is_some())))
}

/// A field of a scale: its name, and its path.
type ScalePath<'a> = (&'static str, Option<&'a str>);

/// The fields that a scale reads and writes.
fn paths(scale: &Scale) -> [ScalePath<'_>; 3] {
    [
        ("specReplicasPath", scale.spec_replicas.as_ref().map(|(path, _)| path.as_str())),
        ("statusReplicasPath", scale.status_replicas.as_ref().map(|(path, _)| path.as_str())),
        ("labelSelectorPath", scale.label_selector.as_ref().map(|(path, _)| path.as_str())),
    ]
}

fn scale(before: &Version, after: &Version) -> Vec<Failure> {
    let name = &after.name;
    let (old, new) = match (&before.scale, &after.scale) {
        (Some(old), Some(new)) => (old, new),
        (Some(old), None) => {
            let message = format!("{name} loses the scale subresource: autoscalers and `kubectl scale` get 404");
            let failure = shared::changed(message).at(after.name_span).version(name);
            return vec![failure.related(old.span, "it was here").key("scale false")];
        }
        (None, _) => return Vec::new(),
    };
    let changed = paths(old).into_iter().zip(paths(new)).filter(|(old, new)| old.1 != new.1 && old.1.is_some());
    let failure = |((what, before), (_, after)): (ScalePath<'_>, ScalePath<'_>)| {
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or("nothing"));
        shared::changed(format!("{name}: {what} of the scale subresource changed from {before} to {after}"))
            .at(new.span)
            .version(name)
            .related(old.span, "this was the old state")
            .key(format!("{what} {before} {after}"))
    };
    changed.map(failure).collect()
}
