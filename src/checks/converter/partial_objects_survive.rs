//! Converters see objects that no API server would admit.

use super::shared::{about, declared, differs, each};
use crate::checks::shared_difference::{Kind, differences};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Fit;

pub(crate) const CHECK: Check = Check {
    id: "converter/partial-objects-survive",
    title: "parts of objects convert, and come back",
    why: "Server-side apply sends what one manager owns: objects without spec, without required fields, even \
          without metadata. A converter that fails on them breaks every apply.",
    source: &[
        "docs/api-server-behaviour.md#partial-objects-are-converted",
        "https://github.com/kubernetes/kubernetes/issues/117260",
        "https://github.com/tektoncd/pipeline/issues/6823",
        "https://github.com/kubernetes/kubernetes/issues/117356",
        "https://github.com/aws/karpenter-provider-aws/issues/6867",
    ],
    severity: Severity::Error,
    since: None,
    help: "treat every field as optional, and answer with `metadata: {}` where there is none",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        let Fit::Partial(missing) = &trial.fit else { return };
        for step in trial.first_conversions() {
            tell.examined();
            if let Some(why) = step.leg.complaint() {
                let route = trial.route(step.number);
                let message = format!("an object with {missing} cannot be converted by {route}: {why}");
                let kind = missing.split(' ').take(2).collect::<Vec<_>>().join(" ");
                tell.breach(about(evidence, trial, step.number, message).key(format!("{route} {kind}")));
            }
        }
        for (_, back) in trial.round_trips() {
            let Some(served) = back.leg.served() else {
                let why = back.leg.complaint().unwrap_or_default();
                let route = trial.route(back.number);
                let message = format!("an object with {missing} does not come back by {route}: {why}");
                tell.breach(about(evidence, trial, back.number, message));
                continue;
            };
            for difference in differences(&trial.input, served).iter().filter(|difference| difference.is_content()) {
                let lossy = matches!(difference.kind(), Kind::Lost | Kind::Changed);
                if lossy && !declared(evidence, trial, back.number, &difference.pointer) {
                    let on = format!("from an object with {missing} on the way {}", trial.route(back.number));
                    tell.breach(differs(evidence, trial, back.number, difference, &on));
                }
            }
        }
    })
}
