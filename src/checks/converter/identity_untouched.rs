//! A converted object must still be the same object.

use super::shared::{about, each};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Reply;
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/identity-untouched",
    title: "kind, name, namespace and uid do not change",
    why: "API servers compare them and refuse the whole response if one differs, so every list and watch at that \
          version fails.",
    source: &[
        "https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go",
        "docs/api-server-behaviour.md#identity-must-come-back-unchanged",
    ],
    severity: Severity::Error,
    since: None,
    help: "copy metadata unchanged, and answer in the order of the request",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        for step in conversion_run.conversions() {
            let raw: &Value = match &step.hop.reply {
                Reply::Object(answer) => &answer.raw,
                Reply::Unusable(raw, _) => raw,
                Reply::Refused(_) | Reply::Failed(_) => continue,
            };
            collector.examined();
            let desired = format!("{}/{}", evidence.crd.group, step.hop.to);
            let [_, others @ ..] = identity(step.sent);
            let was = std::iter::once(desired.as_str()).chain(others);
            for ((name, was), now) in PLACES.into_iter().zip(was).zip(identity(raw)) {
                if was != now {
                    let route = conversion_run.route(step.number);
                    let message = format!("{name} is {now:?} instead of {was:?} after {route}");
                    let failure = about(evidence, conversion_run, step.number, message).key(format!("{route} {name}"));
                    collector.failure(crate::checks::Failure { path: Some(name.to_owned()), ..failure });
                }
            }
        }
    })
}

/// The identity of an object.
const PLACES: [&str; 5] = [".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".metadata.uid"];

/// Returns these values of an object. Absent, null and empty are the same to an API server.
fn identity(object: &Value) -> [&str; 5] {
    let metadata = &object["metadata"];
    let places =
        [(object, "apiVersion"), (object, "kind"), (metadata, "name"), (metadata, "namespace"), (metadata, "uid")];
    places.map(|(part, name)| part[name].as_str().unwrap_or_default())
}
