//! How long servers are given, and how often they are asked again.

use std::time::{Duration, Instant};

use crate::cluster::ClusterError;
use crate::cluster::api::{Answer, Api};

/// How long a change may take to be seen.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Asks, with a pause between, until the answer is as wanted or the time is over; whether it was, and the last answer.
pub(super) async fn ask_until<Asked>(
    within: Duration,
    pause: Duration,
    ask: impl Fn() -> Asked,
    wanted: impl Fn(&Answer) -> bool,
) -> Result<(bool, Answer), ClusterError>
where
    Asked: Future<Output = Result<Answer, ClusterError>>,
{
    let end = Instant::now() + within;
    loop {
        let answer = ask().await?;
        let is_wanted = wanted(&answer);
        if is_wanted || Instant::now() >= end {
            return Ok((is_wanted, answer));
        }
        tokio::time::sleep(pause).await;
    }
}

/// Asks again where the server says that it is not ready: after a change of the CRD it builds its storage anew, and the cache
/// of a busy one lags behind what it has told already.
pub(super) async fn patiently<Asked>(ask: impl Fn() -> Asked) -> Result<Answer, ClusterError>
where
    Asked: Future<Output = Result<Answer, ClusterError>>,
{
    let ready = |answer: &Answer| match answer.status {
        429 => false,
        504 => !answer.message().starts_with("Timeout: Too large resource version"),
        _ => true,
    };
    let (_, answer) = ask_until(PATIENCE, Duration::from_millis(50), ask, ready).await?;
    Ok(answer)
}

/// Reads until the answer is as wanted; whether it was, and the last answer.
pub(super) async fn until(
    api: &Api,
    path: &str,
    wanted: impl Fn(&Answer) -> bool,
) -> Result<(bool, Answer), ClusterError> {
    ask_until(PATIENCE, Duration::from_millis(20), || api.get(path), wanted).await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rstest::rstest;

    use super::*;

    fn answer(status: u16, message: &str) -> Answer {
        let body = serde_json::json!({"message": message}).to_string().into_bytes();
        Answer { status, headers: http::HeaderMap::default(), body, took: Duration::ZERO, call: "a call".into() }
    }

    #[rstest]
    #[case(429, "storage is (re)initializing", 2)]
    #[case(504, "Timeout: Too large resource version: 9, current: 7", 2)]
    #[case(504, "Timeout: request did not complete within the allotted duration", 1)]
    #[case(500, "conversion webhook failed", 1)]
    #[tokio::test]
    async fn only_who_is_not_ready_is_asked_again(#[case] status: u16, #[case] said: &str, #[case] asked: usize) {
        let count = Cell::new(0);
        let last = patiently(async || {
            count.set(count.get() + 1);
            Ok(if count.get() == 1 { answer(status, said) } else { answer(200, "") })
        });
        let last = last.await.unwrap();
        assert_eq!((count.get(), last.is_success()), (asked, asked == 2));
    }
}
