//! Validation and defaults are the API server's.

use super::shared::{about, differs, each, schema_of};
use super::shared_invented::invented;
use crate::checks::shared_difference::{Kind, differences};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Fit, Reply};

pub(crate) const CHECK: Check = Check {
    id: "converter/neither-validates-nor-defaults",
    title: "the converter neither validates nor fills in defaults",
    why: "API servers convert before they validate, and objects that were valid once stay stored when rules \
          change. A converter that refuses them makes them unreadable, and one that defaults takes fields away \
          from their owners.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#the-server-validates-and-defaults",
    ],
    severity: Severity::Warning,
    since: None,
    help: "convert whatever can be read; leave rules and defaults to schema and webhooks for admission",
    needs: &[Need::Trials],
    judge,
};

/// Constraints whose breach is no obstacle to conversion. Types, enumerations and formats may be one.
const HARMLESS: [&str; 11] = [
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxLength",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
    "uniqueItems",
    "x-kubernetes-validations",
];

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        for (_, back) in trial.round_trips().filter(|_| trial.fit.is_valid()) {
            let Some(served) = back.leg.served() else { continue };
            tell.examined();
            let schema = schema_of(evidence, &trial.version);
            for difference in differences(&trial.input, served) {
                if difference.kind() == Kind::Invented && difference.is_default(schema) {
                    let on = format!("on the way {} and is the default", trial.route(back.number));
                    tell.breach(differs(evidence, trial, back.number, &difference, &on));
                }
            }
        }
        for step in trial.first_conversions() {
            if let Fit::Invalid(keyword) = &trial.fit
                && HARMLESS.contains(&keyword.as_str())
            {
                tell.examined();
                if let Reply::Refused(why) = &step.leg.reply {
                    let route = trial.route(step.number);
                    let message = format!("an object that breaks `{keyword}` is refused by {route}: {why}");
                    tell.breach(about(evidence, trial, step.number, message).key(format!("{route} {keyword}")));
                }
            }
            let Some(found) = invented(trial, &step) else { continue };
            tell.examined();
            let schema = schema_of(evidence, &step.leg.to);
            for place in found.iter().filter(|place| place.is_default(schema)) {
                let on =
                    format!("by {} and is the default, which API servers fill in themselves", trial.route(step.number));
                tell.breach(differs(evidence, trial, step.number, place, &on));
            }
        }
    })
}
