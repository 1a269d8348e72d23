//! How long servers are given, and how often they are asked again.

use std::time::{Duration, Instant};

use crate::cluster::ClusterError;
use crate::cluster::api::{Answer, Api};

/// How long a change may take to be seen.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again where the server says that it is not ready: after a change of the CRD it builds its storage anew.
pub(super) async fn patiently<Asked>(ask: impl Fn() -> Asked) -> Result<Answer, ClusterError>
where
    Asked: Future<Output = Result<Answer, ClusterError>>,
{
    let end = Instant::now() + PATIENCE;
    loop {
        let answer = ask().await?;
        if answer.status != 429 || Instant::now() >= end {
            return Ok(answer);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Asks until the answer is as wanted; whether it was, and the last answer.
pub(super) async fn until(
    api: &Api,
    path: &str,
    wanted: impl Fn(&Answer) -> bool,
) -> Result<(bool, Answer), ClusterError> {
    let end = Instant::now() + PATIENCE;
    loop {
        let answer = api.get(path).await?;
        if wanted(&answer) {
            return Ok((true, answer));
        }
        if Instant::now() >= end {
            return Ok((false, answer));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
