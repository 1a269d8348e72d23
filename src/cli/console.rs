//! Messages on stderr, and results on stdout.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use crate::report::redact_line;
use crate::subject::load::{InputError, Trouble};
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use crdproof_schema::text::{truncate, visible, visible_line};
use indicatif::ProgressBar;

use super::exit::Exit;

/// The maximum number of characters of a line in an error.
const MAX_SHOWN: usize = 160;

/// The progress line of the terminal, if there is one. There is one terminal, and other output must not write into that
/// line.
static DRAWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Replaces the progress line, or removes it.
pub(crate) fn draw(bar: Option<ProgressBar>) {
    let earlier = std::mem::replace(&mut *DRAWN.lock().unwrap_or_else(PoisonError::into_inner), bar);
    if let Some(earlier) = earlier {
        earlier.finish_and_clear();
    }
}

/// Writes while the progress line is suspended.
fn suspend_progress<T>(write: impl FnOnce() -> T) -> T {
    match &*DRAWN.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// The output streams of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    choice: anstream::ColorChoice,
}

impl Console {
    pub(crate) fn new(color: ColorChoice) -> Self {
        let choice = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self { choice }
    }

    /// Returns true if stderr shows colour.
    pub(crate) fn colour(self) -> bool {
        match self.choice {
            anstream::ColorChoice::Auto => {
                anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
            }
            choice => choice != anstream::ColorChoice::Never,
        }
    }

    /// Prints a message for the user, with texts of others escaped.
    pub(crate) fn say(self, text: &str) {
        self.show(&visible(text));
    }

    /// Prints text that was rendered for a terminal, with its colours.
    pub(crate) fn show(self, text: &str) {
        suspend_progress(|| {
            let mut stderr = anstream::AutoStream::new(std::io::stderr().lock(), self.choice);
            // If stderr is closed, the message cannot be shown.
            let _ = writeln!(stderr, "{text}");
        });
    }

    /// Prints the result on stdout.
    pub(crate) fn print(self, text: &str) -> anyhow::Result<()> {
        let written = suspend_progress(|| {
            let mut stdout = anstream::AutoStream::new(std::io::stdout().lock(), self.choice);
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        });
        match written {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            result => Ok(result.map_err(|error| {
                InputError::new(Trouble::Environment, format!("cannot write to standard output: {error}"))
                    .help("check that it can be written to, and that its device has room")
            })?),
        }
    }

    /// Prints an error that ended the command, with its location and remedy.
    pub(crate) fn failure(self, error: &anyhow::Error) -> Exit {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let bold = Style::new().bold();
        let exit = Exit::of(error);
        let mut text = format!("{red}error{red:#}: {bold}{}{bold:#}", visible(&format!("{error:#}")));
        if let Some(input) = error.downcast_ref::<InputError>() {
            if let (Some(place), Some(line)) = (&input.place, &input.line) {
                let gutter = place.line.to_string();
                let pad = " ".repeat(gutter.len());
                let (line, column) = redact_line(line, place.column.saturating_sub(1) as usize);
                let shown = visible_line(&truncate(&line, MAX_SHOWN));
                text.push_str(&format!(
                    "\n{pad} |\n{gutter} | {shown}\n{pad} | {}{red}^{red:#}",
                    " ".repeat(column.min(MAX_SHOWN))
                ));
            }
            if let Some(help) = &input.help {
                text.push_str(&format!("\n  = help: {}", visible(help)));
            }
        } else {
            text.push_str("\n  = help: this is a defect of crdproof; please report it with the command and its input");
        }
        self.show(&text);
        exit
    }
}
