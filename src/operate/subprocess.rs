//! Runs a user-supplied command with a timeout. Everything that it started ends with it.

use std::collections::BTreeSet;
use std::process::ExitStatus;
use std::time::Duration;

use crdproof_envtest::ClusterError;
use crdproof_envtest::capture::{Capture, Captured, End};
use crdproof_envtest::guard::{Guard, Output, Spec};
use crdproof_schema::structural::redact_text;

/// The exit code of a shell for an unknown command.
const NO_SUCH_COMMAND: i32 = 127;

/// The outcome of a command.
pub(crate) struct Ended {
    /// Its exit status; `None` at the timeout.
    pub(crate) status: Option<ExitStatus>,
    /// The end of its output, of both streams.
    pub(crate) said: String,
}

/// Runs a command and waits for its end, up to a timeout. Keeps this many characters of its output, redacted first: a
/// secret that is cut in two would not be recognised later.
pub(crate) async fn run(
    spec: Spec,
    timeout: Duration,
    kept: usize,
    secrets: &BTreeSet<String>,
) -> Result<Ended, ClusterError> {
    let program = spec.program.to_string_lossy().into_owned();
    let guard = Guard::new(None).map_err(ClusterError::Guard)?;
    let mut capture =
        Capture::start(&guard, spec.output(Output::Merged), Vec::new(), timeout).map_err(ClusterError::Guard)?;
    let Captured { end, output, .. } = loop {
        match capture.poll().map_err(ClusterError::Guard)? {
            Some(captured) => break captured,
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let said = last(&redact_text(&String::from_utf8_lossy(&output), secrets), kept);
    let status = match end {
        End::Exited(status) => Some(status),
        // Merged output is never too much: only its end is kept.
        End::TimedOut | End::TooMuchOutput => None,
    };
    if status.and_then(|status| status.code()) == Some(NO_SUCH_COMMAND) {
        return Err(ClusterError::Missing {
            what: format!("the command {program:?}"),
            why: said,
            help: "check its name and PATH".into(),
        });
    }
    Ok(Ended { status, said })
}

fn last(said: &str, kept: usize) -> String {
    let said = said.trim();
    said.chars().skip(said.chars().count().saturating_sub(kept)).collect()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn ended(script: &str, timeout: Duration) -> Result<Ended, ClusterError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let secrets = BTreeSet::from(["canary-7".to_owned()]);
        runtime.block_on(run(Spec::new("sh").args(["-c", script]), timeout, 20, &secrets))
    }

    /// A zombie has ended, even if its parent has not noticed.
    fn is_alive(id: &str) -> bool {
        let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap().stdout;
        !state.is_empty() && !state.starts_with(b"Z")
    }

    fn ends_soon(id: &str) -> bool {
        let end = Instant::now() + Duration::from_secs(20);
        while is_alive(id) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        !is_alive(id)
    }

    #[test]
    fn the_end_of_the_output_and_the_status_are_kept() {
        let ended = ended("echo it was long before; echo the end >&2; exit 3", Duration::from_secs(60)).unwrap();
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
        assert_eq!(ended.said, "s long before\nthe end".chars().skip(1).collect::<String>());
    }

    #[test]
    fn a_secret_is_redacted_before_the_text_is_cut() {
        let ended = ended("echo canary-7 0123456789012345", Duration::from_secs(60)).unwrap();
        assert_eq!(ended.said, "••• 0123456789012345");
    }

    #[test]
    fn a_command_that_times_out_ends_with_its_children() {
        let began = Instant::now();
        let ended = ended("sleep 300 & echo $!; wait", Duration::from_millis(1500)).unwrap();
        assert!(ended.status.is_none());
        assert!(began.elapsed() < Duration::from_secs(60));
        assert!(ends_soon(&ended.said), "{} is alive", ended.said);
    }

    #[test]
    fn processes_of_a_command_end_with_it() {
        let ended = ended("sleep 300 & echo $!", Duration::from_secs(60)).unwrap();
        assert!(ended.status.is_some_and(|status| status.success()));
        assert!(ends_soon(&ended.said), "{} is alive", ended.said);
    }

    #[test]
    fn a_missing_command_is_an_error() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let none = BTreeSet::new();
        let asked = run(Spec::new("crdproof-no-such-command"), Duration::from_secs(60), 200, &none);
        assert!(matches!(runtime.block_on(asked), Err(ClusterError::Missing { .. })));
    }
}
