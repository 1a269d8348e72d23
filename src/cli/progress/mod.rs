//! What people see while something takes long: one changing line on a terminal, a line every few seconds elsewhere.

mod install;
mod run;

pub(crate) use install::Installing;
pub(crate) use run::Narrator;

use std::io::IsTerminal as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::console::{self, Console};

/// The interval of lines where stderr is not a terminal.
const EVERY: Duration = Duration::from_secs(5);

/// The interval at which the line of a terminal is drawn again, so that its clock goes on.
const TICK: Duration = Duration::from_millis(120);

/// The one activity that is shown at a time. It disappears when this is dropped.
pub(crate) struct Live {
    console: Console,
    place: Place,
}

enum Place {
    /// Nothing is shown.
    Nowhere,
    /// The line, while there is one.
    Terminal(Mutex<Option<ProgressBar>>),
    Lines(Lines),
}

impl Live {
    /// Shows nothing yet. With `quiet` it never does.
    pub(crate) fn new(console: Console, quiet: bool) -> Self {
        let place = if quiet {
            Place::Nowhere
        } else if std::io::stderr().is_terminal() {
            Place::Terminal(Mutex::default())
        } else {
            Place::Lines(Lines::start(console))
        };
        Self { console, place }
    }

    /// Replaces what is shown.
    pub(crate) fn show(&self, text: impl Into<String>) {
        match &self.place {
            Place::Nowhere => {}
            Place::Terminal(bar) => {
                let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
                bar.get_or_insert_with(|| bar_of(self.console)).set_message(text.into());
            }
            Place::Lines(lines) => lines.set(Some(text.into())),
        }
    }

    /// Prints a line that stays; nothing where this is quiet.
    pub(crate) fn say(&self, text: &str) {
        if !matches!(self.place, Place::Nowhere) {
            self.console.say(text);
        }
    }

    /// Removes what is shown, until something else is.
    pub(crate) fn clear(&self) {
        match &self.place {
            Place::Nowhere => {}
            Place::Terminal(bar) => {
                if bar.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
                    console::draw(None);
                }
            }
            Place::Lines(lines) => lines.set(None),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Draws a new line.
fn bar_of(console: Console) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let colour = if console.colour() { ":.cyan" } else { "" };
    let style = ProgressStyle::with_template(&format!("{{spinner{colour}}} {{wide_msg}} {{elapsed:>4}}"));
    // The default style shows the same, only less neatly.
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(TICK);
    console::draw(Some(bar.clone()));
    bar
}

/// Prints what goes on every few seconds, from a thread of its own: what takes long may not come back for a while.
struct Lines {
    shown: Arc<Mutex<Option<Activity>>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Activity {
    text: String,
    since: Instant,
}

impl Lines {
    fn start(console: Console) -> Self {
        let shown: Arc<Mutex<Option<Activity>>> = Arc::default();
        let (end, ended) = channel::<()>();
        let theirs = Arc::clone(&shown);
        let thread = std::thread::spawn(move || {
            while matches!(ended.recv_timeout(EVERY), Err(RecvTimeoutError::Timeout)) {
                let activity = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(Activity { text, since }) = activity.as_ref().filter(|one| one.since.elapsed() >= EVERY / 2)
                {
                    console.say(&format!("  {text}, {}", install::clock(since.elapsed())));
                }
            }
        });
        Self { shown, end: Some(end), thread: Some(thread) }
    }

    fn set(&self, text: Option<String>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let since = shown.as_ref().map_or_else(Instant::now, |activity| activity.since);
        *shown = text.map(|text| Activity { text, since });
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.end.take());
        // It only prints; where it panicked, there is nothing to clean up.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
