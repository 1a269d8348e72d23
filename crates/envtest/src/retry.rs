//! Repeating a request until the server is ready, or until its response is the expected one.

use std::time::{Duration, Instant};

use crate::ClusterError;
use crate::api::{Answer, Api};

/// The timeout for a change to be visible to every read.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends a request, with a pause between attempts, until `done` accepts the response or the timeout is over. Returns
/// whether it was accepted, and the last response.
pub async fn until<Sent>(
    timeout: Duration,
    pause: Duration,
    send: impl Fn() -> Sent,
    done: impl Fn(&Answer) -> bool,
) -> Result<(bool, Answer), ClusterError>
where
    Sent: Future<Output = Result<Answer, ClusterError>>,
{
    let deadline = Instant::now() + timeout;
    loop {
        let answer = send().await?;
        let is_done = done(&answer);
        if is_done || Instant::now() >= deadline {
            return Ok((is_done, answer));
        }
        tokio::time::sleep(pause).await;
    }
}

/// Repeats a request while the server says that it is not ready: it rebuilds its storage after a change of the CRD, and
/// the cache of a busy server lags behind what it already reported.
pub async fn while_unready<Sent>(send: impl Fn() -> Sent) -> Result<Answer, ClusterError>
where
    Sent: Future<Output = Result<Answer, ClusterError>>,
{
    let ready = |answer: &Answer| match answer.status {
        429 => false,
        504 => !answer.message().starts_with("Timeout: Too large resource version"),
        _ => true,
    };
    let (_, answer) = until(TIMEOUT, Duration::from_millis(50), send, ready).await?;
    Ok(answer)
}

/// Reads a path until `done` accepts the response. Returns whether it was accepted, and the last response.
pub async fn get_until(api: &Api, path: &str, done: impl Fn(&Answer) -> bool) -> Result<(bool, Answer), ClusterError> {
    until(TIMEOUT, Duration::from_millis(20), || api.get(path), done).await
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
    async fn only_requests_to_unready_servers_are_repeated(
        #[case] status: u16,
        #[case] message: &str,
        #[case] attempts: usize,
    ) {
        let count = Cell::new(0);
        let last = while_unready(async || {
            count.set(count.get() + 1);
            Ok(if count.get() == 1 { answer(status, message) } else { answer(200, "") })
        });
        let last = last.await.unwrap();
        assert_eq!((count.get(), last.is_success()), (attempts, attempts == 2));
    }
}
