//! Panics: defects of crdproof itself. They end with exit code 3 and a request to report them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;

use super::console::Console;
use super::exit::Exit;

/// Set after any panic, also in a thread whose failure others survived.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Prints instructions after a panic in any thread.
pub(crate) fn announce(console: Console) {
    std::panic::set_hook(Box::new(move |panic| {
        if HAS_PANICKED.swap(true, Ordering::Relaxed) {
            return;
        }
        console.say(&format!(
            "error: internal error: {panic}\n  = help: this is a defect of crdproof; please report it at \
             https://github.com/crdproof/crdproof/issues with the command, its input and this text"
        ));
    }));
}

/// Runs a command. After a panic the exit code is 3, whatever the result.
pub(crate) fn caught(command: impl FnOnce() -> Result<Exit>) -> Result<Exit> {
    let ended = catch_unwind(AssertUnwindSafe(command));
    match ended {
        Ok(exit) if !HAS_PANICKED.load(Ordering::Relaxed) => exit,
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
