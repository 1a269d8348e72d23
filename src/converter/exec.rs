//! A command that reads one review and writes one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::endpoint::{Endpoint, Request};
use crate::evidence::Outcome;
use crdproof_envtest::capture::{Capture, Captured, End, MAX_OUTPUT, is_program};
use crdproof_envtest::guard::{Guard, Spec};

/// The timeout of API servers.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// A command that is started for each review: the review on its standard input, the response on its standard output.
#[derive(Debug)]
pub struct Exec {
    command: Vec<String>,
    folder: PathBuf,
    timeout: Duration,
    guard: Guard,
}

impl Exec {
    /// Names a command, its working folder, and its timeout. `Err` says why it cannot be run.
    pub fn new(command: Vec<String>, folder: PathBuf, timeout: Duration) -> Result<Self, String> {
        check_program(&command, &folder)?;
        let guard = Guard::new(None).map_err(|error| format!("commands cannot be watched: {error}"))?;
        Ok(Self { command, folder, timeout, guard })
    }

    fn run(&self, body: &[u8]) -> Result<String, String> {
        let program = self.command.first().map_or("", String::as_str);
        let failed = |error: std::io::Error| format!("{program} cannot be run: {error}");
        let spec = spec(&self.command, &self.folder);
        let capture = Capture::start(&self.guard, spec, body.to_vec(), self.timeout).map_err(failed)?;
        let Captured { end, output, errors } = capture.wait().map_err(failed)?;
        match end {
            End::Exited(status) if status.success() => Ok(String::from_utf8_lossy(&output).into_owned()),
            End::Exited(status) => {
                let errors = String::from_utf8_lossy(&errors);
                let last = errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing on standard error");
                Err(format!("{program} ended with {status}: {last}"))
            }
            End::TimedOut => Err(format!("{program} had no answer within {} s", self.timeout.as_secs_f32())),
            End::TooMuchOutput => Err(too_much(program)),
        }
    }
}

/// Refuses a command whose program does not exist.
pub(super) fn check_program(command: &[String], folder: &Path) -> Result<(), String> {
    let program = command.first().ok_or("no command is given")?;
    if is_program(program, folder) {
        return Ok(());
    }
    Err(format!("{program} cannot be run: no such program; install it, or correct the command"))
}

/// Returns a command that runs in a folder; in the current one if the path of the subject file has no folder.
pub(super) fn spec(words: &[String], folder: &Path) -> Spec {
    let spec = Spec::new(words.first().cloned().unwrap_or_default()).args(words.iter().skip(1));
    if folder.as_os_str().is_empty() { spec } else { spec.folder(folder) }
}

/// Returns the message about a command with too much output.
pub(super) fn too_much(program: &str) -> String {
    format!("{program} wrote more than {} MiB, and was ended", MAX_OUTPUT >> 20)
}

impl Endpoint for Exec {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let started = Instant::now();
        let outcome = match self.run(&request.body) {
            Ok(body) => Outcome::Answered { status: 200, content_type: Some("application/json".into()), body },
            Err(why) => Outcome::Failed(why),
        };
        (outcome, started.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(script: &str) -> Outcome {
        exec_within(script, TIMEOUT)
    }

    fn exec_within(script: &str, timeout: Duration) -> Outcome {
        let exec = Exec::new(["sh", "-c", script].map(str::to_owned).to_vec(), "/".into(), timeout).unwrap();
        exec.send(&Request::post("{}")).0
    }

    #[test]
    fn the_output_of_a_command_is_the_response() {
        assert!(matches!(exec("cat"), Outcome::Answered { status: 200, body, .. } if body == "{}"));
        assert_eq!(
            exec("echo first >&2; echo last >&2; exit 3"),
            Outcome::Failed("sh ended with exit status: 3: last".into())
        );
        // The command does not read its input, and writes more than a pipe holds.
        let Outcome::Answered { body, .. } = exec("head -c 300000 /dev/zero | tr '\\0' x") else { panic!("no answer") };
        assert_eq!(body.len(), 300_000);
    }

    #[test]
    fn a_missing_command_is_reported() {
        let why = Exec::new(vec!["no-such-program".into()], "/".into(), TIMEOUT).unwrap_err();
        assert!(why.starts_with("no-such-program cannot be run: no such program"), "{why}");
    }

    #[test]
    fn a_timeout_ends_everything_that_holds_its_streams() {
        let began = Instant::now();
        for script in ["sleep 7777", "sleep 7777 & wait", "(sleep 7777 &) ; sleep 7777"] {
            let outcome = exec_within(script, Duration::from_millis(200));
            assert_eq!(outcome, Outcome::Failed("sh had no answer within 0.2 s".into()));
        }
        assert!(matches!(exec("sleep 7777 & echo '{}'"), Outcome::Answered { body, .. } if body == "{}\n"));
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }

    #[test]
    fn a_command_with_endless_output_is_ended() {
        assert_eq!(exec("yes"), Outcome::Failed("sh wrote more than 64 MiB, and was ended".into()));
    }
}
