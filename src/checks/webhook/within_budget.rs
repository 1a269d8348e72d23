//! Conversion is on the path of every request.

use super::shared::{breach, shown};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::observe::{Ask, Exchange};

pub(crate) const CHECK: Check = Check {
    id: "webhook/within-budget",
    title: "at most one conversion in a hundred takes longer than 50 ms and 8 ms more for each object",
    why: "Every read and write at another version than the stored one waits for the endpoint; API servers give up after 30 s.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "G17",
    ],
    severity: Severity::Warning,
    since: None,
    help: "profile the endpoint; keep conversion free of network calls",
    needs: &[Need::Exchanges],
    judge,
};

/// What a request may cost, and each object of it, in microseconds.
const REQUEST: u64 = 50_000;
const OBJECT: u64 = 8_000;

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let plain = |exchange: &&Exchange| matches!(exchange.ask, Ask::Conversion | Ask::LargeBatch | Ask::MixedBatch);
    let mut late = Vec::new();
    let mut examined = 0;
    for exchange in evidence.exchanges.iter().filter(plain) {
        let Ok(objects) = exchange.converted() else { continue };
        examined += 1;
        let allowed = REQUEST + OBJECT * objects.len() as u64;
        if exchange.micros > allowed {
            late.push((exchange, objects.len(), allowed));
        }
    }
    // One in a hundred may be late: the machine has other things to do, too.
    if late.len() * 100 <= examined {
        return Verdict::from_breaches(Vec::new(), examined);
    }
    late.sort_by_key(|(exchange, ..)| std::cmp::Reverse(exchange.micros));
    let worst = late.first().map(|(exchange, objects, allowed)| {
        let message = format!(
            "{} of {examined} requests were late; the worst took {} ms for {objects} objects, allowed are {} ms",
            late.len(),
            exchange.micros / 1000,
            allowed / 1000
        );
        shown(evidence, exchange, breach(message, "late"))
    });
    Verdict::from_breaches(worst.into_iter().collect(), examined)
}
