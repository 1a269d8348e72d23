//! Converters receive objects that no API server would admit.

use super::shared::{complains, declared, differs, each, schema_of};
use crate::checks::shared_difference::differences_in;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Validity, normalised};
use crdproof_schema::structural::means_absent;

pub(crate) const CHECK: Check = Check {
    id: "converter/partial-objects-survive",
    title: "partial objects convert, and convert back",
    why: "Server-side apply sends what one manager owns: objects without spec, without required fields, even without \
          metadata. A converter that fails on them breaks every apply.",
    source: &[
        "docs/api-server-behaviour.md#partial-objects-are-converted",
        "https://github.com/kubernetes/kubernetes/issues/117260",
        "https://github.com/tektoncd/pipeline/issues/6823",
        "https://github.com/kubernetes/kubernetes/issues/117356",
        "https://github.com/aws/karpenter-provider-aws/issues/6867",
    ],
    severity: Severity::Error,
    since: None,
    help: "treat every field as optional, and return `metadata: {}` where the input has none",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        let Validity::Partial(missing) = &conversion_run.fit else { return };
        for step in conversion_run.first_conversions() {
            collector.examined();
            if let Some(why) = step.hop.complaint() {
                let route = conversion_run.route(step.number);
                let message = format!("an object with {missing} cannot be converted by {route}: {why}");
                let failure = complains(evidence, conversion_run, step.number, message, why);
                collector.failure(failure.together(normalised(why), "of partial objects cannot be converted"));
            }
        }
        for (_, back) in conversion_run.round_trips() {
            let Some(served) = back.hop.served() else {
                let why = back.hop.complaint().unwrap_or_default();
                let route = conversion_run.route(back.number);
                let message = format!("an object with {missing} does not convert back by {route}: {why}");
                collector.failure(complains(evidence, conversion_run, back.number, message, why));
                continue;
            };
            let schema = schema_of(evidence, &conversion_run.version);
            for difference in differences_in(schema, &conversion_run.input, served)
                .iter()
                .filter(|difference| difference.is_content())
            {
                // A part of an object need not have fields that a whole object requires.
                let own = schema.and_then(|schema| schema.at_pointer(&difference.pointer));
                let is_zero = difference.was.is_some_and(|was| means_absent(own, was));
                if difference.kind(schema).is_loss()
                    && !is_zero
                    && !declared(evidence, conversion_run, back.number, &difference.pointer)
                {
                    let on = format!("from an object with {missing} on the way {}", conversion_run.route(back.number));
                    let failure = differs(evidence, conversion_run, back.number, difference, &on);
                    let route = conversion_run.route(back.number);
                    let clause = format!("of partial objects are lost on the way {route}");
                    collector.failure(failure.together(format!("lost {route}"), clause));
                }
            }
        }
    })
}
