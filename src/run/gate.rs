//! Limits how many threads do something at once.

use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, PoisonError};

/// Lets a number of threads in at a time.
pub(super) struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

/// Being in; ends when it is dropped.
pub(super) struct Turn<'g>(&'g Gate);

impl Gate {
    pub(super) fn new(places: NonZeroUsize) -> Self {
        Self { free: Mutex::new(places.get()), left: Condvar::new() }
    }

    pub(super) fn enter(&self) -> Turn<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.left.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}
