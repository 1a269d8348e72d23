//! Helpers for synchronous programs: a runtime, interruptions, commands.

use std::ffi::OsString;
use std::future::Future;

use super::ClusterError;

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T, ClusterError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    Ok(runtime.map_err(ClusterError::Runtime)?.block_on(future))
}

/// Returns the future's value, or `None` if a signal (Ctrl-C, SIGTERM, SIGHUP) arrives first. The future is then
/// dropped with everything that it started.
pub async fn unless_interrupted<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        value = future => Some(value),
        () = interrupted() => None,
    }
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let one = |kind| async move {
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            // Without a handler the signal ends our process, and the guards clean up.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = one(SignalKind::interrupt()) => {}
        () = one(SignalKind::terminate()) => {}
        () = one(SignalKind::hangup()) => {}
    }
}

#[cfg(not(unix))]
async fn interrupted() {
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
