//! Progress of installations: downloads and builds of API servers.

use std::time::Duration;

use crdproof_envtest::binaries::Progress;

use super::Live;
use crate::cli::console::Console;

/// Shows the progress of an installation.
pub(crate) struct Installing(Live);

impl Installing {
    pub(crate) fn new(console: Console) -> Self {
        Self(Live::new(console, false))
    }

    pub(crate) fn show(&self, progress: &Progress) {
        show(&self.0, progress);
    }
}

/// Shows the progress of an installation; a source that failed gets a permanent line.
pub(super) fn show(live: &Live, progress: &Progress) {
    match progress {
        Progress::Passed { reason } => live.say(&format!("○ {}", reason.lines().next().unwrap_or_default())),
        Progress::Waiting { release, .. } => live.show(format!("another process installs {release}; waiting")),
        Progress::Fetching { name, done, total, .. } => {
            let of = total.map(|total| format!(" of {}", total / 1_000_000)).unwrap_or_default();
            live.show(format!("{name}: {}{of} MB", done / 1_000_000));
        }
        Progress::Building { what, step, now, packages, .. } => {
            let count = if *packages > 0 { format!(", {packages} packages") } else { String::new() };
            let now = if now.is_empty() { String::new() } else { format!(": {now}") };
            live.show(format!("{what}, {step}{count}{now}"));
        }
    }
}

/// Returns a duration in minutes and seconds.
pub(super) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {:02} s", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_have_minutes_from_the_first_minute_on() {
        assert_eq!(clock(Duration::from_millis(59_900)), "59 s");
        assert_eq!(clock(Duration::from_secs(125)), "2 min 05 s");
    }
}
