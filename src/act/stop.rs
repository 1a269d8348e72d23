//! A request to stop early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop early, shared with everything that acts. The observations so far are judged.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Requests that acting ends soon.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if acting must end.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
