//! The values that a conversion writes must come from its input.

use std::cell::LazyCell;

use super::shared::{differs, each, schema_of};
use super::shared_invented::invented;
use crate::checks::Failure;
use crate::checks::shared_difference::{Difference, Kind, content, differences_in, severity_of_invention};
use crate::checks::{Check, Evidence, Need, Severity, Tools, Verdict};
use crate::evidence::{ConversionRun, Step};
use crate::subject::field_map::expected;
use crdproof_schema::structural::means_absent;

pub(crate) const CHECK: Check = Check {
    id: "converter/nothing-invented",
    title: "a conversion adds no fields",
    why: "A field that appears when an object is read at another version is reported as drift by GitOps tools, gets \
          an owner that never set it, and is stored by the next write.",
    source: &[
        "docs/api-server-behaviour.md#nothing-may-be-invented",
        "https://github.com/netobserv/network-observability-operator/pull/467",
    ],
    severity: Severity::Error,
    since: None,
    help: "omit what is absent in the source, including empty structs; leave defaults to the API server",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    evidence.with_tools(|tools| judge_with(evidence, tools))
}

fn judge_with(evidence: &Evidence<'_>, tools: &Tools<'_>) -> Verdict {
    let relation = tools.relation().ok();
    each(evidence, |collector, conversion_run| {
        for (_, back) in conversion_run.round_trips().filter(|_| conversion_run.fit.is_valid()) {
            let Some(served) = back.hop.served() else { continue };
            collector.examined();
            let schema = schema_of(evidence, &conversion_run.version);
            for difference in differences_in(schema, &conversion_run.input, served) {
                let label = difference.pointer.starts_with("/metadata/labels");
                let concerned = (difference.is_content() || label) && !difference.is_default(schema);
                if difference.kind(schema) == Kind::Invented && concerned {
                    let on = format!("on the way {}", conversion_run.route(back.number));
                    collector.failure(weighed(evidence, conversion_run, &back, &difference, &on));
                }
            }
        }
        for step in conversion_run.first_conversions() {
            let Some(found) = invented(conversion_run, &step) else { continue };
            collector.examined();
            // Values that survive the conversion back are reported above.
            let mut round_trips = conversion_run.round_trips();
            let back =
                round_trips.find(|(there, _)| there.number == step.number).and_then(|(_, back)| back.hop.served());
            if back.is_some_and(|back| content(back).next().is_some()) {
                continue;
            }
            let schema = schema_of(evidence, &step.hop.to);
            let meant = LazyCell::new(|| expected(relation?, &conversion_run.input, step.from, &step.hop.to).ok());
            for place in found.iter().filter(|place| !place.is_required(schema) && !place.is_default(schema)) {
                if meant.as_ref().and_then(|meant| meant.pointer(&place.pointer)).is_none() {
                    let on = format!("by {} from an object without any content", conversion_run.route(step.number));
                    let failure = weighed(evidence, conversion_run, &step, place, &on);
                    collector.failure(
                        failure.together("added to nothing", "are added when objects without content are converted"),
                    );
                }
            }
        }
    })
}

/// Chooses the severity of an invented value by its harm.
fn weighed(
    evidence: &Evidence<'_>,
    conversion_run: &ConversionRun,
    step: &Step<'_>,
    place: &Difference<'_>,
    on: &str,
) -> Failure {
    let failure = differs(evidence, conversion_run, step.number, place, on);
    let schema = schema_of(evidence, &step.hop.to).and_then(|schema| schema.at_pointer(&place.pointer));
    match place.now {
        Some(now) if means_absent(schema, now) => failure.severity(Severity::Note),
        Some(now) => failure.severity(severity_of_invention(now)),
        None => failure,
    }
}
