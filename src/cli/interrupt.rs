//! Ctrl-C: the first ends acting and reports partial results, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crdproof_envtest::runtime;

use super::console::{self, Console};
use super::exit::Exit;
use crate::act::Stop;

/// Turns interruptions of this process into a request to stop.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts {
    /// The stop that the first interruption requests.
    pub(crate) stop: Stop,
    /// True if there is something to report. Before that, the first interruption ends the process.
    acting: Arc<AtomicBool>,
}

impl Interrupts {
    /// Listens from now on, until the process ends.
    pub(crate) fn listen(console: Console) -> Self {
        let interrupts = Self { stop: Stop::default(), acting: Arc::default() };
        let theirs = interrupts.clone();
        std::thread::spawn(move || {
            wait();
            if theirs.acting.load(Ordering::Relaxed) {
                theirs.stop.request();
                console.say("○ interrupted: reporting what is known; press Ctrl-C again to stop at once");
                wait();
            }
            console::draw(None);
            console.say("○ interrupted; nothing is left behind");
            // Guards stop the servers when this process ends.
            std::process::exit(Exit::Incomplete.code().into());
        });
        interrupts
    }

    /// Marks that from now on there is something to report.
    pub(crate) fn act(&self) {
        self.acting.store(true, Ordering::Relaxed);
    }
}

/// Returns a request to stop that the next interruption makes, also between two things that could be interrupted.
pub(crate) fn remembered() -> Stop {
    let stop = Stop::default();
    let requested = stop.clone();
    std::thread::spawn(move || {
        wait();
        requested.request();
    });
    stop
}

/// Waits for one interruption.
fn wait() {
    if runtime::block_on(runtime::unless_interrupted(std::future::pending::<()>())).is_err() {
        // Without a runtime nothing listens, and signals end the process, as by default.
        loop {
            std::thread::park();
        }
    }
}
