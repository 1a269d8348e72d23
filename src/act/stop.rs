//! A request to end early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to end early, shared by those who make it and those who act. What was seen until then is judged.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks everybody who acts to end soon.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether acting is to end.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
