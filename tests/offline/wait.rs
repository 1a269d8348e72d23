//! Waiting for other processes.

use std::process::Command;
use std::time::{Duration, Instant};

/// Calls a condition until it returns a value, and returns that.
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

/// Returns true if a process runs. A zombie has ended, even if its parent has not noticed.
pub(crate) fn is_alive(id: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap().stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}
