//! Parallel work on all cores.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// Calls a function for each item and returns the results in the order of the items.
pub(super) fn each<T: Send, R: Send>(items: Vec<T>, job: impl Fn(T) -> R + Sync) -> Vec<R> {
    let jobs = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(items.len().max(1));
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut done = Vec::new();
        while let Some((index, item)) = next() {
            done.push((index, job(item)));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        // Propagate the panic of a worker.
        done.extend(
            workers
                .into_iter()
                .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
        done
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
