//! Waiting for what another process does.

use std::process::Command;
use std::time::{Duration, Instant};

/// Returns what a condition gives, once it does.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns whether a process runs. A zombie has ended; whether its parent has noticed does not matter.
pub(crate) fn is_alive(id: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap().stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}
