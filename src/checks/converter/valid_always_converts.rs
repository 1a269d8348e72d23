//! What an API server admits, the converter must convert.

use crate::checks::{Check, Evidence, Need, Severity, Verdict};

use super::shared::{about, each};
use crate::evidence::{ConversionRun, Reply};

pub(crate) const CHECK: Check = Check {
    id: "converter/valid-always-converts",
    title: "a valid object is never refused",
    why: "An object that cannot be converted makes every list of its kind fail at that version: kubectl, controllers, garbage collection and GitOps stand still.",
    source: &[
        "docs/api-server-behaviour.md#every-valid-object-must-convert",
        "https://github.com/kubernetes-sigs/cluster-api/issues/1953",
    ],
    severity: Severity::Error,
    since: None,
    help: "convert what can be represented, and stash the rest in an annotation",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    // A pair that never converts is the matter of another check.
    let of_pair = |from: &str, to: &str| {
        let valid = evidence
            .conversion_runs
            .iter()
            .filter(|conversion_run| conversion_run.fit.is_valid() && *conversion_run.version == *from);
        let steps = valid.flat_map(ConversionRun::first_conversions).filter(|step| *step.hop.to == *to);
        steps.fold((0, 0), |(all, converted), step| (all + 1, converted + usize::from(step.hop.answer().is_some())))
    };
    each(evidence, |tell, conversion_run| {
        if !conversion_run.fit.is_valid() {
            return;
        }
        for step in conversion_run.first_conversions() {
            tell.examined();
            let Reply::Refused(why) = &step.hop.reply else { continue };
            if matches!(of_pair(step.from, &step.hop.to), (2.., 0)) {
                continue;
            }
            let message = format!("a valid object of {} cannot be converted to {}: {why}", step.from, step.hop.to);
            let failure = about(evidence, conversion_run, step.number, message);
            tell.failure(failure.key(format!("{} {}", conversion_run.route(step.number), kind_of(why))));
        }
    })
}

/// A complaint without the values that differ from object to object.
fn kind_of(why: &str) -> String {
    let mut quoted = false;
    let mut kind = String::new();
    for letter in why.chars() {
        match letter {
            '"' | '`' => quoted = !quoted,
            _ if quoted || letter.is_ascii_digit() => {}
            _ => kind.push(letter),
        }
    }
    kind.chars().take(80).collect()
}
