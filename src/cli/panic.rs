//! Panics: defects of crdproof itself. They end with exit code 3 and a request to report them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;

use super::console::Console;
use super::exit::Exit;

/// Set when a panic happened anywhere, also in a thread whose work others went on without.
static HAPPENED: AtomicBool = AtomicBool::new(false);

/// Says what to do about a panic, wherever one happens.
pub(crate) fn announce(console: Console) {
    std::panic::set_hook(Box::new(move |panic| {
        if HAPPENED.swap(true, Ordering::Relaxed) {
            return;
        }
        console.say(&format!(
            "error: internal error: {panic}\n  = help: this is a defect of crdproof; please report it at \
             https://github.com/crdproof/crdproof/issues with the command, its input and this text"
        ));
    }));
}

/// Runs a command. Where something panicked, the exit code says so, whatever else came of it.
pub(crate) fn caught(command: impl FnOnce() -> Result<Exit>) -> Result<Exit> {
    let ended = catch_unwind(AssertUnwindSafe(command));
    match ended {
        Ok(exit) if !HAPPENED.load(Ordering::Relaxed) => exit,
        _ => Ok(Exit::Internal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(caught(|| Ok(Exit::Success)).unwrap(), Exit::Success);
        assert_eq!(caught(|| panic!("a defect")).unwrap(), Exit::Internal);
    }
}
