//! Ctrl-C and SIGTERM as errors, so that a command can remove what it created.

use std::fmt;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

/// The process was asked to stop. The value is the exit code: 128 plus the number of the signal.
#[derive(Debug)]
pub(crate) struct Interrupted(u8);

impl Interrupted {
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.0)
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Catches SIGINT and SIGTERM for the rest of the process.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    exit_code: Arc<AtomicU8>,
}

impl Interrupt {
    /// Starts a thread that listens for signals.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let this = Self::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
        drop(entered);
        let exit_code = Arc::clone(&this.exit_code);
        thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    let code = tokio::select! {
                        _ = interrupt.recv() => 130,
                        _ = terminate.recv() => 143,
                    };
                    exit_code.store(code, Ordering::Relaxed);
                }
            });
        });
        Ok(this)
    }

    /// Fails when a signal has arrived.
    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        match self.exit_code.load(Ordering::Relaxed) {
            0 => Ok(()),
            code => Err(Interrupted(code)),
        }
    }
}
