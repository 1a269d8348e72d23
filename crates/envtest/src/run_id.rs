//! The name of one run. Everything that a run creates outside of its memory carries it, so that its owner is known, and
//! also if the owner still runs.

use std::fmt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

/// The label of everything that a run creates, on Kubernetes objects and on containers.
pub const LABEL: &str = "crdproof.dev/run";

/// The prefix of names of clusters, containers, networks and folders of a run.
pub(super) const PREFIX: &str = "crdproof-";

/// The machine, the process, and a part that is unique in that process.
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

    /// Parses the output of `to_string`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let id =
            Self { machine: parts.next()?.into(), process: parts.next()?.parse().ok()?, once: parts.next()?.into() };
        let hex = |text: &str| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        (parts.next().is_none() && hex(&id.machine) && hex(&id.once)).then_some(id)
    }

    /// Parses the name of something that a run created, such as `crdproof-1a2b3c-4711-d4e5f6-x`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        Self::parse(&format!("{}-{}-{}", parts.next()?, parts.next()?, parts.next()?))
    }

    /// A name for something of this run.
    pub fn name(&self) -> String {
        format!("{PREFIX}{self}")
    }

    /// Returns true if its owner is a process of this machine that has ended. If another process has the same id now,
    /// this returns false, and the leftovers stay a little longer.
    pub fn is_orphan(&self) -> bool {
        self.machine == machine() && !is_running(self.process)
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

fn is_running(process: u32) -> bool {
    // If `ps` fails, assume that the process runs.
    let state = Command::new("ps").args(["-o", "stat=", "-p", &process.to_string()]).output();
    state.map_or(true, |output| !output.stdout.is_empty() && !output.stdout.starts_with(b"Z"))
}

/// A short hash that identifies this machine without revealing its name.
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
    fn a_name_is_parsed_and_its_owner_is_known() {
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
