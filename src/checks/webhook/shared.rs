//! Shared parts of the checks of this family: selecting exchanges, and describing failures.

use serde_json::Value;

use crate::checks::{Evidence, Failure, Verdict};
use crate::evidence::{Exchange, NotConverted, OUT_OF_PROPORTION, Outcome, Purpose, normalised, redacted_review};
use crdproof_schema::text::truncate;

/// The size of the excerpt of a body.
const MAX_SHOWN: usize = 600;

/// A failure. The key distinguishes failures of one check, independent of the exchange.
pub(super) fn failure(message: impl Into<String>, key: &str) -> Failure {
    Failure::new(message).key(key)
}

/// A failure with the exchange as its evidence, redacted.
pub(super) fn with_exchange(evidence: &Evidence<'_>, exchange: &Exchange, failure: Failure) -> Failure {
    let (said, failure) = match &exchange.outcome {
        Outcome::Answered { status, body, .. } => {
            let said = format!("HTTP {status}: {}", redacted(evidence, body));
            let complaint = match exchange.converted() {
                Err(NotConverted::Failed(why)) if *status != 200 || why.starts_with(OUT_OF_PROPORTION) => Some(why),
                _ => None,
            };
            (
                said,
                Failure { complaint: complaint.map(|why| normalised(&why)).or(failure.complaint.clone()), ..failure },
            )
        }
        Outcome::Failed(why) => (why.clone(), failure.complaint(why)),
        Outcome::Met(_) => ("no request was sent".into(), failure),
    };
    failure.evidence(format!("sent:     {}\nanswered: {said}", redacted(evidence, &exchange.sent)))
}

/// Redacts a body.
fn redacted(evidence: &Evidence<'_>, body: &str) -> String {
    match redacted_review(body, &|version, object| evidence.redact(version, object)) {
        Some(review) => truncate(&review.to_string(), MAX_SHOWN),
        None if evidence.show_secrets => truncate(body, MAX_SHOWN),
        None => format!("{} bytes that are not JSON", body.len()),
    }
}

/// Judges the relevant exchanges; of several failures with one key, keeps the first.
pub(super) fn each(
    evidence: &Evidence<'_>,
    matters: impl Fn(&Exchange) -> bool,
    judge: impl Fn(&Exchange) -> Option<Failure>,
) -> Verdict {
    each_read(evidence, |exchange| matters(exchange).then_some(()), |exchange, ()| judge(exchange))
}

/// Judges values that are read from the exchanges, once from each; skips exchanges without one.
fn each_read<T>(
    evidence: &Evidence<'_>,
    read: impl Fn(&Exchange) -> Option<T>,
    judge: impl Fn(&Exchange, T) -> Option<Failure>,
) -> Verdict {
    let mut failures: Vec<Failure> = Vec::new();
    let mut examined = 0;
    for (exchange, content) in evidence.exchanges.iter().filter_map(|exchange| Some((exchange, read(exchange)?))) {
        examined += 1;
        if let Some(failure) = judge(exchange, content)
            && failures.iter().all(|known| known.key != failure.key)
        {
            failures.push(with_exchange(evidence, exchange, failure));
        }
    }
    Verdict::from_failures(failures, examined)
}

/// Judges every response to a proper review: request and response as documents.
pub(super) fn each_answer(
    evidence: &Evidence<'_>,
    judge: impl Fn(&Exchange, &Value, &Value) -> Option<Failure>,
) -> Verdict {
    let read = |exchange: &Exchange| exchange.answer().ok().filter(|_| is_proper(exchange));
    each_read(evidence, read, |exchange, answer| judge(exchange, &exchange.review(), &answer))
}

/// Judges every successful conversion: the sent and the returned objects.
pub(super) fn each_success(
    evidence: &Evidence<'_>,
    judge: impl Fn(&Exchange, &[Value], &[Value]) -> Option<Failure>,
) -> Verdict {
    let read = |exchange: &Exchange| exchange.converted().ok().filter(|_| is_proper(exchange));
    each_read(evidence, read, |exchange, converted| {
        let review = exchange.review();
        judge(exchange, review["request"]["objects"].as_array()?, &converted)
    })
}

/// Requires that requests of a kind are converted completely, each object to the desired version.
pub(super) fn all_convert(evidence: &Evidence<'_>, sort: impl Fn(&Purpose) -> bool) -> Verdict {
    each(
        evidence,
        |exchange| sort(&exchange.ask),
        |exchange| {
            let request = exchange.review()["request"].take();
            let sent = request["objects"].as_array().map_or(0, Vec::len);
            let problem = match exchange.converted() {
                Err(why) => why.to_string(),
                Ok(converted) => {
                    let right =
                        converted.iter().filter(|object| object["apiVersion"] == request["desiredAPIVersion"]).count();
                    if right == sent {
                        return None;
                    }
                    format!("Success, but only {right} objects came back at {}", request["desiredAPIVersion"])
                }
            };
            Some(failure(format!("a request with {} was answered by {problem}", objects(sent)), "whole"))
        },
    )
}

/// Returns a number of objects as text.
pub(super) fn objects(count: usize) -> String {
    if count == 1 { "1 object".to_owned() } else { format!("{count} objects") }
}

/// Returns true if an API server could send the request.
fn is_proper(exchange: &Exchange) -> bool {
    !matches!(exchange.ask, Purpose::Malformed(_) | Purpose::Method | Purpose::Certificate)
}
