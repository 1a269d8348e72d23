//! Applying the same object twice changes nothing.

use crate::checks::cause::FORM;
use crate::checks::shared_difference::{Kind, differences, field};
use crate::checks::shared_trace::{Found, content, judged};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{ApplyStep, Call, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/reapply-is-no-op",
    title: "applying the same object again changes nothing",
    why: "GitOps tools apply every few minutes. If each apply writes, every controller that watches the kind has to \
          process the object each time.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#an-identical-apply-writes-nothing",
        "https://github.com/kubernetes/kubernetes/pull/125263",
    ],
    severity: Severity::Error,
    since: Some(31),
    help: "keep every applied field on the way to the stored version: a lost field makes each apply write the object \
           again",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for again in trace.calls(ApplyStep::Reapply) {
            let mut calls = trace.calls(ApplyStep::Apply);
            let Some(first) = calls.find(|call| call.name == again.name && call.version == again.version) else {
                continue;
            };
            found.examined += 1;
            let version = |call: &Call| call.answered["metadata"]["resourceVersion"].clone();
            if !again.is_success() {
                found.failure(
                    &again.version,
                    format!("applying {} again failed: {}", again.name, again.message()),
                    "failed".to_owned(),
                );
            } else if version(first) != version(again) {
                let message = format!("applying {} again at {} wrote it again", again.name, again.version);
                found.add(written(evidence, first, message));
            }
        }
    })
}

/// Names the cause of the server's write: a field that was sent and is missing, or else an empty value that was added
/// to a list which is compared as a whole.
fn written(evidence: &Evidence<'_>, first: &Call, message: String) -> Failure {
    let schema = evidence.crd.version(&first.version).and_then(|version| version.schema.as_ref());
    let (sent, there) = (content(&first.sent), content(&first.answered));
    let all = differences(&sent, &there);
    let content = || all.iter().filter(|difference| difference.is_content());
    let gone = content().filter(|difference| difference.was.is_some());
    let gone = gone.max_by_key(|difference| difference.kind(schema).is_loss());
    let cause = gone.or_else(|| content().find(|difference| difference.kind(schema) == Kind::Representation));
    let failure = Failure::new(message).version(&first.version).key("written");
    match cause {
        Some(difference) if difference.kind(schema) == Kind::Representation => {
            let failure = failure
                .severity(Severity::Warning)
                .together(FORM, "change in form, not in meaning, and are written by every apply");
            Failure { path: Some(field(&difference.pointer)), ..failure }
        }
        Some(difference) => Failure { path: Some(field(&difference.pointer)), ..failure },
        None => failure,
    }
}
