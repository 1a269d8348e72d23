//! A converter must do what its author declared.

use super::shared::{about, each, generic, schema_of};
use crate::checks::Breach;
use crate::checks::shared_difference::differences;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::subject::field_map::{Relation, expected};
use crdproof_schema::structural::as_held;
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/declared-map-holds",
    title: "the converter does what the field map says",
    why: "The field map is what the upgrade guide promises and what reviewers read. A converter that does \
          something else makes both untrue.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/field-maps.md#lost-only-in-one-version-given-up",
    ],
    severity: Severity::Error,
    since: None,
    help: "mend the converter, or declare what it does",
    needs: &[Need::Trials, Need::FieldMap],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    evidence.with_tools(|tools| match tools.relation() {
        Ok(relation) => judge_by(evidence, relation),
        Err(why) => Verdict::Undecided(why.to_owned()),
    })
}

fn judge_by(evidence: &Evidence<'_>, relation: &Relation<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        for step in trial.first_conversions().filter(|_| trial.fit.is_valid()) {
            let to = &*step.leg.to;
            let Some(served) = step.leg.served() else { continue };
            let Ok(mut meant) = expected(relation, &trial.input, step.from, to) else { continue };
            tell.examined();
            as_held(schema_of(evidence, to), &mut meant);
            for difference in differences(&meant, served).iter().filter(|difference| difference.is_content()) {
                let name = generic(schema_of(evidence, to), &difference.pointer);
                let shown = |value: Option<&Value>| {
                    let part = serde_json::json!({ difference.pointer.rsplit('/').next().unwrap_or_default(): value });
                    evidence.mask(None, &part).to_string()
                };
                let (was, now) = (shown(difference.was), shown(difference.now));
                let route = trial.route(step.number);
                let message = format!("{name} of {to} is not what the field map says after {route}");
                let breach = about(evidence, trial, step.number, message).version(to).key(format!("{route} {name}"));
                let story = breach.evidence.clone().unwrap_or_default();
                let breach =
                    breach.evidence(format!("{story}\nat {}\nexpected {was}\nfound    {now}", difference.pointer));
                tell.breach(Breach { path: Some(name), ..breach });
            }
        }
    })
}
