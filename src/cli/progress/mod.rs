//! Progress of long operations: one changing line on a terminal, a line every few seconds elsewhere.

mod install;
mod run;

pub(crate) use install::Installing;
pub(crate) use run::RunProgress;

use std::io::IsTerminal as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::console::{self, Console};

/// The interval of lines if stderr is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// The interval for redrawing the line of a terminal, so that its clock advances.
const TICK: Duration = Duration::from_millis(120);

/// The current activity. It disappears when this is dropped.
pub(crate) struct Live {
    console: Console,
    place: Place,
}

enum Place {
    /// Nothing is shown.
    Nowhere,
    /// The line, if there is one.
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

    /// Replaces the activity.
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

    /// Prints a permanent line, unless quiet.
    pub(crate) fn say(&self, text: &str) {
        if !matches!(self.place, Place::Nowhere) {
            self.console.say(text);
        }
    }

    /// Removes the activity.
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

/// Prints the activity every few seconds, from a separate thread, because the operation may block.
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
            while matches!(ended.recv_timeout(LINE_INTERVAL), Err(RecvTimeoutError::Timeout)) {
                let activity = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(Activity { text, since }) =
                    activity.as_ref().filter(|one| one.since.elapsed() >= LINE_INTERVAL / 2)
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
        // It only prints; after a panic there is nothing to clean up.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
