//! Metadata belongs to the API server.

use super::shared::{about, each};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Act;
use serde_json::{Map, Value};

pub(crate) const CHECK: Check = Check {
    id: "converter/metadata-untouched",
    title: "metadata other than labels and annotations is returned unchanged",
    why: "API servers silently restore it, so the change has no effect today. It has an effect before Kubernetes \
          1.15, and in every tool that calls the converter without an API server.",
    source: &[
        "docs/api-server-behaviour.md#other-metadata-is-restored",
        "https://github.com/kubernetes/kubernetes/pull/77743",
        "https://github.com/kubernetes/kubernetes/issues/72160",
    ],
    severity: Severity::Note,
    since: None,
    help: "copy metadata unchanged",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        for step in conversion_run.steps().filter(|step| step.hop.act == Act::Convert && conversion_run.fit.is_valid())
        {
            let Some(answer) = step.hop.answer() else { continue };
            let (Some(was), Some(now)) = (metadata(step.sent), metadata(&answer.raw)) else { continue };
            collector.examined();
            let mut names = was.keys().chain(now.keys()).filter(|name| !ELSEWHERE.contains(&name.as_str()));
            if let Some(name) = names.find(|name| stated(was, name) != stated(now, name)) {
                let route = conversion_run.route(step.number);
                let message = format!("metadata.{name} is changed by {route}; API servers put it back");
                let failure = about(evidence, conversion_run, step.number, message).key(format!("{route} {name}"));
                collector.failure(crate::checks::Failure { path: Some(format!(".metadata.{name}")), ..failure });
            }
        }
    })
}

/// Metadata that other checks judge.
const ELSEWHERE: [&str; 5] = ["labels", "annotations", "name", "namespace", "uid"];

fn metadata(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// Returns a value that is not null: old Go types write `creationTimestamp: null`.
fn stated<'v>(metadata: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    metadata.get(name).filter(|value| !value.is_null())
}
