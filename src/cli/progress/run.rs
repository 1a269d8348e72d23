//! Progress of a run, from its events.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{Live, install};
use crate::checks::Verdict;
use crate::cli::console::Console;
use crate::cli::servers::describe;
use crate::evidence::{Observation, Record, Trace};
use crate::run::Event;

/// Shows the progress of a run.
pub(crate) struct RunProgress {
    live: Live,
    verbose: bool,
    state: Mutex<State>,
}

/// The progress of a run.
#[derive(Default)]
struct State {
    /// The current step of each server.
    servers: BTreeMap<String, String>,
    /// The number of judged checks, and the total.
    judged: usize,
    checks: usize,
    /// The latest batch of objects.
    tried: Option<String>,
    findings: usize,
}

impl State {
    /// The phase, CRD, objects or steps, and findings so far.
    fn text(&self) -> String {
        let mut parts: Vec<String> =
            self.servers.iter().map(|(release, step)| format!("Kubernetes {release}: {step}")).collect();
        if self.checks > 0 {
            parts.push(format!("judged {} of {} checks", self.judged, self.checks));
            parts.extend(self.tried.clone());
        }
        match self.findings {
            0 => {}
            1 => parts.push("1 finding".into()),
            count => parts.push(format!("{count} findings")),
        }
        parts.join(" · ")
    }
}

impl RunProgress {
    pub(crate) fn new(console: Console, verbose: bool, quiet: bool) -> Self {
        Self { live: Live::new(console, quiet), verbose, state: Mutex::default() }
    }

    /// Shows an event.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Installing(progress) => install::show(&self.live, progress),
            Event::Installed => self.live.clear(),
            Event::Servers { count, at_once } if *count > 1 => {
                self.live.say(&format!("○ {count} releases, {at_once} at once"));
            }
            Event::ServerSkipped { release, reason } => {
                self.live.say(&format!("○ Kubernetes {release} skipped: {reason}"));
            }
            Event::ServerStarted { server, elapsed } => {
                self.live.say(&format!("► {} after {:.1} s", describe(server), elapsed.as_secs_f64()));
            }
            Event::ScenariosFinished { release, traces, elapsed } => {
                let requests: u64 = traces.iter().map(|trace| trace.requests).sum();
                let took = elapsed.as_secs_f64();
                self.change(|state| drop(state.servers.remove(*release)));
                self.live.say(&format!("✔ scenarios on {release} after {took:.1} s, {requests} requests"));
                let lines = traces.iter().flat_map(log).filter(|_| self.verbose);
                lines.for_each(|line| self.live.say(&format!("  {release}: {line}")));
            }
            Event::Step { release, crd, step, requests } => self.change(|state| {
                state.servers.insert((*release).to_owned(), format!("{crd}, {step}, {requests} requests"));
            }),
            Event::Started { checks } => self.change(|state| state.checks = *checks),
            Event::Tried { crd, objects, of } => {
                self.change(|state| state.tried = Some(format!("{crd}: {objects} of {of} objects")));
            }
            Event::Judged { verdict, .. } => self.change(|state| {
                state.judged += 1;
                if let Verdict::Failed(failures) = verdict {
                    state.findings += failures.len();
                }
                if state.judged == state.checks {
                    state.checks = 0;
                }
            }),
            Event::Servers { .. } | Event::Searched { .. } | Event::Worked { .. } | Event::Asked { .. } => {}
        }
    }

    /// Removes the progress: the report follows.
    pub(crate) fn finish(&self) {
        self.live.clear();
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let text = state.text();
        if text.is_empty() { self.live.clear() } else { self.live.show(text) }
    }
}

/// Returns the deliveries, line by line. Values may be secret, so only the places of drift are named.
fn log(trace: &Trace) -> Vec<String> {
    let line = |record: &Record| match &record.seen {
        Observation::Delivered(delivered) => {
            let places: Vec<&str> = delivered.differences.iter().map(|differs| differs.at.as_str()).collect();
            Some(format!("{delivered} {}", places.join(" ")).trim_end().to_owned())
        }
        Observation::Health(health) => Some(health.to_string()),
        Observation::Stopped(why) => Some(format!("stopped: {why}")),
        _ => None,
    };
    trace.records.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_phase_crd_steps_and_findings() {
        let mut state = State::default();
        state.servers.insert("1.36".into(), "a.example.com, storage/flip, 12 requests".into());
        assert_eq!(state.text(), "Kubernetes 1.36: a.example.com, storage/flip, 12 requests");
        let tried = Some("a.example.com: 64 of 400 objects".to_owned());
        let state = State { judged: 3, checks: 9, tried, findings: 2, ..State::default() };
        assert_eq!(state.text(), "judged 3 of 9 checks · a.example.com: 64 of 400 objects · 2 findings");
        assert_eq!(State::default().text(), "");
    }
}
