//! Runs a plan: acts where acting is due, judges in parallel, tells what happens as events.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::civil::Date;
use serde_json::Value;

use super::{Case, Plan};
use crate::checks::{Change, Evidence, Need, Verdict};
use crate::convert::{self, Converter};
use crate::observe::{Leg, Origin, Reply, Trial};
use crate::schema;
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

/// Runs a plan. `emit` is called from several threads, once for each event.
pub fn run<'a>(plan: &Plan<'a>, options: &Options, emit: &(dyn Fn(Event<'a>) + Sync)) {
    emit(Event::Started { cases: plan.cases.len() });
    let trials = Trials::default();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.get().min(plan.cases.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = plan.cases.get(index) else {
                        break;
                    };
                    let verdict = judge(plan, *case, &trials, options.today);
                    emit(Event::Judged { index, case: *case, verdict });
                }
            });
        }
    });
}

fn judge(plan: &Plan<'_>, case: Case<'_>, trials: &Trials, today: Date) -> Verdict {
    let subject = plan.subject;
    let name = case.crd.name.as_str();
    let change = match (&subject.baseline, subject.crd(name), subject.baseline_of(name)) {
        (None, ..) => Change::Unknown,
        (Some(_), Some(_), None) => Change::Added,
        (Some(_), Some(_), Some(old)) => Change::Kept(old),
        (Some(_), None, _) => Change::Removed,
    };
    let trials = if case.check.needs.contains(&Need::Trials) { trials.of(subject, case.crd) } else { Vec::new() };
    let trace = plan.traces.iter().find(|trace| trace.crd == name);
    let evidence = Evidence { subject, crd: case.crd, change, trials: &trials, trace, today };
    (case.check.judge)(&evidence)
}

/// Trials are carried out once for each CRD, by whichever case asks first.
#[derive(Default)]
struct Trials(Mutex<BTreeMap<String, Vec<Trial>>>);

impl Trials {
    fn of(&self, subject: &Subject, crd: &Crd) -> Vec<Trial> {
        let mut done = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        done.entry(crd.name.clone()).or_insert_with(|| carry_out(subject, crd)).clone()
    }
}

/// Every sample through every other version and back.
fn carry_out(subject: &Subject, crd: &Crd) -> Vec<Trial> {
    let Ok(converter) = convert::converter_of(subject, crd) else {
        return Vec::new();
    };
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
            let legs = legs(converter, &input, version, &[&other.name, version]);
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

fn legs(converter: Converter<'_>, input: &Value, start: &str, route: &[&str]) -> Vec<Leg> {
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
