//! Runs a command under a guard to its end, with a deadline and a limit on its output.

use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::guard::{Guard, Guarded, Output, Spec};

/// Maximum size of an output that is read completely.
pub const MAX_OUTPUT: usize = 64 << 20;

/// Size of the end of a stream that is kept for messages.
const TAIL: usize = 64 << 10;

/// The time for which a stream may stay open after its command ended: another process may hold it.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited.
    Exited(ExitStatus),
    /// It was killed at its timeout, with its descendants.
    TimedOut,
    /// It was killed because it wrote more than [`MAX_OUTPUT`].
    TooMuchOutput,
}

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The end of the command.
    pub end: End,
    /// Its standard output; for [`Output::Merged`] the end of both streams.
    pub output: Vec<u8>,
    /// The end of its standard error.
    pub errors: Vec<u8>,
}

/// A running command.
#[derive(Debug)]
pub struct Capture {
    guarded: Guarded,
    output: Stream,
    errors: Stream,
    deadline: Instant,
}

impl Capture {
    /// Starts a command and writes its input. With [`Output::Merged`] it has no input, and only the end of its streams
    /// is kept; any other output is read completely.
    pub fn start(guard: &Guard, spec: Spec, input: Vec<u8>, timeout: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + timeout;
        if spec.output == Output::Merged {
            let mut guarded = guard.spawn(&spec)?;
            let output = Stream::read(guarded.take_stdout().ok_or(io::ErrorKind::BrokenPipe)?, Keep::Last(TAIL));
            return Ok(Self { guarded, output, errors: Stream::read(io::empty(), Keep::Last(TAIL)), deadline });
        }
        let mut guarded = guard.spawn(&spec.output(Output::Pipes))?;
        let (mut stdin, stdout, stderr) = guarded.take_pipes().ok_or(io::ErrorKind::BrokenPipe)?;
        // A command need not read its input; the pipe closes with it.
        std::thread::spawn(move || stdin.write_all(&input));
        let output = Stream::read(stdout, Keep::First(MAX_OUTPUT));
        Ok(Self { guarded, output, errors: Stream::read(stderr, Keep::Last(TAIL)), deadline })
    }

    /// Returns the outcome once the command has ended. Kills it at its timeout.
    pub fn poll(&mut self) -> io::Result<Option<Captured>> {
        let end = match self.guarded.try_wait()? {
            Some(status) => End::Exited(status),
            None if self.output.kept().is_full => End::TooMuchOutput,
            None if Instant::now() >= self.deadline => End::TimedOut,
            None => return Ok(None),
        };
        self.guarded.kill()?;
        let (output, is_full) = self.output.finish();
        let (errors, _) = self.errors.finish();
        let end = if is_full { End::TooMuchOutput } else { end };
        Ok(Some(Captured { end, output, errors }))
    }

    /// Waits for the end of the command, at most until its timeout.
    pub fn wait(mut self) -> io::Result<Captured> {
        let mut pause = Duration::from_micros(500);
        loop {
            if let Some(captured) = self.poll()? {
                return Ok(captured);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Returns true if a program can be started from a folder: an existing file if it is a path, otherwise a command on the
/// shell's `PATH`.
pub fn is_program(program: &str, folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if program.contains('/') {
        return folder.join(program).is_file();
    }
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "command -v -- \"$1\"", "find", program]).current_dir(folder);
    let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    // Without a shell this is unknown; starting the program will report the error.
    status.map_or(true, |status| status.success())
}

/// The part of a stream that is kept.
#[derive(Debug, Clone, Copy)]
enum Keep {
    /// The beginning; no more is read.
    First(usize),
    /// The end; the rest is read and dropped.
    Last(usize),
}

/// A stream that a separate thread reads to its end.
#[derive(Debug)]
struct Stream {
    kept: Arc<Mutex<Kept>>,
    done: Receiver<()>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Stream {
    fn read(mut pipe: impl Read + Send + 'static, keep: Keep) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let (theirs, (ended, done)) = (Arc::clone(&kept), channel());
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                if theirs.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..count], keep) {
                    break;
                }
            }
            // The receiver may be gone after the timeout of the stream.
            let _ = ended.send(());
        });
        Self { kept, done }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes everything that was read until the stream ended or timed out.
    fn finish(&self) -> (Vec<u8>, bool) {
        // A descendant that left its group may hold the stream; its later output is ignored.
        let _ = self.done.recv_timeout(DRAIN_TIMEOUT);
        let mut kept = self.kept();
        (std::mem::take(&mut kept.bytes), kept.is_full)
    }
}

impl Kept {
    /// Adds bytes, and returns true if no more are wanted.
    fn add(&mut self, bytes: &[u8], keep: Keep) -> bool {
        self.bytes.extend_from_slice(bytes);
        match keep {
            Keep::First(limit) => self.is_full = self.bytes.len() > limit,
            Keep::Last(limit) if self.bytes.len() > 2 * limit => drop(self.bytes.drain(..self.bytes.len() - limit)),
            Keep::Last(_) => {}
        }
        self.is_full
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn run_script(script: &str, output: Output, timeout: u64) -> (Captured, Duration) {
        let (guard, began) = (Guard::new(None).unwrap(), Instant::now());
        let spec = Spec::new("sh").args(["-c", script]).output(output);
        let capture = Capture::start(&guard, spec, b"input".to_vec(), Duration::from_millis(timeout)).unwrap();
        (capture.wait().unwrap(), began.elapsed())
    }

    #[test]
    fn streams_and_status_are_separate() {
        let (ended, _) = run_script("cat; echo wrong >&2; exit 3", Output::Pipes, 60_000);
        assert!(matches!(ended.end, End::Exited(status) if status.code() == Some(3)));
        assert_eq!((ended.output.as_slice(), ended.errors.as_slice()), (&b"input"[..], &b"wrong\n"[..]));
        let (ended, _) = run_script("cat; echo one; echo two >&2", Output::Merged, 60_000);
        assert_eq!(ended.output, b"one\ntwo\n");
    }

    #[test]
    fn an_open_stream_does_not_delay_the_end() {
        for script in ["sleep 300", "sleep 300 & sleep 300", "sleep 300 & echo", "setsid sleep 300 & echo"] {
            let (ended, took) = run_script(script, Output::Pipes, 1000);
            assert!(took < Duration::from_secs(20), "{script}: {took:?}");
            assert_eq!(ended.end == End::TimedOut, !script.ends_with("echo"), "{script}");
        }
    }

    #[test]
    fn endless_output_ends_the_command() {
        let (ended, _) = run_script("yes", Output::Pipes, 60_000);
        assert_eq!(ended.end, End::TooMuchOutput);
        assert!(ended.output.len() <= MAX_OUTPUT + (64 << 10));
        let (ended, _) = run_script("yes & sleep 1; kill $!; wait; echo last", Output::Merged, 60_000);
        assert!(ended.output.ends_with(b"last\n") && ended.output.len() <= 3 * TAIL, "{}", ended.output.len());
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        assert!(is_program("sh", Path::new("")) && is_program("/bin/sh", Path::new("/")));
        assert!(!is_program("crdproof-no-such-program", Path::new("")) && !is_program("./sh", Path::new("/")));
        assert!(is_program("bin/sh", Path::new("/")));
    }
}
