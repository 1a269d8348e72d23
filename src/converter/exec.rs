//! A command that reads one review and writes one.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::endpoint::{Endpoint, Request};
use crate::evidence::Outcome;

/// As long as an API server waits.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// A command: a review on its standard input, a review on its standard output, a process for each.
#[derive(Debug, Clone)]
pub struct Exec {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// How long it may take.
    pub timeout: Duration,
}

impl Exec {
    fn run(&self, body: &[u8]) -> Result<String, String> {
        let [program, arguments @ ..] = self.command.as_slice() else { return Err("no command is given".into()) };
        let mut command = Command::new(program);
        command.args(arguments);
        // The folder of a subject file that is named without one.
        if !self.folder.as_os_str().is_empty() {
            command.current_dir(&self.folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{program} cannot be run: {error}"))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ended = std::thread::scope(|scope| {
            // All pipes are served at once, so that none of both sides waits for the other.
            scope.spawn(move || stdin.map(|mut pipe| pipe.write_all(body)));
            let read = |pipe: Option<Box<dyn std::io::Read + Send>>| {
                let mut bytes = Vec::new();
                pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
                bytes
            };
            let said = scope.spawn(move || read(stdout.map(|pipe| Box::new(pipe) as _)));
            let complaint = scope.spawn(move || read(stderr.map(|pipe| Box::new(pipe) as _)));
            let end = Instant::now() + self.timeout;
            let status = loop {
                match child.try_wait() {
                    Ok(Some(status)) => break Ok(status),
                    Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
                    Ok(None) => {
                        // Its pipes close with it, so nobody waits on.
                        let _ = child.kill();
                        let _ = child.wait();
                        break Err(format!("{program} had no answer within {} s", self.timeout.as_secs_f32()));
                    }
                    Err(error) => break Err(error.to_string()),
                }
            };
            (status, said.join().unwrap_or_default(), complaint.join().unwrap_or_default())
        });
        let (status, said, complaint) = ended;
        let status = status?;
        if status.success() {
            return Ok(String::from_utf8_lossy(&said).into_owned());
        }
        let complaint = String::from_utf8_lossy(&complaint);
        let last = complaint.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing on standard error");
        Err(format!("{program} ended with {status}: {last}"))
    }
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
        let exec =
            Exec { command: ["sh", "-c", script].map(str::to_owned).to_vec(), folder: "/".into(), timeout: TIMEOUT };
        exec.send(&Request::post("{}")).0
    }

    #[test]
    fn what_a_command_writes_is_the_answer() {
        assert!(matches!(exec("cat"), Outcome::Answered { status: 200, body, .. } if body == "{}"));
        assert_eq!(
            exec("echo first >&2; echo last >&2; exit 3"),
            Outcome::Failed("sh ended with exit status: 3: last".into())
        );
        // It does not read its input, and writes more than a pipe holds.
        let Outcome::Answered { body, .. } = exec("head -c 300000 /dev/zero | tr '\\0' x") else { panic!("no answer") };
        assert_eq!(body.len(), 300_000);
    }

    #[test]
    fn a_command_that_does_not_exist_is_named() {
        let exec = Exec { command: vec!["no-such-program".into()], folder: "/".into(), timeout: TIMEOUT };
        let (outcome, _) = exec.send(&Request::post("{}"));
        assert!(matches!(outcome, Outcome::Failed(why) if why.starts_with("no-such-program cannot be run")));
    }
}
