//! Helpers for synchronous programs: a runtime, interruptions, commands.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::future::Future;

use tokio::sync::watch;

use super::ClusterError;

tokio::task_local! {
    /// Becomes true with the first signal since something in `block_on` began to listen.
    static INTERRUPTED: OnceCell<watch::Receiver<bool>>;
}

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T, ClusterError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    Ok(runtime.map_err(ClusterError::Runtime)?.block_on(INTERRUPTED.scope(OnceCell::new(), future)))
}

/// Returns the future's value, or `None` if a signal (Ctrl-C, SIGTERM, SIGHUP) arrives first. The future is then
/// dropped with everything that it started.
///
/// In `block_on` a signal also counts that arrived after an earlier call: between two calls it would be lost, because
/// signals no longer end the process once something has listened.
pub async fn unless_interrupted<T>(future: impl Future<Output = T>) -> Option<T> {
    let earlier = INTERRUPTED.try_with(|listener| listener.get_or_init(listen).clone());
    let interrupted = async {
        match earlier {
            // The listener ends only with the runtime.
            Ok(mut flag) => drop(flag.wait_for(|is_set| *is_set).await),
            Err(_) => signals().await,
        }
    };
    tokio::select! {
        biased;
        () = interrupted => None,
        value = future => Some(value),
    }
}

/// Listens from now on.
fn listen() -> watch::Receiver<bool> {
    let (flag, receiver) = watch::channel(false);
    let signals = signals();
    tokio::spawn(async move {
        signals.await;
        flag.send_replace(true);
        // Keeps the channel open for those that wait later.
        flag.closed().await;
    });
    receiver
}

/// Registers for signals, and waits for one of them.
#[cfg(unix)]
fn signals() -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    // Without a handler a signal ends our process, and the guards clean up.
    let streams: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    async move {
        if streams.is_empty() {
            std::future::pending::<()>().await;
        }
        let one = |mut stream: tokio::signal::unix::Signal| Box::pin(async move { stream.recv().await });
        futures::future::select_all(streams.into_iter().map(one)).await;
    }
}

#[cfg(not(unix))]
async fn signals() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Runs a command with our own input and output and these environment variables. Kills it when the future is dropped.
/// Returns its exit code; 128 + N for a command that was killed by signal N, as in shells.
pub async fn command(words: &[OsString], environment: &[(&str, OsString)]) -> Result<u8, ClusterError> {
    let missing = |why: String| ClusterError::Missing {
        what: format!("the command {:?}", words.first().map(|word| word.to_string_lossy()).unwrap_or_default()),
        why,
        help: "check its name and PATH".into(),
    };
    let [program, arguments @ ..] = words else { return Err(missing("no command was given".into())) };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).kill_on_drop(true);
    for (name, value) in environment {
        command.env(name, value);
    }
    let status = command.status().await.map_err(|error| missing(error.to_string()))?;
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::signal::unix::{SignalKind, signal};

    use super::*;

    #[test]
    fn a_signal_between_two_waits_is_not_lost() {
        let outcomes = block_on(async {
            let first = unless_interrupted(async { 1 }).await;
            let mut delivered = signal(SignalKind::hangup()).unwrap();
            let id = std::process::id().to_string();
            assert!(std::process::Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
            delivered.recv().await;
            // The listener gets it at the same time, on another thread.
            INTERRUPTED.with(|listener| listener.get().unwrap().clone()).wait_for(|is_set| *is_set).await.unwrap();
            (first, unless_interrupted(async { 2 }).await, unless_interrupted(async { 3 }).await)
        });
        assert_eq!(outcomes.unwrap(), (Some(1), None, None));
        let later = block_on(unless_interrupted(async { 4 })).unwrap();
        assert_eq!(later, Some(4), "a signal counts for the work that it interrupted only");
    }
}
