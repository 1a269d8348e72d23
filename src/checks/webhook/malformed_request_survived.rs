//! A malformed request gets a response, and does no harm.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Exchange, Outcome, Purpose, normalised};

pub(crate) const CHECK: Check = Check {
    id: "webhook/malformed-request-survived",
    title: "a malformed request gets a response that is not a success, and the next valid request works",
    why: "An endpoint that crashes on one invalid request makes all versions except the stored one unavailable.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#errors-belong-in-the-result",
        "docs/api-server-behaviour.md#malformed-requests-need-an-answer",
        "https://github.com/kubernetes-sigs/controller-runtime/pull/3278",
        "https://github.com/kubernetes-sigs/controller-runtime/pull/1970",
    ],
    severity: Severity::Error,
    since: None,
    help: "check the decoded request before you use it, and respond with 400 or Failure",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let relevant = |exchange: &Exchange| matches!(exchange.ask, Purpose::Malformed(_) | Purpose::Afterwards);
    shared::each(evidence, relevant, |exchange| match (&exchange.ask, &exchange.outcome) {
        (Purpose::Malformed(what), Outcome::Failed(why)) => {
            let failure = failure(format!("{what}: no answer ({why})"), what).severity(Severity::Warning);
            Some(failure.together(normalised(why), "are not answered"))
        }
        (Purpose::Malformed(what), Outcome::Answered { .. }) => {
            let objects = exchange.converted().unwrap_or_default();
            let failure = || failure(format!("{what}: answered with Success and objects"), what);
            (!objects.is_empty()).then(|| failure().severity(Severity::Warning))
        }
        (_, _) => {
            let why = exchange.converted().err()?;
            Some(failure(format!("a valid request after malformed ones failed: {why}"), "afterwards"))
        }
    })
}
