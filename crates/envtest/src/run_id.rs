//! The name of one run. Everything that a run creates outside of its memory carries it, so that its owner is known, and
//! also if the owner still runs.

use std::fmt;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

/// The label of everything that a run creates, on Kubernetes objects and on containers.
pub const LABEL: &str = "crdproof.dev/run";

/// The prefix of names of clusters, containers, networks and folders of a run.
pub(super) const PREFIX: &str = "crdproof-";

/// The machine, the process with its start time, and a part that is unique in that process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId {
    machine: String,
    process: u32,
    started: String,
    once: String,
}

impl RunId {
    /// A name for a run of this process.
    pub fn new() -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        static STARTED: OnceLock<String> = OnceLock::new();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let process = std::process::id();
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let once = short(&format!("{process} {run} {}", now.as_nanos()));
        let started = STARTED.get_or_init(|| start_of(process).unwrap_or_else(|| short("unknown"))).clone();
        Self { machine: machine().to_owned(), process, started, once }
    }

    /// Parses the output of `to_string`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let id = Self {
            machine: parts.next()?.into(),
            process: parts.next()?.parse().ok()?,
            started: parts.next()?.into(),
            once: parts.next()?.into(),
        };
        let hex = |text: &String| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        (parts.next().is_none() && [&id.machine, &id.started, &id.once].into_iter().all(hex)).then_some(id)
    }

    /// Parses the name of something that a run created, such as `crdproof-1a2b3c-4711-a0b1c2-d4e5f6-control-plane`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.strip_prefix(PREFIX)?.split('-').take(4).collect();
        Self::parse(&parts.join("-"))
    }

    /// A name for something of this run.
    pub fn name(&self) -> String {
        format!("{PREFIX}{self}")
    }

    /// Returns true if its owner is known to have ended. That can be known only of processes that are visible here: on the
    /// same machine, since the same boot, in the same container.
    pub fn is_orphan(&self) -> bool {
        self.machine == machine() && start_of(self.process).as_ref() != Some(&self.started)
    }
}

impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}-{}", self.machine, self.process, self.started, self.once)
    }
}

/// Returns a short hash of the start time of a process, which distinguishes it from an earlier process with the same id;
/// `None` if it has ended.
fn start_of(process: u32) -> Option<String> {
    if cfg!(target_os = "linux") {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of the program, in parentheses, may hold anything. After it come the state and 18 numbers before the start.
        let mut rest = stat.rsplit_once(')')?.1.split_whitespace();
        let is_zombie = rest.next()? == "Z";
        return if is_zombie { None } else { rest.nth(18).map(short) };
    }
    let output = Command::new("ps").args(["-o", "stat=,lstart=", "-p", &process.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (state, start) = text.trim().split_once(' ')?;
    if state.starts_with('Z') { None } else { Some(short(start.trim())) }
}

/// A short hash of this machine, its last boot and this container, within which process ids are unique. The host name
/// alone is not enough: containers often share one.
fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let said = |program: &str, arguments: &[&str]| {
            Command::new(program).args(arguments).output().map(|output| output.stdout).unwrap_or_default()
        };
        let boot = match std::fs::read("/proc/sys/kernel/random/boot_id") {
            Ok(boot) => boot,
            Err(_) => said("sysctl", &["-n", "kern.bootsessionuuid"]),
        };
        let processes = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let host = said("uname", &["-n"]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        short(&format!("{} {} {}", text(&host), text(&boot), processes.display()))
    })
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
        assert_eq!(RunId::of_name(&id.name()), Some(id.clone()));
        assert!(!id.is_orphan());
        let mut child = Command::new("sleep").arg("300").spawn().unwrap();
        let started = start_of(child.id()).unwrap();
        let ended = RunId { process: child.id(), started, ..id.clone() };
        assert!(!ended.is_orphan(), "it lives");
        child.kill().unwrap();
        assert_eq!(rest_of_zombie(&child), None, "a zombie has ended");
        child.wait().unwrap();
        assert!(ended.is_orphan());
        assert!(!RunId { machine: "ffffff".into(), ..ended }.is_orphan(), "another machine's run");
        for wrong in ["", "a-b-c", "crdproof", "1a2b3c-1-1a2b3c", "1a2b3c-x-1a2b3c-1a2b3c", "1a2b3c-1-1a2b3c-1a2b3c-9"]
        {
            assert_eq!(RunId::parse(wrong), None, "{wrong}");
        }
    }

    /// Returns when a killed child is seen to have ended, which takes the kernel a moment.
    fn rest_of_zombie(child: &std::process::Child) -> Option<String> {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while start_of(child.id()).is_some() && std::time::Instant::now() < end {
            std::thread::yield_now();
        }
        start_of(child.id())
    }

    #[test]
    fn a_process_number_that_was_given_anew_belongs_to_nobody() {
        let id = RunId::new();
        assert!(RunId { started: "ffffff".into(), ..id }.is_orphan(), "the owner had this number before us");
    }

    #[test]
    fn a_run_name_is_a_label_value_and_the_name_of_a_node() {
        let id = RunId { machine: "ffffff".into(), process: u32::MAX, started: "ffffff".into(), once: "ffffff".into() };
        assert!(format!("{}-control-plane", id.name()).len() <= 63, "{}", id.name());
    }
}
