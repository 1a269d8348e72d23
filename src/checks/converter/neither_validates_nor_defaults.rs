//! Validation and defaulting belong to the API server.

use super::shared::{complains, differs, each, schema_of};
use super::shared_invented::invented;
use crate::checks::shared_difference::differences;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Validity;

pub(crate) const CHECK: Check = Check {
    id: "converter/neither-validates-nor-defaults",
    title: "the converter neither validates nor sets defaults",
    why: "API servers convert before they validate, and objects that were valid once stay stored when rules change. \
          A converter that refuses them makes them unreadable; one that sets defaults takes fields from their owners.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#the-server-validates-and-defaults",
    ],
    severity: Severity::Warning,
    since: None,
    help: "convert every object that can be decoded; leave validation and defaults to the schema and to admission \
           webhooks",
    needs: &[Need::ConversionRuns],
    judge,
};

/// Constraints whose violation does not prevent a conversion. Wrong types, enumerations and formats may prevent it.
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
    each(evidence, |collector, conversion_run| {
        for (_, back) in conversion_run.round_trips().filter(|_| conversion_run.fit.is_valid()) {
            let Some(served) = back.hop.served() else { continue };
            collector.examined();
            let schema = schema_of(evidence, &conversion_run.version);
            for difference in differences(&conversion_run.input, served) {
                if difference.was.is_none() && difference.is_default(schema) {
                    let on = format!("on the way {} and is the default", conversion_run.route(back.number));
                    collector.failure(differs(evidence, conversion_run, back.number, &difference, &on));
                }
            }
        }
        for step in conversion_run.first_conversions() {
            if let Validity::Invalid(keyword) = &conversion_run.fit
                && HARMLESS.contains(&keyword.as_str())
            {
                collector.examined();
                // A type that cannot hold the value is not validation.
                let is_rule = |why: &&str| !why.contains("cannot unmarshal");
                if let Some(why) = step.hop.reply.explained_refusal().filter(is_rule) {
                    let route = conversion_run.route(step.number);
                    let message = format!("an object that breaks `{keyword}` is refused by {route}: {why}");
                    let failure = complains(evidence, conversion_run, step.number, message, why);
                    collector.failure(failure.key(format!("{route} {keyword}")));
                }
            }
            let Some(found) = invented(conversion_run, &step) else { continue };
            collector.examined();
            let schema = schema_of(evidence, &step.hop.to);
            for place in found.iter().filter(|place| place.is_default(schema)) {
                let on = format!(
                    "by {} and is the default, which API servers fill in themselves",
                    conversion_run.route(step.number)
                );
                collector.failure(differs(evidence, conversion_run, step.number, place, &on));
            }
        }
    })
}
