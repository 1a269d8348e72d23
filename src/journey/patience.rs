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

/// Asks again where the server says that it is not ready: after a change of the CRD it builds its storage anew.
pub(super) async fn patiently<Asked>(ask: impl Fn() -> Asked) -> Result<Answer, ClusterError>
where
    Asked: Future<Output = Result<Answer, ClusterError>>,
{
    let (_, answer) = ask_until(PATIENCE, Duration::from_millis(50), ask, |answer| answer.status != 429).await?;
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
