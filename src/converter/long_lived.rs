//! A command that lives on: one review per line on its standard input, one answer per line on its standard output.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::endpoint::{Endpoint, Request};
use crate::evidence::Outcome;
use crdproof_envtest::guard::{Guard, Guarded, Output, Spec};

/// How long it may take to end after its input was closed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A command that answers one review after the other. It is started when it is first asked, and again after it died.
pub struct LongLived {
    command: Vec<String>,
    folder: PathBuf,
    timeout: Duration,
    running: Mutex<Option<Running>>,
}

/// The command while it runs.
struct Running {
    guarded: Guarded,
    // Its input is closed with this.
    requests: Option<Sender<Vec<u8>>>,
    answers: Receiver<String>,
    complaint: Arc<Mutex<String>>,
    #[expect(dead_code, reason = "held: dropped last, it kills what is left, also when we are killed")]
    guard: Guard,
}

impl LongLived {
    /// A command, where it runs, and how long it may take for each answer.
    pub fn new(command: Vec<String>, folder: PathBuf, timeout: Duration) -> Self {
        Self { command, folder, timeout, running: Mutex::default() }
    }

    /// Asks it. What did not answer is ended, so that a late answer is never taken for the next one.
    fn ask(&self, body: &[u8]) -> Result<String, String> {
        let program = self.command.first().ok_or("no command is given")?;
        let mut slot = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = |mut running: Running| matches!(running.guarded.try_wait(), Ok(None)).then_some(running);
        let mut running = match slot.take().and_then(alive) {
            Some(running) => running,
            None => Running::start(&self.command, &self.folder)
                .map_err(|error| format!("{program} cannot be run: {error}"))?,
        };
        running.put(body);
        match running.answers.recv_timeout(self.timeout) {
            Ok(answer) => {
                *slot = Some(running);
                Ok(answer)
            }
            Err(RecvTimeoutError::Timeout) => {
                let within = self.timeout.as_secs_f32();
                // Its input need not be closed in peace.
                let killed = running.guarded.kill();
                killed.map_err(|error| format!("{program} had no answer and cannot be ended: {error}"))?;
                Err(format!("{program} had no answer within {within} s"))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = running.end().map_or_else(|error| error.to_string(), |status| status.to_string());
                let last = running.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let last = if last.is_empty() { "nothing on standard error".into() } else { last };
                Err(format!("{program} ended with {status}: {last}"))
            }
        }
    }
}

impl Running {
    fn start(words: &[String], folder: &Path) -> io::Result<Self> {
        let guard = Guard::new(None)?;
        let mut words = words.iter();
        let mut spec = Spec::new(words.next().cloned().unwrap_or_default()).args(words).output(Output::Pipes);
        if !folder.as_os_str().is_empty() {
            spec = spec.folder(folder);
        }
        let mut guarded = guard.spawn(&spec)?;
        let (mut input, output, errors) = guarded.take_pipes().ok_or(io::ErrorKind::BrokenPipe)?;
        // Each pipe has a thread, so that none of both sides waits for the other. They end with the pipes.
        let (requests, asked) = channel::<Vec<u8>>();
        std::thread::spawn(move || {
            for line in asked {
                // It reads no more; that it does not answer will be noticed.
                if input.write_all(&line).and_then(|()| input.flush()).is_err() {
                    break;
                }
            }
        });
        let (answered, answers) = channel();
        std::thread::spawn(move || lines(output, |line| answered.send(line).is_ok()));
        let complaint = Arc::new(Mutex::new(String::new()));
        let last = Arc::clone(&complaint);
        std::thread::spawn(move || {
            lines(errors, |line| {
                *last.lock().unwrap_or_else(PoisonError::into_inner) = line;
                true
            });
        });
        Ok(Self { guarded, requests: Some(requests), answers, complaint, guard })
    }

    /// Hands over a review as one line.
    fn put(&self, body: &[u8]) {
        // A line break in JSON is never more than space.
        let mut line: Vec<u8> =
            body.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
        line.push(b'\n');
        // Whoever has ended hears nothing, and that shows as no answer.
        let _ = self.requests.as_ref().map(|requests| requests.send(line));
    }

    /// Closes its input and waits until it ends, but not for ever.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.requests.take();
        let end = Instant::now() + SHUTDOWN_TIMEOUT;
        while Instant::now() < end {
            if let Some(status) = self.guarded.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.guarded.kill()?;
        self.guarded.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What cannot be ended in peace is killed by the guard.
        let _ = self.end();
    }
}

/// Hands over every line that says something, until nobody wants more.
fn lines(pipe: impl Read, mut hear: impl FnMut(String) -> bool) {
    for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if !line.is_empty() && !hear(line) {
            break;
        }
    }
}

impl Endpoint for LongLived {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let started = Instant::now();
        let outcome = match self.ask(&request.body) {
            Ok(body) => Outcome::Answered { status: 200, content_type: Some("application/json".into()), body },
            Err(why) => Outcome::Failed(why),
        };
        (outcome, started.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(script: &str, timeout: u64) -> LongLived {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        LongLived::new(words, "/".into(), Duration::from_millis(timeout))
    }

    fn said(command: &LongLived, body: &str) -> Result<String, String> {
        match command.send(&Request::post(body.to_owned())).0 {
            Outcome::Answered { body, .. } => Ok(body),
            Outcome::Failed(why) => Err(why),
            Outcome::Met(_) => panic!("it has no wire"),
        }
    }

    #[test]
    fn one_process_answers_many_reviews() {
        let command = command("while read -r line; do echo \"$$ $line\"; done", 5000);
        let first = said(&command, "{}").unwrap();
        let second = said(&command, "[\n]").unwrap();
        let id = first.strip_suffix(" {}").unwrap();
        assert_eq!(second, format!("{id} [ ]"));
        drop(command);
        let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
        assert!(state.stdout.is_empty(), "it lives on");
    }

    #[test]
    fn a_process_that_died_is_told_and_started_again() {
        let command = command("read -r line; echo \"$line\"; read -r line; echo worn out >&2; exit 3", 5000);
        assert_eq!(said(&command, "1"), Ok("1".into()));
        assert_eq!(said(&command, "2"), Err("sh ended with exit status: 3: worn out".into()));
        assert_eq!(said(&command, "3"), Ok("3".into()));
    }

    #[test]
    fn a_late_answer_is_never_taken_for_the_next() {
        let command = command("while read -r line; do [ $line = 1 ] && sleep 1; echo $line; done", 300);
        assert_eq!(said(&command, "1"), Err("sh had no answer within 0.3 s".into()));
        assert_eq!(said(&command, "2"), Ok("2".into()));
    }

    #[test]
    fn reviews_and_answers_may_be_long() {
        let command = command("exec cat", 10_000);
        let long = "x".repeat(3_000_000);
        assert_eq!(said(&command, &long).map(|answer| answer.len()), Ok(long.len()));
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let words = vec!["no-such-program".to_owned()];
        let why = said(&LongLived::new(words, "/".into(), Duration::from_secs(5)), "{}").unwrap_err();
        assert!(why.starts_with("no-such-program ended with exit status: 127") && why.contains("not found"), "{why}");
    }
}
