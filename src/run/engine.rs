//! Runs a plan: acts where acting is due, judges in parallel, tells what happens as events.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use jiff::civil::Date;
use serde_json::Value;

use super::{Case, Plan, Recorded};
use crate::act::conversions::{Found, Saved, Search, judge_recorded};
use crate::act::wire;
use crate::checks::{Change, Check, Evidence, Need, Verdict};
use crate::converter::endpoint::Request;
use crate::converter::{self, Converter, Declared};
use crate::evidence::{Exchange, Outcome, Trial};
use crate::report::Conversions;
use crate::subject::Crd;
use crdproof_schema::structural::Secrets;
use crdproof_schema::structural::compare::{Delta, compare};

/// What happens during a run, in the order in which it happens.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins.
    Started {
        /// How many cases there are.
        cases: usize,
    },
    /// Objects of a CRD were tried on its converter.
    Searched {
        /// What was done.
        conversions: Conversions,
        /// Why the converter could not be asked to the end.
        stopped: Option<String>,
        /// Every trial, where the settings ask to record.
        recorded: Option<Box<Recorded>>,
    },
    /// An endpoint was asked about a CRD; only where the settings ask to record.
    Asked {
        /// The CRD.
        crd: &'a Crd,
        /// Requests and answers.
        exchanges: Vec<Exchange>,
    },
    /// A case was judged.
    Judged {
        /// Its index in the plan.
        index: usize,
        /// The case.
        case: Case<'a>,
        /// What the judge said.
        verdict: Verdict,
        /// The trials that breaches point to.
        shown: Arc<Vec<Trial>>,
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

impl Options {
    /// As many threads as serve most: four for each core, since those that wait for a converter leave the core to others,
    /// and the converter must not wait for them.
    pub fn jobs() -> NonZeroUsize {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        cores.saturating_mul(NonZeroUsize::MIN.saturating_add(3))
    }
}

/// Whether the plan asks a webhook.
pub fn asks(plan: &Plan<'_>) -> bool {
    plan.cases.iter().any(|case| {
        let over_the_wire = matches!(converter::declared(plan.subject, case.crd), Ok(Declared::Webhook(_)));
        let needs = |need| case.check.needs.contains(&need);
        let trials = (needs(Need::Trials) || needs(Need::Survey)) && !plan.settings.trials.contains_key(&case.crd.name);
        over_the_wire && (trials || needs(Need::Exchanges) && !plan.settings.exchanges.contains_key(&case.crd.name))
    })
}

/// Whether what answers the subject's reviews can be reached, where the plan needs it. `Err` says why not:
/// nothing is judged then, since everything would fail for that one reason.
pub fn reach(plan: &Plan<'_>) -> Result<(), String> {
    if plan.settings.endpoint.is_some() || !asks(plan) {
        return Ok(());
    }
    let endpoint = plan.endpoint.endpoint(plan.subject)?;
    let hello = Request::get();
    match endpoint.map(|endpoint| endpoint.send(&hello).0) {
        Some(Outcome::Failed(why)) => Err(why),
        Some(Outcome::Answered { .. } | Outcome::Met(_)) | None => Ok(()),
    }
}

/// Tells what happens.
type Emit<'e, 'a> = &'e (dyn Fn(Event<'a>) + Sync);

/// Runs a plan. `emit` is called from several threads, once for each event.
pub fn run<'a>(plan: &Plan<'a>, options: &Options, emit: Emit<'_, 'a>) {
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
                    let (verdict, shown) = judge(plan, *case, &once, options, emit);
                    emit(Event::Judged { index, case: *case, verdict, shown });
                }
            });
        }
    });
}

fn judge<'a>(
    plan: &Plan<'a>,
    case: Case<'a>,
    once: &Once,
    options: &Options,
    emit: Emit<'_, 'a>,
) -> (Verdict, Arc<Vec<Trial>>) {
    let (subject, settings) = (plan.subject, plan.settings);
    let name = case.crd.name.as_str();
    let change = match (&subject.baseline, subject.crd(name), subject.baseline_of(name)) {
        (None, ..) => Change::Unknown,
        (Some(_), Some(_), None) => Change::Added,
        (Some(_), Some(_), Some(old)) => Change::Kept(old),
        (Some(_), None, _) => Change::Removed,
    };
    let needs = |need| case.check.needs.contains(&need);
    let recorded = settings.exchanges.get(name);
    let exchanges = if needs(Need::Exchanges) && recorded.is_none() {
        once.exchanges.of(name, || exchange(plan, case.crd, emit))
    } else {
        Arc::default()
    };
    let deltas = match change {
        Change::Kept(old) if needs(Need::Baseline) => once.deltas.of(name, || compare_versions(old, case.crd)),
        _ => Arc::default(),
    };
    let trials = settings.trials.get(name);
    let evidence = Evidence {
        subject,
        crd: case.crd,
        change,
        deltas: &deltas,
        trials: &[],
        exchanges: recorded.unwrap_or(&exchanges),
        trace: settings.traces.iter().find(|trace| trace.crd == name && Some(trace.kubernetes) == case.server),
        today: options.today,
        secrets: &once.secrets.of(name, || case.crd.secrets()),
        show_secrets: settings.show_secrets,
        tools: None,
    };
    if !(needs(Need::Trials) || needs(Need::Survey)) {
        return (expected_of(case, (case.check.judge)(&evidence)), Arc::default());
    }
    let searched = once.searches.of(name, || match trials {
        Some(recorded) => {
            let (verdicts, shown) = judge_recorded(&judges(plan, case.crd), &evidence, recorded);
            if let Some(conversions) = recorded.conversions.clone() {
                emit(Event::Searched { conversions, stopped: recorded.stopped.clone(), recorded: None });
            }
            Ok((verdicts, Arc::new(shown)))
        }
        None => search(plan, case.crd, &evidence, options, emit),
    });
    match &*searched {
        Ok((verdicts, shown)) => {
            let verdict = verdicts.get(case.check.id).cloned();
            (verdict.unwrap_or_else(|| (case.check.judge)(&evidence)), Arc::clone(shown))
        }
        Err(why) => (Verdict::Undecided(why.clone()), Arc::default()),
    }
}

/// A server that is older than a guarantee is not to blame for not giving it, and neither is the subject.
fn expected_of(case: Case<'_>, verdict: Verdict) -> Verdict {
    match (verdict, case.check.since, case.server) {
        (Verdict::Broken(breaches), Some(since), Some(server)) if !server.at_least(since) => {
            let first = breaches.first().map(|breach| breach.message.as_str()).unwrap_or_default();
            Verdict::ServerFact(format!("{first}; this can be expected from Kubernetes 1.{since} on"))
        }
        (verdict, ..) => verdict,
    }
}

/// What several checks look at is made once for each CRD, by whichever case asks first.
#[derive(Default)]
struct Once {
    searches: ByCrd<Result<Searched, String>>,
    deltas: ByCrd<Vec<(String, Vec<Delta>)>>,
    exchanges: ByCrd<Vec<Exchange>>,
    secrets: ByCrd<Secrets>,
}

/// Verdicts by check, and the trials that they point to.
type Searched = (BTreeMap<&'static str, Verdict>, Arc<Vec<Trial>>);

type Cell<T> = Arc<OnceLock<Arc<T>>>;

struct ByCrd<T>(Mutex<BTreeMap<String, Cell<T>>>);

impl<T> Default for ByCrd<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> ByCrd<T> {
    fn of(&self, crd: &str, make: impl FnOnce() -> T) -> Arc<T> {
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

/// Tries objects of a CRD on its converter, for all checks that look at conversions.
fn search<'a>(
    plan: &Plan<'a>,
    crd: &'a Crd,
    evidence: &Evidence<'_>,
    options: &Options,
    emit: Emit<'_, 'a>,
) -> Result<Searched, String> {
    let (subject, settings) = (plan.subject, plan.settings);
    let converter = match &settings.endpoint {
        Some(stand) => Converter::asking(crd, &*stand.0),
        None => Converter::of(subject, crd, plan.endpoint.endpoint(subject)?)?,
    };
    let earlier = match &settings.baseline {
        Some(stand) => Some(&*stand.0),
        None => plan.endpoint.baseline(subject)?,
    };
    let baseline = earlier.map(|endpoint| Converter::asking(crd, endpoint));
    let cases = settings.cases.iter().filter(|case| case.crd == crd.name).map(|case| Saved {
        name: case.file_name(),
        version: case.version.clone(),
        fit: case.fit.clone(),
        object: case.object.clone(),
    });
    let search = Search {
        subject,
        crd,
        converter: &converter,
        baseline: baseline.as_ref(),
        checks: judges(plan, crd),
        cases: cases.collect(),
        samples: !settings.only_cases,
        objects: settings.generated(),
        seed: settings.seed,
        deadline: settings.time.map(|time| Instant::now() + time),
        jobs: options.jobs,
    };
    let Found { verdicts, shown, conversions, stopped, recorded } = search.run(evidence, settings.record);
    emit(Event::Searched { conversions, stopped, recorded: recorded.map(Box::new) });
    Ok((verdicts, Arc::new(shown)))
}

/// The planned checks of a CRD that look at conversions.
fn judges(plan: &Plan<'_>, crd: &Crd) -> Vec<&'static Check> {
    let planned = plan.cases.iter().filter(|case| case.crd.name == crd.name).map(|case| case.check);
    planned.filter(|check| check.needs.iter().any(|need| matches!(need, Need::Trials | Need::Survey))).collect()
}

/// Everything that the wire checks look at, with the CRD's samples as objects.
fn exchange<'a>(plan: &Plan<'a>, crd: &'a Crd, emit: Emit<'_, 'a>) -> Vec<Exchange> {
    let objects: Vec<Value> = plan.subject.samples_of(crd).map(|sample| sample.object.clone()).collect();
    let endpoint = match &plan.settings.endpoint {
        Some(stand) => Some(&*stand.0),
        // That it can be opened is known before a run begins.
        None => plan.endpoint.endpoint(plan.subject).ok().flatten(),
    };
    let exchanges = endpoint.map(|endpoint| wire::probe(endpoint, crd, &objects)).unwrap_or_default();
    if plan.settings.record {
        emit(Event::Asked { crd, exchanges: exchanges.clone() });
    }
    exchanges
}
