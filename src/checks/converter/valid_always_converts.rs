//! The converter must convert every object that an API server admits.

use crate::checks::{Check, Evidence, Need, Severity, Verdict};

use super::shared::{complains, each};
use crate::checks::Failure;
use crate::evidence::{ConversionRun, Origin, Step};

pub(crate) const CHECK: Check = Check {
    id: "converter/valid-always-converts",
    title: "a valid object is never refused",
    why: "One object that cannot be converted makes every list of its kind fail at that version, for kubectl, \
          controllers, garbage collection and GitOps tools.",
    source: &[
        "docs/api-server-behaviour.md#every-valid-object-must-convert",
        "https://github.com/kubernetes-sigs/cluster-api/issues/1953",
    ],
    severity: Severity::Error,
    since: None,
    help: "convert what the target version can represent, and stash the rest in an annotation",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    // Another check reports a pair that never converts.
    let of_pair = |from: &str, to: &str| {
        let valid = evidence
            .conversion_runs
            .iter()
            .filter(|conversion_run| conversion_run.fit.is_valid() && *conversion_run.version == *from);
        let steps = valid.flat_map(ConversionRun::first_conversions).filter(|step| *step.hop.to == *to);
        steps.fold((0, 0), |(all, converted), step| (all + 1, converted + usize::from(step.hop.answer().is_some())))
    };
    each(evidence, |collector, conversion_run| {
        if !conversion_run.fit.is_valid() {
            return;
        }
        for step in conversion_run.first_conversions() {
            collector.examined();
            let is_refused = step.hop.answer().is_none();
            if !is_refused || matches!(of_pair(step.from, &step.hop.to), (2.., 0)) {
                continue;
            }
            let (from, to) = (step.from, &*step.hop.to);
            if let Some(why) = step.hop.reply.crash() {
                let message =
                    format!("the converter crashes on a valid object of {from} that is converted to {to}: {why}");
                let failure = complains(evidence, conversion_run, step.number, message, why);
                let help = "treat every optional field as absent or present; the converter's log has the stack trace";
                collector.failure(failure.help(help));
            } else if let Some(why) = step.hop.reply.explained_refusal() {
                collector.failure(refused(evidence, conversion_run, &step, why));
            }
        }
    })
}

/// A refusal of a sample hurts users today. A refusal of an object that only the schema admits may never happen: the
/// schema promises more than the converter supports.
fn refused(evidence: &Evidence<'_>, conversion_run: &ConversionRun, step: &Step<'_>, why: &str) -> Failure {
    let (from, to) = (step.from, &*step.hop.to);
    if matches!(conversion_run.origin, Origin::Sample(_)) {
        let message = format!("a sample of {from} cannot be converted to {to}: {why}");
        return complains(evidence, conversion_run, step.number, message, why);
    }
    let message = format!("the schema of {from} admits what the converter refuses to convert to {to}: {why}");
    complains(evidence, conversion_run, step.number, message, why)
        .severity(Severity::Warning)
        .help("state in the schema what the converter expects (a pattern, format, enum or bound), or convert it")
        .together("refused", "are refused")
}
