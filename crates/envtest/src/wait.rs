//! Waiting on a condition, with a deadline.

use std::future::Future;
use std::time::{Duration, Instant};

/// Calls `ask` until it returns a value or the deadline is over. The pause between two calls starts short, because most
/// conditions are true soon, and grows to `longest`.
pub(super) async fn until<T, F, Asked>(deadline: Duration, longest: Duration, mut ask: F) -> Option<T>
where
    F: FnMut() -> Asked,
    Asked: Future<Output = Option<T>>,
{
    let end = Instant::now() + deadline;
    let mut pause = Duration::from_millis(5);
    loop {
        if let Some(answer) = ask().await {
            return Some(answer);
        }
        if Instant::now() + pause > end {
            return None;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn until_returns_a_value_or_times_out() {
        let mut asked = 0;
        let ms = Duration::from_millis;
        let found = until(ms(1000), ms(10), || {
            asked += 1;
            let now = asked;
            async move { (now == 3).then_some(now) }
        });
        assert_eq!(found.await, Some(3));
        assert_eq!(until(ms(20), ms(10), || async { None::<()> }).await, None);
    }
}
