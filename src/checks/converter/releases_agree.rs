//! The previous release and this one must read each other's objects.

use super::shared::{about, differs, each};
use crate::checks::shared_difference::{Kind, differences};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Act, Step, Trial};

pub(crate) const CHECK: Check = Check {
    id: "converter/releases-agree",
    title: "this release and the previous one understand each other's objects",
    why: "During an upgrade both convert, and after a rollback the old one reads what the new one wrote. What \
          they do not agree on is lost then.",
    source: &[
        "docs/api-server-behaviour.md#a-rollback-needs-the-old-converter",
        "https://github.com/aws/karpenter-provider-aws/pull/6560",
        "https://github.com/kube-rs/kube/issues/865",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep reading what the previous release wrote, and write what it can read, for one release",
    needs: &[Need::Trials, Need::BaselineConverter],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        if !trial.fit.is_valid() {
            return;
        }
        for first in trial.steps().filter(|step| step.leg.of == 0) {
            let writer = &first.leg.act;
            let reader = match writer {
                Act::Convert => Act::Baseline,
                Act::Baseline => Act::Convert,
                Act::Again | Act::Edit(_) => continue,
            };
            let Some(read) = back(trial, &first, &reader) else { continue };
            tell.examined();
            let (wrote, reads) = match writer {
                Act::Convert => ("this release", "the previous one"),
                _ => ("the previous release", "this one"),
            };
            let on = format!("when {wrote} converts to {} and {reads} converts back", first.leg.to);
            let Some(served) = read.leg.served() else {
                let why = read.leg.complaint().unwrap_or_default();
                let message = format!("what {wrote} made of an object is refused by {reads}: {why}");
                let key = format!("{} by {wrote}", trial.route(read.number));
                tell.breach(about(evidence, trial, read.number, message).key(key));
                continue;
            };
            // What either loses by itself is no disagreement.
            let alone: Vec<String> = trial
                .steps()
                .filter(|step| step.leg.of == 0 && step.leg.to == first.leg.to)
                .filter_map(|step| back(trial, &step, &step.leg.act))
                .filter_map(|step| step.leg.served())
                .flat_map(|served| differences(&trial.input, served))
                .map(|difference| difference.pointer)
                .collect();
            for difference in differences(&trial.input, served).iter().filter(|difference| difference.is_content()) {
                let known = alone.iter().any(|pointer| difference.pointer.starts_with(pointer.as_str()));
                if difference.kind() != Kind::Emptiness && !known {
                    let breach = differs(evidence, trial, read.number, difference, &on);
                    let key = format!("{} by {wrote}", breach.key);
                    tell.breach(breach.key(key));
                }
            }
        }
    })
}

/// The way back by one of the two.
fn back<'t>(trial: &'t Trial, first: &Step<'t>, reader: &Act) -> Option<Step<'t>> {
    trial.after(first.number).find(|step| step.leg.act == *reader && step.leg.to == trial.version)
}
