//! Responses do not depend on concurrent requests.

use super::shared::{failure, with_exchange};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Exchange, Purpose};

pub(crate) const CHECK: Check = Check {
    id: "webhook/concurrent-calls-agree",
    title: "a request gets the same response alone and among concurrent ones",
    why: "API servers send many requests at once. State that leaks between requests gives one object the content of \
          another.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#conversion-must-be-deterministic",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep no state between requests",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    let mut examined = 0;
    for exchange in evidence.exchanges {
        let Purpose::Concurrent(alone) = exchange.ask else { continue };
        let Some(Ok(alone)) = evidence.exchanges.get(alone).map(Exchange::converted) else { continue };
        examined += 1;
        match exchange.converted() {
            Ok(objects) if objects == alone => {}
            Ok(_) => {
                failures.push(with_exchange(
                    evidence,
                    exchange,
                    failure("the response differs from that to the same request alone", "differs"),
                ));
            }
            Err(why) => {
                failures.push(with_exchange(
                    evidence,
                    exchange,
                    failure(format!("sent among concurrent requests, the request failed: {why}"), "fails"),
                ));
            }
        }
    }
    failures.truncate(1);
    Verdict::from_failures(failures, examined)
}
