//! One component as a guarded process with a log.

use std::path::PathBuf;
use std::process::Command;

use super::ClusterError;
use crate::guard::{Guard, Guarded, Output, Spec};

/// A part of a control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// etcd.
    Etcd,
    /// The API server.
    ApiServer,
    /// A second API server on the same etcd, if requested.
    SecondApiServer,
    /// Garbage collection, namespaces, storage migration.
    ControllerManager,
}

impl Component {
    /// The program's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::SecondApiServer => "second kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
        }
    }
}

/// A started component.
pub(super) struct Process {
    component: Component,
    spec: Spec,
    log: PathBuf,
    guarded: Guarded,
    /// True if it was killed on purpose and not restarted.
    killed: bool,
}

/// The number of lines of a log excerpt.
const TAIL_LINES: usize = 15;

impl Process {
    pub(super) fn start(guard: &Guard, component: Component, spec: Spec, log: PathBuf) -> Result<Self, ClusterError> {
        let spec = spec.output(Output::File(log.clone()));
        let guarded = guard.spawn(&spec).map_err(ClusterError::Guard)?;
        Ok(Self { component, spec, log, guarded, killed: false })
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
        ClusterError::Component { component: self.component.as_str(), why, log, help }
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

pub(super) fn absent(component: Component) -> ClusterError {
    ClusterError::Component {
        component: component.as_str(),
        why: "is not part of this control plane".into(),
        log: String::new(),
        help: "ask for it when the control plane is built",
    }
}
