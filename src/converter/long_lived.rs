//! A long-lived command: one review per line on its standard input, one response per line on its standard output.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::endpoint::{Endpoint, Request};
use super::exec::{check_program, spec, too_much};
use crate::evidence::Outcome;
use crdproof_envtest::capture::MAX_OUTPUT;
use crdproof_envtest::guard::{Guard, Guarded, Output};

/// The timeout of the command to exit after its input was closed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A command that answers one review after the other. It is started by the first review, and again after it died.
pub struct LongLived {
    command: Vec<String>,
    folder: PathBuf,
    timeout: Duration,
    running: Mutex<Option<Running>>,
}

impl std::fmt::Debug for LongLived {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LongLived").field("command", &self.command).finish_non_exhaustive()
    }
}

/// A running command.
struct Running {
    guarded: Guarded,
    // Dropping it closes the command's input.
    requests: Option<Sender<Vec<u8>>>,
    answers: Receiver<Line>,
    complaint: Arc<Mutex<String>>,
    /// Signals the end of standard error.
    errors_ended: Receiver<()>,
    #[expect(dead_code, reason = "held: dropped last, it kills what is left, also when we are killed")]
    guard: Guard,
}

impl LongLived {
    /// Names a command, its working folder, and the timeout of each response. `Err` says why it cannot be run.
    pub fn new(command: Vec<String>, folder: PathBuf, timeout: Duration) -> Result<Self, String> {
        check_program(&command, &folder)?;
        Ok(Self { command, folder, timeout, running: Mutex::default() })
    }

    /// Sends a review. A command that does not answer is ended, so that a late response never counts for the next
    /// review.
    fn exchange_line(&self, body: &[u8]) -> Result<String, String> {
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
            Ok(Line::Whole(answer)) => {
                *slot = Some(running);
                Ok(answer)
            }
            Ok(Line::TooLong) => {
                let killed = running.guarded.kill();
                killed.map_err(|error| format!("{program} wrote too much and cannot be ended: {error}"))?;
                Err(too_much(program))
            }
            Err(RecvTimeoutError::Timeout) => {
                let within = self.timeout.as_secs_f32();
                // A clean shutdown is not needed.
                let killed = running.guarded.kill();
                killed.map_err(|error| format!("{program} had no answer and cannot be ended: {error}"))?;
                Err(format!("{program} had no answer within {within} s"))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = running.end().map_or_else(|error| error.to_string(), |status| status.to_string());
                // Another process may hold the stream; then use the output so far.
                let _ = running.errors_ended.recv_timeout(SHUTDOWN_TIMEOUT);
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
        let mut guarded = guard.spawn(&spec(words, folder).output(Output::Pipes))?;
        let (mut input, output, errors) = guarded.take_pipes().ok_or(io::ErrorKind::BrokenPipe)?;
        // Each pipe has a thread, so that neither side blocks the other. The threads end with the pipes.
        let (requests, asked) = channel::<Vec<u8>>();
        std::thread::spawn(move || {
            for line in asked {
                // The command no longer reads; the missing response will be noticed.
                if input.write_all(&line).and_then(|()| input.flush()).is_err() {
                    break;
                }
            }
        });
        // One response may be buffered; a command that writes more is blocked.
        let (answered, answers) = sync_channel(1);
        std::thread::spawn(move || lines(output, |line| answered.send(line).is_ok()));
        let complaint = Arc::new(Mutex::new(String::new()));
        let last = Arc::clone(&complaint);
        let (heard, errors_ended) = channel();
        std::thread::spawn(move || {
            lines(errors, |line| {
                if let Line::Whole(line) = line {
                    *last.lock().unwrap_or_else(PoisonError::into_inner) = line;
                }
                true
            });
            // Nobody receives this while the command answers.
            let _ = heard.send(());
        });
        Ok(Self { guarded, requests: Some(requests), answers, complaint, errors_ended, guard })
    }

    /// Sends a review as one line.
    fn put(&self, body: &[u8]) {
        // A line break in JSON is always insignificant whitespace.
        let mut line: Vec<u8> =
            body.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
        line.push(b'\n');
        // If the command has ended, the missing response will show it.
        let _ = self.requests.as_ref().map(|requests| requests.send(line));
    }

    /// Closes the input and waits for the end, up to a timeout.
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
        // If it does not exit by itself, the guard kills it.
        let _ = self.end();
    }
}

/// A line that a command wrote.
enum Line {
    Whole(String),
    /// It is longer than [`MAX_OUTPUT`].
    TooLong,
}

/// Passes every non-empty line to `hear`, until that returns false.
fn lines(pipe: impl Read, mut hear: impl FnMut(Line) -> bool) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        let read = pipe.by_ref().take(MAX_OUTPUT as u64).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            break;
        }
        let is_cut = line.len() == MAX_OUTPUT && !line.ends_with(b"\n");
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if !text.is_empty() && !hear(if is_cut { Line::TooLong } else { Line::Whole(text) }) {
            break;
        }
    }
}

impl Endpoint for LongLived {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let started = Instant::now();
        let outcome = match self.exchange_line(&request.body) {
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
        LongLived::new(words, "/".into(), Duration::from_millis(timeout)).unwrap()
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
    fn a_process_that_died_is_reported_and_restarted() {
        let command = command("read -r line; echo \"$line\"; read -r line; echo worn out >&2; exit 3", 5000);
        assert_eq!(said(&command, "1"), Ok("1".into()));
        assert_eq!(said(&command, "2"), Err("sh ended with exit status: 3: worn out".into()));
        assert_eq!(said(&command, "3"), Ok("3".into()));
    }

    #[test]
    fn a_late_response_never_counts_for_the_next_review() {
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
    fn a_missing_program_is_reported() {
        let why = LongLived::new(vec!["no-such-program".to_owned()], "/".into(), Duration::from_secs(5)).unwrap_err();
        assert!(why.starts_with("no-such-program cannot be run"), "{why}");
    }

    #[test]
    fn output_without_end_is_bounded() {
        let one_line = command("tr '\\0' x < /dev/zero", 60_000);
        assert_eq!(said(&one_line, "{}"), Err("sh wrote more than 64 MiB, and was ended".into()));
        let many_lines = command("yes", 60_000);
        assert_eq!(said(&many_lines, "{}"), Ok("y".into()));
    }
}
