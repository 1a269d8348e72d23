//! Runs a plan: acts where acting is due, judges in parallel, tells what happens as events.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::civil::Date;
use serde_json::Value;

use super::{Case, Plan};
use crate::checks::{Change, Evidence, Need, Verdict};
use crate::convert::endpoint::{Endpoint, Request};
use crate::convert::{self, Converter, Declared, probe};
use crate::observe::{Exchange, Leg, Origin, Outcome, Reply, Trial};
use crate::schema;
use crate::schema::compare::{Delta, compare};
use crate::subject::{Crd, Subject};

/// What happens during a run, in the order in which it happens.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins.
    Started {
        /// How many cases there are.
        cases: usize,
    },
    /// A case was judged.
    Judged {
        /// Its index in the plan.
        index: usize,
        /// The case.
        case: Case<'a>,
        /// What the judge said.
        verdict: Verdict,
    },
}

/// How to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads that judge.
    pub jobs: NonZeroUsize,
    /// The day, for expiries.
    pub today: Date,
}

/// Whether the plan asks a webhook.
pub fn asks(plan: &Plan<'_>) -> bool {
    plan.cases.iter().any(|case| {
        let over_the_wire = matches!(convert::declared(plan.subject, case.crd), Ok(Declared::Webhook(_)));
        let needs = |need| case.check.needs.contains(&need);
        over_the_wire && (needs(Need::Trials) || needs(Need::Exchanges)) && !plan.exchanges.contains_key(&case.crd.name)
    })
}

/// Whether what answers the subject's reviews can be reached, where the plan needs it. `Err` says why not:
/// nothing is judged then, since everything would fail for that one reason.
pub fn reach(plan: &Plan<'_>) -> Result<(), String> {
    if !asks(plan) {
        return Ok(());
    }
    let endpoint = plan.endpoint.endpoint(plan.subject)?;
    let hello = Request { method: "GET", body: Vec::new() };
    match endpoint.map(|endpoint| endpoint.send(&hello).0) {
        Some(Outcome::Failed(why)) => Err(why),
        Some(Outcome::Answered { .. } | Outcome::Met(_)) | None => Ok(()),
    }
}

/// Runs a plan. `emit` is called from several threads, once for each event.
pub fn run<'a>(plan: &Plan<'a>, options: &Options, emit: &(dyn Fn(Event<'a>) + Sync)) {
    emit(Event::Started { cases: plan.cases.len() });
    let once = Once::default();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.get().min(plan.cases.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = plan.cases.get(index) else {
                        break;
                    };
                    let verdict = judge(plan, *case, &once, options.today);
                    emit(Event::Judged { index, case: *case, verdict });
                }
            });
        }
    });
}

fn judge(plan: &Plan<'_>, case: Case<'_>, once: &Once, today: Date) -> Verdict {
    let subject = plan.subject;
    let name = case.crd.name.as_str();
    let change = match (&subject.baseline, subject.crd(name), subject.baseline_of(name)) {
        (None, ..) => Change::Unknown,
        (Some(_), Some(_), None) => Change::Added,
        (Some(_), Some(_), Some(old)) => Change::Kept(old),
        (Some(_), None, _) => Change::Removed,
    };
    let needs = |need| case.check.needs.contains(&need);
    // That it can be opened is known before a run begins.
    let endpoint = || plan.endpoint.endpoint(subject).ok().flatten();
    let trials = if needs(Need::Trials) {
        once.trials.of(name, || carry_out(subject, case.crd, endpoint()))
    } else {
        Arc::default()
    };
    let recorded = plan.exchanges.get(name);
    let exchanges = if needs(Need::Exchanges) && recorded.is_none() {
        once.exchanges.of(name, || exchange(subject, case.crd, endpoint()))
    } else {
        Arc::default()
    };
    let exchanges = recorded.unwrap_or(&exchanges);
    let deltas = match change {
        Change::Kept(old) if needs(Need::Baseline) => once.deltas.of(name, || compare_versions(old, case.crd)),
        _ => Arc::default(),
    };
    let trace = plan.traces.iter().find(|trace| trace.crd == name);
    let evidence =
        Evidence { subject, crd: case.crd, change, deltas: &deltas, trials: &trials, exchanges, trace, today };
    (case.check.judge)(&evidence)
}

/// What several checks look at is made once for each CRD, by whichever case asks first.
#[derive(Default)]
struct Once {
    trials: ByCrd<Trial>,
    deltas: ByCrd<(String, Vec<Delta>)>,
    exchanges: ByCrd<Exchange>,
}

type Cell<T> = Arc<OnceLock<Arc<Vec<T>>>>;

struct ByCrd<T>(Mutex<BTreeMap<String, Cell<T>>>);

impl<T> Default for ByCrd<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> ByCrd<T> {
    fn of(&self, crd: &str, make: impl FnOnce() -> Vec<T>) -> Arc<Vec<T>> {
        let cell = {
            let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry(crd.to_owned()).or_default())
        };
        // Made outside the lock, so that other CRDs need not wait.
        Arc::clone(cell.get_or_init(|| Arc::new(make())))
    }
}

/// The differences of every version that has a schema in both states.
fn compare_versions(old: &Crd, new: &Crd) -> Vec<(String, Vec<Delta>)> {
    let pairs = new.versions.iter().filter_map(|version| {
        let before = old.version(&version.name)?.schema.as_ref()?;
        Some((version.name.clone(), compare(before, version.schema.as_ref()?)))
    });
    pairs.collect()
}

/// Every sample through every other version and back.
fn carry_out(subject: &Subject, crd: &Crd, endpoint: Option<&dyn Endpoint>) -> Vec<Trial> {
    let Ok(converter) = Converter::of(subject, crd, endpoint) else { return Vec::new() };
    let mut trials = Vec::new();
    for sample in subject.samples_of(crd) {
        let version = sample.group_version().1;
        let Some(own) = crd.version(version) else { continue };
        // What the sample's own version does not know is gone before any conversion.
        let mut input = sample.object.clone();
        if let Some(schema) = &own.schema {
            schema::prune(schema, &mut input);
        }
        for other in crd.versions.iter().filter(|other| other.name != version) {
            let legs = legs(&converter, &input, version, &[&other.name, version]);
            trials.push(Trial {
                crd: crd.name.clone(),
                version: version.to_owned(),
                origin: Origin::Sample(sample.name().to_owned()),
                input: input.clone(),
                legs,
            });
        }
    }
    trials
}

/// Everything that the wire checks look at, with the CRD's samples as objects.
fn exchange(subject: &Subject, crd: &Crd, endpoint: Option<&dyn Endpoint>) -> Vec<Exchange> {
    let objects: Vec<Value> = subject.samples_of(crd).map(|sample| sample.object.clone()).collect();
    endpoint.map(|endpoint| probe::probe(endpoint, crd, &objects)).unwrap_or_default()
}

fn legs(converter: &Converter<'_>, input: &Value, start: &str, route: &[&str]) -> Vec<Leg> {
    let mut legs = Vec::new();
    let mut object = input.clone();
    let mut from = start;
    for to in route {
        match converter.convert(&object, from, to) {
            Ok(answer) => {
                object = answer.clone();
                from = to;
                legs.push(Leg { to: (*to).to_owned(), reply: Reply::Object(answer) });
            }
            Err(message) => {
                legs.push(Leg { to: (*to).to_owned(), reply: Reply::Refused(message) });
                break;
            }
        }
    }
    legs
}
