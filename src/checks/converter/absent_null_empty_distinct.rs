//! Absent, null and empty are different values.

use super::shared::{declared, differs, each, schema_of};
use crate::checks::shared_difference::{Difference, Kind, content, differences_in};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/absent-null-empty-distinct",
    title: "absent, null, zero and empty values are not turned into each other",
    why: "Clients then read a value where there was none, or none where there was one: GitOps tools report drift, \
          and server-side apply moves fields between owners. If the controller treats absent and empty differently, \
          its behaviour changes as well.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#null-is-dropped-where-it-is-not-allowed",
        "https://github.com/kubernetes/kubernetes/pull/95423",
    ],
    severity: Severity::Warning,
    since: None,
    help: "use pointers or options for optional fields, and omit `omitempty` where an empty value has a meaning",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        if !conversion_run.fit.is_valid() {
            return;
        }
        for (_, back) in conversion_run.round_trips() {
            let Some(served) = back.hop.served() else { continue };
            if content(&conversion_run.input).any(has_nothing) {
                collector.examined();
            }
            let schema = schema_of(evidence, &conversion_run.version);
            for difference in differences_in(schema, &conversion_run.input, served)
                .iter()
                .filter(|difference| difference.is_content())
            {
                if difference.kind(schema) == Kind::Representation
                    && !may_be_omitted(evidence, difference)
                    && !difference.is_default(schema)
                    && !declared(evidence, conversion_run, back.number, &difference.pointer)
                {
                    let on = format!("on the way {}", conversion_run.route(back.number));
                    collector.failure(differs(evidence, conversion_run, back.number, difference, &on));
                }
            }
        }
    })
}

/// Returns true if this is an explicit zero value, and the author states that those may become absent.
fn may_be_omitted(evidence: &Evidence<'_>, difference: &Difference<'_>) -> bool {
    evidence.subject.file.omitted_zeros.is_some() && difference.was.is_some() && difference.now.is_none()
}

/// Returns true if a value is empty, or contains an empty value.
fn has_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty() || items.iter().any(has_nothing),
        Value::Object(map) => map.is_empty() || map.values().any(has_nothing),
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
    }
}
