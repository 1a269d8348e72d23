//! A converter must do what its author declared.

use super::shared::{about, each, generic, schema_of};
use crate::checks::Failure;
use crate::checks::shared_difference::differences;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::subject::field_map::{Relation, expected};
use crdproof_schema::structural::canonicalize;
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/declared-map-holds",
    title: "the converter does what the field map says",
    why: "Reviewers read the field map, and the upgrade guide is written from it. If the converter behaves \
          differently, both are wrong.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/field-maps.md#lost-only-in-one-version-given-up",
    ],
    severity: Severity::Error,
    since: None,
    help: "correct the converter, or declare what it does",
    needs: &[Need::ConversionRuns, Need::FieldMap],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    evidence.with_tools(|tools| match tools.relation() {
        Ok(relation) => judge_by(evidence, relation),
        Err(why) => Verdict::Inconclusive(why.to_owned()),
    })
}

fn judge_by(evidence: &Evidence<'_>, relation: &Relation<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        for step in conversion_run.first_conversions().filter(|_| conversion_run.fit.is_valid()) {
            let to = &*step.hop.to;
            let Some(served) = step.hop.served() else { continue };
            let Ok(mut meant) = expected(relation, &conversion_run.input, step.from, to) else { continue };
            collector.examined();
            canonicalize(schema_of(evidence, to), &mut meant);
            for difference in differences(&meant, served).iter().filter(|difference| difference.is_content()) {
                let name = generic(schema_of(evidence, to), &difference.pointer);
                let shown = |value: Option<&Value>| {
                    let part = serde_json::json!({ difference.pointer.rsplit('/').next().unwrap_or_default(): value });
                    evidence.redact(None, &part).to_string()
                };
                let (was, now) = (shown(difference.was), shown(difference.now));
                let route = conversion_run.route(step.number);
                let message = format!("{name} of {to} differs from the field map after {route}");
                let failure =
                    about(evidence, conversion_run, step.number, message).version(to).key(format!("{route} {name}"));
                let story = failure.evidence.clone().unwrap_or_default();
                let failure =
                    failure.evidence(format!("{story}\nat {}\nexpected {was}\nfound    {now}", difference.pointer));
                let failure = failure.together(&route, format!("of {to} differ from the field map after {route}"));
                collector.failure(Failure { path: Some(name), ..failure });
            }
        }
    })
}
