//! The same request must have the same response.

use crate::checks::{Check, Evidence, Need, Severity, Verdict};

use super::shared::{about, each};
use crate::checks::shared_difference::{differences, field};
use crate::evidence::{Act, Reply, Step};

pub(crate) const CHECK: Check = Check {
    id: "converter/deterministic",
    title: "the same object always gives the same answer, alone or in a batch",
    why: "An API server skips a write that changes nothing only if the object converts to exactly the stored bytes. \
          Answers that vary change resource versions and field owners on every write.",
    source: &[
        "https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/storage/etcd3/store.go",
        "docs/api-server-behaviour.md#conversion-must-be-deterministic",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep no state between calls, and sort lists that are built from maps",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        for again in conversion_run.steps().filter(|step| step.hop.act == Act::Again) {
            let mut asked = conversion_run.conversions();
            let first = asked.find(|step| step.hop.of == again.hop.of && step.hop.to == again.hop.to);
            let Some(first) = first else { continue };
            collector.examined();
            let message = match (&first.hop.reply, &again.hop.reply) {
                (Reply::Object(first), Reply::Object(again)) => {
                    let found = differences(&first.raw, &again.raw);
                    let Some(difference) = found.first() else { continue };
                    format!("{} differs between two responses to the same request", field(&difference.pointer))
                }
                (Reply::Refused(_), Reply::Refused(_))
                | (Reply::Unusable(..), Reply::Unusable(..))
                | (Reply::Failed(_), Reply::Failed(_)) => continue,
                (Reply::Object(_), Reply::Refused(why) | Reply::Unusable(_, why) | Reply::Failed(why)) => {
                    format!("when asked again, the converter refuses: {why}")
                }
                (Reply::Refused(why) | Reply::Unusable(_, why) | Reply::Failed(why), _) => {
                    format!("when asked again, the converter converts the object; at first it refused: {why}")
                }
            };
            let failure = about(
                evidence,
                conversion_run,
                again.number,
                format!("{}: {message}", conversion_run.route(again.number)),
            );
            let shown =
                |step: &Step<'_>| step.hop.answer().map(|answer| evidence.redact(Some(&step.hop.to), &answer.raw));
            let story = format!(
                "{}\nfirst: {}\nagain: {}",
                failure.evidence.as_deref().unwrap_or_default(),
                shown(&first).unwrap_or_default(),
                shown(&again).unwrap_or_default()
            );
            collector.failure(failure.evidence(story));
        }
    })
}
