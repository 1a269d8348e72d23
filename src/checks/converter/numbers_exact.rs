//! Numbers must keep all their digits.

use super::shared::{differs, each, schema_of};
use crate::checks::shared_difference::{Kind, content, differences};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Act, ConversionRun};
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/numbers-exact",
    title: "numbers keep every digit",
    why: "A converter that parses numbers as floating point silently changes large ones: ids, byte counts and \
          nanoseconds lose their last digits.",
    source: &[
        "https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiextensions-apiserver/test/integration/basic_test.go",
        "docs/api-server-behaviour.md#integers-have-64-bits",
    ],
    severity: Severity::Error,
    since: None,
    help: "decode integers as 64-bit integers, or pass the JSON text through",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        if !conversion_run.fit.is_valid() || !content(&conversion_run.input).any(needs_exact_digits) {
            return;
        }
        for step in conversion_run.conversions() {
            // The field may have moved, which converting back shows; if it has not, one conversion is enough.
            let origin = if step.hop.to == conversion_run.version { &conversion_run.input } else { step.sent };
            let Some(served) = step.hop.served().filter(|_| !has_other_hands(conversion_run, step.hop.of)) else {
                continue;
            };
            collector.examined();
            for difference in differences(origin, served).iter().filter(|difference| difference.is_content()) {
                if difference.kind(schema_of(evidence, &step.hop.to)) == Kind::Rounded {
                    let on = format!("on the way {}", conversion_run.route(step.number));
                    collector.failure(differs(evidence, conversion_run, step.number, difference, &on));
                }
            }
        }
    })
}

/// Returns true if a value contains a number that floating point, or few digits, cannot represent.
fn needs_exact_digits(value: &Value) -> bool {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.unsigned_abs() > 1 << 53,
            None => number.as_f64().is_some_and(|value| value.fract() != 0.0),
        },
        Value::Array(items) => items.iter().any(needs_exact_digits),
        Value::Object(map) => map.values().any(needs_exact_digits),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Returns true if another actor than the converter changed the start of a hop.
fn has_other_hands(conversion_run: &ConversionRun, number: usize) -> bool {
    let hop = number.checked_sub(1).and_then(|index| conversion_run.hops.get(index));
    hop.is_some_and(|hop| hop.act != Act::Convert || (hop.of < number && has_other_hands(conversion_run, hop.of)))
}
