//! What a conversion writes must come from what it was given.

use std::cell::LazyCell;

use super::shared::{differs, each, schema_of};
use super::shared_invented::invented;
use crate::checks::Breach;
use crate::checks::shared_difference::{Difference, Kind, differences};
use crate::checks::{Check, Evidence, Need, Severity, Tools, Verdict};
use crate::evidence::{Step, Trial};
use crate::subject::field_map::expected;
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/nothing-invented",
    title: "a conversion adds nothing that was not there",
    why: "A field that appears by reading at another version is drift to every GitOps tool, gets an owner that \
          never set it, and is stored with the next write.",
    source: &[
        "docs/api-server-behaviour.md#nothing-may-be-invented",
        "https://github.com/netobserv/network-observability-operator/pull/467",
    ],
    severity: Severity::Error,
    since: None,
    help: "leave out what is absent in the source, empty structs included; leave defaults to the API server",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    evidence.with_tools(|tools| judge_with(evidence, tools))
}

fn judge_with(evidence: &Evidence<'_>, tools: &Tools<'_>) -> Verdict {
    let relation = tools.relation().ok();
    each(evidence, |tell, trial| {
        for (_, back) in trial.round_trips().filter(|_| trial.fit.is_valid()) {
            let Some(served) = back.leg.served() else { continue };
            tell.examined();
            let schema = schema_of(evidence, &trial.version);
            for difference in differences(&trial.input, served) {
                let label = difference.pointer.starts_with("/metadata/labels");
                let concerned = (difference.is_content() || label) && !difference.is_default(schema);
                if difference.kind() == Kind::Invented && concerned {
                    let on = format!("on the way {}", trial.route(back.number));
                    tell.breach(weighed(evidence, trial, &back, &difference, &on));
                }
            }
        }
        for step in trial.first_conversions() {
            let Some(found) = invented(trial, &step) else { continue };
            tell.examined();
            let schema = schema_of(evidence, &step.leg.to);
            let meant = LazyCell::new(|| expected(relation?, &trial.input, step.from, &step.leg.to).ok());
            for place in found.iter().filter(|place| !place.is_required(schema) && !place.is_default(schema)) {
                if meant.as_ref().and_then(|meant| meant.pointer(&place.pointer)).is_none() {
                    let on = format!("by {} out of an object without any content", trial.route(step.number));
                    tell.breach(weighed(evidence, trial, &step, place, &on));
                }
            }
        }
    })
}

/// Empty containers mean little, but are drift all the same.
fn weighed(evidence: &Evidence<'_>, trial: &Trial, step: &Step<'_>, place: &Difference<'_>, on: &str) -> Breach {
    let breach = differs(evidence, trial, step.number, place, on);
    let empty = match place.now {
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => false,
    };
    if empty { breach.severity(Severity::Warning) } else { breach }
}
