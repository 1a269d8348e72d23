//! A component of a control plane as a guarded process with a log.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::api::Api;
use super::guard::{Guard, Guarded, Output, Spec};
use super::{ClusterError, wait};

/// The number of attempts to start, because another program may take a port.
const PORT_TRIES: usize = 5;

/// An error of a start; says if other ports may help.
pub(super) enum Failure {
    Port(ClusterError),
    Other(ClusterError),
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        Self::Other(error)
    }
}

/// Starts something on free ports, and again on others if a port was lost meanwhile.
pub(super) async fn on_free_ports<T, F, Starting>(mut start: F) -> Result<T, ClusterError>
where
    F: FnMut() -> Starting,
    Starting: Future<Output = Result<T, Failure>>,
{
    let mut tries = 0;
    loop {
        tries += 1;
        match start().await {
            Err(Failure::Port(_)) if tries < PORT_TRIES => {}
            Err(Failure::Port(error) | Failure::Other(error)) => return Err(error),
            Ok(started) => return Ok(started),
        }
    }
}

/// A started component.
pub(super) struct Process {
    /// The program's name, for messages.
    name: &'static str,
    spec: Spec,
    log: PathBuf,
    guarded: Guarded,
    /// True if it was killed on purpose and not restarted.
    killed: bool,
}

/// The number of lines of a log excerpt.
const TAIL_LINES: usize = 15;

impl Process {
    pub(super) fn start(guard: &Guard, name: &'static str, spec: Spec, log: PathBuf) -> Result<Self, ClusterError> {
        let spec = spec.output(Output::File(log.clone()));
        let guarded = guard.spawn(&spec).map_err(ClusterError::Guard)?;
        Ok(Self { name, spec, log, guarded, killed: false })
    }

    /// Returns an error if the process ended by itself.
    pub(super) fn check(&mut self) -> Result<(), ClusterError> {
        if self.killed {
            return Ok(());
        }
        match self.guarded.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.failed(format!("ended ({status})"))),
            Err(error) => Err(ClusterError::Guard(error)),
        }
    }

    /// Returns the error, with the end of the log.
    pub(super) fn failed(&self, why: String) -> ClusterError {
        let (text, log) = (self.log(), self.log_tail());
        let help = if text.contains("address already in use") {
            "another program took the port; try again"
        } else if why.contains("127") || why.contains("126") {
            "the program is missing or is not made for this machine; `crdproof env use` brings one that is"
        } else if text.contains("no space left on device") {
            "free some space where temporary files are kept"
        } else {
            "its log says why; flags that this release does not know are a frequent reason"
        };
        ClusterError::Component { component: self.name, why, log, help }
    }

    /// Returns true if it ended because another program took the port.
    pub(super) fn has_lost_its_port(&mut self) -> bool {
        self.check().is_err() && self.log().contains("address already in use")
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// The last meaningful lines: stack traces of a panic come after them.
    pub(super) fn log_tail(&self) -> String {
        let text = self.log();
        let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with("goroutine ")).collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }

    /// Sends a signal to the whole process group, by the shell's `kill`, because calling the kernel directly needs
    /// unsafe code.
    pub(super) fn signal(&self, name: &str) -> Result<(), ClusterError> {
        let group = format!("-{}", self.guarded.id());
        let sent = Command::new("/bin/sh").args(["-c", "kill -s \"$1\" -- \"$2\"", "kill", name, &group]).status();
        match sent {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(self.failed(format!("could not be sent {name}: it is gone"))),
            Err(error) => Err(ClusterError::Guard(error)),
        }
    }

    /// Returns true if the kernel reports it as stopped.
    pub(super) fn is_stopped(&self) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", &self.guarded.id().to_string()]).output();
        state.is_ok_and(|output| output.stdout.starts_with(b"T"))
    }

    pub(super) fn is_killed(&self) -> bool {
        self.killed
    }

    pub(super) fn kill(&mut self) -> Result<(), ClusterError> {
        self.killed = true;
        self.guarded.kill().map_err(ClusterError::Guard)
    }

    pub(super) fn restart(&mut self, guard: &Guard) -> Result<(), ClusterError> {
        self.kill()?;
        self.killed = false;
        self.guarded = guard.spawn(&self.spec).map_err(ClusterError::Guard)?;
        Ok(())
    }
}

/// Waits until every server answers these paths. Returns false if the time is over, and an error if a process ends.
pub(super) async fn until_ready<'p>(
    apis: &[Api],
    processes: impl Iterator<Item = &'p mut Process>,
    asked: &[&str],
    deadline: Duration,
) -> Result<bool, ClusterError> {
    // The future must be able to move between threads.
    let processes: Mutex<Vec<&mut Process>> = Mutex::new(processes.collect());
    let ready = wait::until(deadline, Duration::from_millis(50), || async {
        for process in processes.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            if let Err(error) = process.check() {
                return Some(Err(error));
            }
        }
        for api in apis {
            for path in asked {
                if !api.get(path).await.is_ok_and(|answer| answer.is_success()) {
                    return None;
                }
            }
        }
        Some(Ok(()))
    });
    ready.await.map_or(Ok(false), |ended| ended.map(|()| true))
}
