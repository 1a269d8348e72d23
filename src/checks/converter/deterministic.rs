//! The same question must have the same answer.

use crate::checks::{Check, Evidence, Need, Severity, Verdict};

use super::shared::{about, each};
use crate::checks::shared_difference::{differences, field};
use crate::evidence::{Act, Reply, Step};

pub(crate) const CHECK: Check = Check {
    id: "converter/deterministic",
    title: "the same object gives the same answer, alone or in company",
    why: "A write that changes nothing is skipped only if it converts to the very bytes that are stored. Jitter makes resource versions move for ever and fields change owners.",
    source: &[
        "https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/storage/etcd3/store.go",
        "docs/api-server-behaviour.md#conversion-must-be-deterministic",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep no state between calls, and write lists that come from maps in a fixed order",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        for again in trial.steps().filter(|step| step.leg.act == Act::Again) {
            let mut asked = trial.conversions();
            let first = asked.find(|step| step.leg.of == again.leg.of && step.leg.to == again.leg.to);
            let Some(first) = first else { continue };
            tell.examined();
            let message = match (&first.leg.reply, &again.leg.reply) {
                (Reply::Object(first), Reply::Object(again)) => {
                    let found = differences(&first.raw, &again.raw);
                    let Some(difference) = found.first() else { continue };
                    format!("{} differs between two answers to the same question", field(&difference.pointer))
                }
                (Reply::Refused(_), Reply::Refused(_)) | (Reply::Unusable(..), Reply::Unusable(..)) => continue,
                (Reply::Object(_), Reply::Refused(why) | Reply::Unusable(_, why)) => {
                    format!("asked a second time the converter refuses: {why}")
                }
                (Reply::Refused(why) | Reply::Unusable(_, why), _) => {
                    format!("asked a second time the converter agrees; at first it said: {why}")
                }
            };
            let breach = about(evidence, trial, again.number, format!("{}: {message}", trial.route(again.number)));
            let shown =
                |step: &Step<'_>| step.leg.answer().map(|answer| evidence.mask(Some(&step.leg.to), &answer.raw));
            let story = format!(
                "{}\nfirst: {}\nagain: {}",
                breach.evidence.as_deref().unwrap_or_default(),
                shown(&first).unwrap_or_default(),
                shown(&again).unwrap_or_default()
            );
            tell.breach(breach.evidence(story));
        }
    })
}
