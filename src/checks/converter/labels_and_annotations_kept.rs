//! Labels and annotations are the only metadata that a converter can lose.

use super::shared::{about, each};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Edit;
use serde_json::{Map, Value};

pub(crate) const CHECK: Check = Check {
    id: "converter/labels-and-annotations-kept",
    title: "labels and annotations are kept",
    why: "API servers take labels and annotations from the response and delete those that are missing. Selectors \
          stop matching, and tools lose their state.",
    source: &[
        "https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go",
        "docs/api-server-behaviour.md#labels-and-annotations-are-taken-from-the-response",
    ],
    severity: Severity::Error,
    since: None,
    help: "copy all labels and annotations, and remove only annotations of your own",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        for step in conversion_run.conversions() {
            let Some(answer) = step.hop.answer() else { continue };
            for name in ["labels", "annotations"] {
                let Some(sent) = entries(step.sent, name).filter(|sent| !sent.is_empty()) else { continue };
                collector.examined();
                let now = entries(&answer.raw, name);
                let now = |key: &str| now.and_then(|now| now.get(key));
                // The converter may change what an earlier conversion added, but not what clients had or added.
                let born = entries(&conversion_run.input, name);
                let is_kept = |key: &str| key == Edit::LABEL.0 || born.is_some_and(|born| born.contains_key(key));
                let mut kept = sent.iter().filter(|(key, _)| is_kept(key));
                let Some((key, value)) = kept.find(|(key, value)| now(key) != Some(value)) else {
                    continue;
                };
                let route = conversion_run.route(step.number);
                let became = if now(key).is_some() { "is changed" } else { "is lost" };
                let what = name.trim_end_matches('s');
                let shown = evidence.redact(None, &serde_json::json!({ key: value }));
                let message = format!("the {what} {shown} {became} by {route}");
                let failure = about(evidence, conversion_run, step.number, message).key(format!("{route} {name}"));
                collector.failure(crate::checks::Failure { path: Some(format!(".metadata.{name}")), ..failure });
            }
        }
    })
}

fn entries<'v>(object: &'v Value, name: &str) -> Option<&'v Map<String, Value>> {
    object.get("metadata")?.get(name)?.as_object()
}
