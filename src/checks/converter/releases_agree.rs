//! The previous release and this one must read each other's objects.

use super::shared::{complains, differs, each, schema_of};
use crate::checks::shared_difference::{Kind, differences};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Act, ConversionRun, Step};

pub(crate) const CHECK: Check = Check {
    id: "converter/releases-agree",
    title: "this release and the previous one convert each other's objects",
    why: "During a rollout both releases convert, and after a rollback the old one reads what the new one wrote. \
          Whatever one of them does not understand is lost.",
    source: &[
        "docs/api-server-behaviour.md#a-rollback-needs-the-old-converter",
        "https://github.com/aws/karpenter-provider-aws/pull/6560",
        "https://github.com/kube-rs/kube/issues/865",
    ],
    severity: Severity::Error,
    since: None,
    help: "for one release, keep reading what the previous release wrote, and write only what it can read",
    needs: &[Need::ConversionRuns, Need::BaselineConverter],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        if !conversion_run.fit.is_valid() {
            return;
        }
        for first in conversion_run.steps().filter(|step| step.hop.of == 0) {
            let writer = &first.hop.act;
            let reader = match writer {
                Act::Convert => Act::Baseline,
                Act::Baseline => Act::Convert,
                Act::Again | Act::Edit(_) => continue,
            };
            let Some(read) = back(conversion_run, &first, &reader) else { continue };
            collector.examined();
            let (wrote, reads) = match writer {
                Act::Convert => ("this release", "the previous release"),
                _ => ("the previous release", "this release"),
            };
            let on = format!("when {wrote} converts to {} and {reads} converts it back", first.hop.to);
            let Some(served) = read.hop.served() else {
                let why = read.hop.complaint().unwrap_or_default();
                let message = format!("{reads} refuses an object that {wrote} converted: {why}");
                let key = format!("{} by {wrote}", conversion_run.route(read.number));
                collector.failure(complains(evidence, conversion_run, read.number, message, why).key(key));
                continue;
            };
            // A field that either release loses by itself is not a disagreement.
            let alone: Vec<String> = conversion_run
                .steps()
                .filter(|step| step.hop.of == 0 && step.hop.to == first.hop.to)
                .filter_map(|step| back(conversion_run, &step, &step.hop.act))
                .filter_map(|step| step.hop.served())
                .flat_map(|served| differences(&conversion_run.input, served))
                .map(|difference| difference.pointer)
                .collect();
            let schema = schema_of(evidence, &conversion_run.version);
            for difference in
                differences(&conversion_run.input, served).iter().filter(|difference| difference.is_content())
            {
                let known = alone.iter().any(|pointer| difference.pointer.starts_with(pointer.as_str()));
                if difference.kind(schema) != Kind::Representation && !known {
                    let failure = differs(evidence, conversion_run, read.number, difference, &on);
                    let key = format!("{} by {wrote}", failure.key);
                    collector.failure(failure.key(key));
                }
            }
        }
    })
}

/// The conversion back by one of the two.
fn back<'t>(conversion_run: &'t ConversionRun, first: &Step<'t>, reader: &Act) -> Option<Step<'t>> {
    conversion_run.after(first.number).find(|step| step.hop.act == *reader && step.hop.to == conversion_run.version)
}
