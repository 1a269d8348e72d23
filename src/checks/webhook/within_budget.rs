//! Conversion delays every request.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::shared::{failure, with_exchange};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Exchange, Purpose};
use crate::subject::Period;

pub(crate) const CHECK: Check = Check {
    id: "webhook/within-budget",
    title: "at most one conversion in a hundred takes longer than `budget` (by default 50 ms and 8 ms for each object)",
    why: "Every read and write at a version other than the stored one waits for the endpoint; API servers give up \
          after 30 s.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#the-webhook-has-thirty-seconds",
        "docs/api-server-behaviour.md#slow-conversion-delays-every-client",
        "https://github.com/kubernetes-sigs/kueue/pull/11207",
    ],
    severity: Severity::Warning,
    since: None,
    help: "profile the endpoint, and avoid network calls during conversion",
    needs: &[Need::Exchanges],
    judge,
};

/// The default time limits of a request and of each object in it, in microseconds.
const REQUEST: u64 = 50_000;
const OBJECT: u64 = 8_000;

/// The number of requests that are not timed, and the minimum number of late ones.
const WARM_UP: usize = 2;
const ENOUGH: usize = 3;

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let micros = |period: Period| u64::try_from(period.0.as_micros()).unwrap_or(u64::MAX);
    let budget = evidence.subject.file.budget.as_ref();
    let (request, object) =
        budget.map_or((REQUEST, OBJECT), |budget| (micros(budget.per_call), micros(budget.per_object)));
    let allowed = |objects: usize| request.saturating_add(object.saturating_mul(objects as u64));
    let plain = |exchange: &&Exchange| {
        matches!(exchange.ask, Purpose::Conversion | Purpose::LargeBatch | Purpose::MixedBatch | Purpose::Repeated)
    };
    let mut late = Vec::new();
    let mut taken: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    let mut examined = 0;
    // The first responses include one-time setup.
    for exchange in evidence.exchanges.iter().filter(plain).skip(WARM_UP) {
        let Ok(converted) = exchange.converted() else { continue };
        examined += 1;
        taken.entry(converted.len()).or_default().push(exchange.micros);
        if exchange.micros > allowed(converted.len()) {
            late.push((exchange, converted.len()));
        }
    }
    // One in a hundred may be late, because of other load on the machine. A few late requests say nothing.
    if late.len() * 100 <= examined || late.len() < ENOUGH {
        if examined < ENOUGH * 10 {
            return Verdict::Inconclusive(format!("{examined} requests are too few to tell how long answers take"));
        }
        return Verdict::from_failures(Vec::new(), examined);
    }
    late.sort_by_key(|(exchange, _)| Reverse(exchange.micros));
    let worst = late.first().map(|(exchange, objects)| {
        let message = format!(
            "{} of {examined} requests were late; the worst took {} ms for {objects} objects, allowed are {} ms",
            late.len(),
            exchange.micros / 1000,
            allowed(*objects) / 1000
        );
        let failure = with_exchange(evidence, exchange, failure(message, "late"));
        let rest = failure.evidence.clone().unwrap_or_default();
        failure.evidence(format!("{}{rest}", table(taken, allowed)))
    });
    Verdict::from_failures(worst.into_iter().collect(), examined)
}

/// Returns a table of durations, by the number of objects.
fn table(taken: BTreeMap<usize, Vec<u64>>, allowed: impl Fn(usize) -> u64) -> String {
    let mut text =
        format!("{:>7} {:>8} {:>9} {:>9} {:>9} {:>9}\n", "objects", "requests", "p50", "p90", "p99", "allowed");
    for (objects, mut micros) in taken {
        micros.sort_unstable();
        // The percentile of the durations.
        let within = |part: usize| micros.get((micros.len() * part).div_ceil(100).saturating_sub(1)).copied();
        let shown = |micros: u64| format!("{}.{:01} ms", micros / 1000, micros % 1000 / 100);
        let [half, most, nearly_all] = [50, 90, 99].map(|part| shown(within(part).unwrap_or_default()));
        let (requests, allowed) = (micros.len(), shown(allowed(objects)));
        text.push_str(&format!("{objects:>7} {requests:>8} {half:>9} {most:>9} {nearly_all:>9} {allowed:>9}\n"));
    }
    text
}
