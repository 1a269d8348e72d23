//! The name of one run, which everything carries that a run makes outside of its own memory, so that
//! it is known whose it is, and whether its owner still lives.

use std::fmt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

/// The label of everything that a run creates, on Kubernetes objects and on containers.
pub const LABEL: &str = "crdproof.dev/run";

/// The prefix of names of clusters, containers, networks and folders of a run.
pub(super) const PREFIX: &str = "crdproof-";

/// The machine, the process and something that no other run of that process has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId {
    machine: String,
    process: u32,
    once: String,
}

impl RunId {
    /// A name for a run of this process.
    pub fn new() -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let process = std::process::id();
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let once = short(&format!("{process} {run} {}", now.as_nanos()));
        Self { machine: machine(), process, once }
    }

    /// Reads one that was written with `to_string`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let id =
            Self { machine: parts.next()?.into(), process: parts.next()?.parse().ok()?, once: parts.next()?.into() };
        let hex = |text: &str| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        (parts.next().is_none() && hex(&id.machine) && hex(&id.once)).then_some(id)
    }

    /// Reads one out of a name that begins with ours, such as `crdproof-1a2b3c-4711-d4e5f6-x`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        Self::parse(&format!("{}-{}-{}", parts.next()?, parts.next()?, parts.next()?))
    }

    /// A name for something of this run.
    pub fn name(&self) -> String {
        format!("{PREFIX}{self}")
    }

    /// Returns whether its owner is a process of this machine that has ended. The number may have been given to
    /// another process since; then this says no, and nothing is lost but time.
    pub fn is_orphan(&self) -> bool {
        self.machine == machine() && !lives(self.process)
    }
}

impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.machine, self.process, self.once)
    }
}

fn lives(process: u32) -> bool {
    // Without an answer nobody is called dead.
    let state = Command::new("ps").args(["-o", "stat=", "-p", &process.to_string()]).output();
    state.map_or(true, |output| !output.stdout.is_empty() && !output.stdout.starts_with(b"Z"))
}

/// A short name of this machine that tells nothing about it.
fn machine() -> String {
    let name = Command::new("uname").arg("-n").output().map(|output| output.stdout).unwrap_or_default();
    short(&String::from_utf8_lossy(&name))
}

fn short(text: &str) -> String {
    Sha256::digest(text).iter().take(3).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_and_its_owner_is_known() {
        let id = RunId::new();
        assert_ne!(id, RunId::new());
        assert_eq!(RunId::parse(&id.to_string()), Some(id.clone()));
        assert_eq!(RunId::of_name(&format!("{}-x7", id.name())), Some(id.clone()));
        assert!(!id.is_orphan());
        let mut child = Command::new("true").spawn().unwrap();
        let ended = RunId { process: child.id(), ..id.clone() };
        child.wait().unwrap();
        assert!(ended.is_orphan());
        assert!(!RunId { machine: "ffffff".into(), ..ended }.is_orphan(), "another machine's run");
        for wrong in ["", "a-b-c", "crdproof", "1a2b3c-x-1a2b3c", "1a2b3c-1-1a2b3c-9"] {
            assert_eq!(RunId::parse(wrong), None, "{wrong}");
        }
    }
}
