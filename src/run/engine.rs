//! Runs a plan: acts if needed, judges in parallel, and emits events.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use jiff::civil::Date;
use serde_json::Value;

use super::gate::Gate;
use super::once::{Once, Searched, compare_versions};
use super::plan::{NO_IN_TREE, skip};
use super::shard::Work;
use super::{Absent, Event, Observations, Plan};
use crate::act::conversions::{Found, Saved, Search, generated, judge_recorded};
use crate::act::{Stop, wire};
use crate::checks::{Change, Check, Evidence, Need, Severity, Verdict};
use crate::converter::endpoint::Request;
use crate::converter::{self, Converter, Declared, SubjectEndpoints};
use crate::evidence::{ConversionRun, Exchange, Outcome};
use crate::report::Skipped;
use crate::subject::Crd;
use crdproof_schema::kubernetes::KubeVersion;

/// The number of objects of each version for the wire checks, which depend little on the object.
const WIRE_OBJECTS: usize = 4;

/// Shares of wire checks and of conversions in the time for a CRD.
const WIRE_SHARE: u32 = 1;
const SEARCH_SHARE: u32 = 3;

/// The reason for inputs that were not tried.
pub(super) const INTERRUPTED: &str = "the run was interrupted before that";

/// One check on one CRD, with the trace that it reads, if any.
#[derive(Debug, Clone, Copy)]
pub struct PlannedCheck<'a> {
    /// The check.
    pub check: &'static Check,
    /// The severity in force.
    pub severity: Severity,
    /// The CRD; from the baseline if the CRD was removed.
    pub crd: &'a Crd,
    /// The API server whose scenarios are judged, if any.
    pub server: Option<KubeVersion>,
}

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads that judge.
    pub jobs: NonZeroUsize,
    /// The date, for expiries.
    pub today: Date,
    /// The endpoints of the subject's converters, opened on first use.
    pub endpoint: SubjectEndpoints,
    /// Ends acting early; the observations so far are judged.
    pub stop: Stop,
}

impl Options {
    /// Judges as of this date, with the default number of threads.
    pub fn on(today: Date) -> Self {
        Self { jobs: Self::jobs(), today, endpoint: SubjectEndpoints::default(), stop: Stop::default() }
    }

    /// Judges as of today in UTC, with the default number of threads. Reading the system's time zones would take longer
    /// than most comparisons.
    pub fn today() -> Self {
        Self::on(jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date())
    }

    /// Returns two threads for each core: while one waits for the converter, another can judge.
    pub fn jobs() -> NonZeroUsize {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        cores.saturating_mul(NonZeroUsize::MIN.saturating_add(1))
    }
}

/// The checks of a plan with the traces that they read, and skipped checks without a trace.
pub(super) fn planned_checks<'a>(
    plan: &Plan<'a>,
    observations: &Observations,
) -> (Vec<PlannedCheck<'a>>, Vec<Skipped>) {
    let (mut planned_checks, mut skipped): (Vec<PlannedCheck<'a>>, Vec<Skipped>) = (Vec::new(), Vec::new());
    for planned in &plan.planned {
        let (check, severity, crd) = (planned.check, planned.severity, planned.crd);
        let Some(scenario) = check.scenario() else {
            planned_checks.push(PlannedCheck { check, severity, crd, server: None });
            continue;
        };
        // By trace and not by name: several names may stand for one release.
        let traces = || observations.traces.iter().filter(|trace| trace.crd == crd.name && trace.ran(scenario));
        for trace in traces() {
            if check.needs.contains(&Need::InTreeMigration) && !trace.has_in_tree_migration() {
                let kubernetes = Some(trace.kubernetes.to_string());
                skipped.push(Skipped { kubernetes, ..skip(check, &crd.name, NO_IN_TREE) });
            } else {
                planned_checks.push(PlannedCheck { check, severity, crd, server: Some(trace.kubernetes) });
            }
        }
        let servers: Vec<&str> = plan.servers_of(&crd.name, scenario).collect();
        // A recording is judged as a whole, whatever its servers were called.
        let is_own = |absent: &&Absent| plan.share.is_none() || servers.contains(&absent.kubernetes.as_str());
        let absent = observations.absent.iter().filter(is_own);
        if observations.is_interrupted && traces().count() + absent.clone().count() < servers.len() {
            skipped.push(skip(check, &crd.name, INTERRUPTED));
        }
        skipped.extend(absent.map(|absent| Skipped {
            kubernetes: Some(absent.kubernetes.clone()),
            ..skip(check, &crd.name, &absent.reason)
        }));
    }
    (planned_checks, skipped)
}

/// Returns true if the plan sends requests to a webhook.
fn needs_webhook(plan: &Plan<'_>) -> bool {
    reads_answers(plan, |declared| matches!(declared, Declared::Webhook(_)))
}

/// Returns true if the plan needs the programs of the subject's converter.
pub(super) fn needs_programs(plan: &Plan<'_>) -> bool {
    scenarios_need_converter(plan) || reads_answers(plan, |way| matches!(way, Declared::Webhook(_) | Declared::Exec(_)))
}

/// Returns true if a planned check reads the responses of such a converter.
fn reads_answers(plan: &Plan<'_>, is_meant: impl Fn(&Declared<'_>) -> bool) -> bool {
    plan.planned.iter().any(|planned| {
        converter::declared(plan.subject, planned.crd).is_ok_and(|declared| is_meant(&declared))
            && planned.check.reads_answers()
    })
}

/// Returns true if the plan needs the subject's converter, for our own requests or for scenarios.
pub fn needs_converter(plan: &Plan<'_>) -> bool {
    needs_webhook(plan) || scenarios_need_converter(plan)
}

/// Returns true if scenarios call the converter of the subject, and not the one of an existing cluster.
fn scenarios_need_converter(plan: &Plan<'_>) -> bool {
    !plan.scenarios.is_empty() && !plan.matrix.deployed
}

/// Checks that the subject's converter can be reached, if the plan needs it. `Err` says why not; then nothing is
/// judged, because everything would fail for that one reason.
pub fn reach(plan: &Plan<'_>, endpoint: &SubjectEndpoints) -> Result<(), String> {
    if plan.settings.endpoint.is_some() || !needs_webhook(plan) {
        return Ok(());
    }
    let endpoint = endpoint.endpoint(plan.subject)?;
    let hello = Request::get();
    match endpoint.map(|endpoint| endpoint.send(&hello).0) {
        Some(Outcome::Failed(why)) => Err(why),
        Some(Outcome::Answered { .. } | Outcome::Met(_)) | None => Ok(()),
    }
}

/// Emits an event.
type Emit<'e, 'a> = &'e (dyn Fn(Event<'a>) + Sync);

/// The data that all checks of a run share.
struct Engine<'r, 'a> {
    plan: &'r Plan<'a>,
    observations: &'r Observations,
    options: &'r Options,
    planned_checks: &'r [PlannedCheck<'a>],
    once: Once,
    searches: Gate,
    emit: Emit<'r, 'a>,
}

/// Judges planned checks by the observations, and calls the converter if there are none. Calls `emit` from several
/// threads, once for each event.
pub(super) fn run<'a>(
    plan: &Plan<'a>,
    observations: &Observations,
    planned_checks: &[PlannedCheck<'a>],
    options: &Options,
    emit: Emit<'_, 'a>,
) {
    emit(Event::Started { checks: planned_checks.len() });
    // Each search uses all threads, so more concurrent searches than cores would only need more memory.
    let searches = Gate::new(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    let engine = Engine { plan, observations, options, planned_checks, once: Once::default(), searches, emit };
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((index, planned)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            planned_checks.get(index).map(|planned| (index, *planned))
        } {
            let (verdict, shown) = super::panic::caught(|| engine.judge(planned));
            emit(Event::Judged { index, planned, verdict, shown });
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.get().min(planned_checks.len()) {
            scope.spawn(work);
        }
        work();
    });
}

impl<'a> Engine<'_, 'a> {
    fn judge(&self, planned: PlannedCheck<'a>) -> (Verdict, Arc<Vec<ConversionRun>>) {
        let (subject, settings) = (self.plan.subject, self.plan.settings);
        let name = planned.crd.name.as_str();
        let change = match (&subject.baseline, subject.crd(name), subject.baseline_of(name)) {
            (None, ..) => Change::Unknown,
            (Some(_), Some(_), None) => Change::Added,
            (Some(_), Some(_), Some(old)) => Change::Kept(old),
            (Some(_), None, _) => Change::Removed,
        };
        let needs = |need| planned.check.needs.contains(&need);
        let recorded = self.observations.exchanges.get(name);
        let exchanges = if needs(Need::Exchanges) && recorded.is_none() {
            self.once.exchanges.of(name, || self.timed(planned.crd, Work::Webhook, || self.exchange(planned.crd)))
        } else {
            Arc::default()
        };
        let deltas = match change {
            Change::Kept(old) if needs(Need::Baseline) => {
                self.once.deltas.of(name, || compare_versions(old, planned.crd))
            }
            _ => Arc::default(),
        };
        let mut traces = self.observations.traces.iter();
        let evidence = Evidence {
            subject,
            crd: planned.crd,
            change,
            deltas: &deltas,
            conversion_runs: &[],
            exchanges: recorded.unwrap_or(&exchanges),
            trace: traces.find(|trace| trace.crd == name && Some(trace.kubernetes) == planned.server),
            today: self.options.today,
            secrets: &self.once.secrets.of(name, || planned.crd.secrets()),
            show_secrets: settings.show_secrets,
            tools: None,
        };
        let work = Work::of(planned.check);
        if work != Work::Conversions {
            let judge = || (planned.check.judge)(&evidence);
            let verdict = if work == Work::Manifests { self.timed(planned.crd, work, judge) } else { judge() };
            return (expected_of(planned, verdict), Arc::default());
        }
        let searched = self.once.searches.of(name, || {
            let Some(recorded) = self.observations.conversions.get(name) else {
                let _turn = self.searches.enter();
                return self.timed(planned.crd, work, || self.search(planned.crd, &evidence));
            };
            let (verdicts, shown) = judge_recorded(&self.conversion_checks(planned.crd), &evidence, recorded);
            if let Some(conversions) = recorded.conversions.clone() {
                let stopped = recorded.stopped.clone();
                (self.emit)(Event::Searched { conversions, stopped, recorded: None });
            }
            Ok((verdicts, Arc::new(shown)))
        });
        match &*searched {
            Ok((verdicts, shown)) => {
                let verdict = verdicts.get(planned.check.id).cloned();
                (verdict.unwrap_or_else(|| (planned.check.judge)(&evidence)), Arc::clone(shown))
            }
            Err(why) => (Verdict::Inconclusive(why.clone()), Arc::default()),
        }
    }

    /// Does work on a CRD, and emits how long it took.
    fn timed<T>(&self, crd: &'a Crd, work: Work, act: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = act();
        (self.emit)(Event::Worked { crd: &crd.name, work, elapsed: started.elapsed() });
        done
    }

    /// Tries objects of a CRD on its converter, for all checks that read conversions.
    fn search(&self, crd: &'a Crd, evidence: &Evidence<'_>) -> Result<Searched, String> {
        let (subject, settings) = (self.plan.subject, self.plan.settings);
        if self.options.stop.is_requested() {
            return Err(INTERRUPTED.to_owned());
        }
        let converter = match &settings.endpoint {
            Some(stand) => Converter::with_endpoint(crd, &*stand.0),
            None => Converter::of(subject, crd, self.options.endpoint.endpoint(subject)?)?,
        };
        let earlier = match &settings.baseline {
            Some(stand) => Some(&*stand.0),
            None => self.options.endpoint.baseline(subject)?,
        };
        let baseline = earlier.map(|endpoint| Converter::with_endpoint(crd, endpoint));
        let kept = settings.counterexamples.iter().filter(|kept| kept.crd == crd.name);
        let saved = kept.map(|kept| Saved {
            name: kept.file_name(),
            version: kept.version.clone(),
            fit: kept.fit.clone(),
            object: kept.object.clone(),
        });
        let search = Search {
            subject,
            crd,
            converter: &converter,
            baseline: baseline.as_ref(),
            checks: self.conversion_checks(crd),
            saved: saved.collect(),
            samples: !settings.only_counterexamples,
            objects: settings.generated(),
            seed: settings.seed,
            deadline: self.deadline(crd, SEARCH_SHARE),
            stop: &self.options.stop,
            progress: &|objects, of| (self.emit)(Event::Tried { crd: &crd.name, objects, of }),
            jobs: self.options.jobs,
        };
        let Found { verdicts, shown, conversions, stopped, recorded } = search.run(evidence, settings.record);
        (self.emit)(Event::Searched { conversions, stopped, recorded: recorded.map(Box::new) });
        Ok((verdicts, Arc::new(shown)))
    }

    /// Returns when work on a CRD that begins now must end: after its share of the time, or all of it where nothing else
    /// is done.
    fn deadline(&self, crd: &Crd, share: u32) -> Instant {
        let checks =
            || self.planned_checks.iter().filter(|planned| planned.crd.name == crd.name).map(|planned| planned.check);
        let needs = |wanted: &[Need]| checks().any(|check| check.needs.iter().any(|need| wanted.contains(need)));
        let time = self.plan.settings.time();
        let is_shared = needs(&[Need::Exchanges]) && needs(&[Need::ConversionRuns, Need::Survey]);
        Instant::now() + if is_shared { time * share / (WIRE_SHARE + SEARCH_SHARE) } else { time }
    }

    /// The planned checks of a CRD that read conversions.
    fn conversion_checks(&self, crd: &Crd) -> Vec<&'static Check> {
        let planned =
            self.planned_checks.iter().filter(|planned| planned.crd.name == crd.name).map(|planned| planned.check);
        planned.filter(|check| check.reads_conversions()).collect()
    }

    /// All exchanges that the wire checks read, with the CRD's samples and a few generated objects.
    fn exchange(&self, crd: &'a Crd) -> Vec<Exchange> {
        let subject = self.plan.subject;
        let samples = subject.samples_of(crd).map(|sample| sample.object.clone());
        let settings = &self.plan.settings;
        let generated = generated(crd, settings.seed, settings.generated().min(WIRE_OBJECTS));
        let objects: Vec<Value> = samples.chain(generated).collect();
        let endpoint = match &self.plan.settings.endpoint {
            _ if self.options.stop.is_requested() => None,
            Some(stand) => Some(&*stand.0),
            // The endpoint was opened before the run started.
            None => self.options.endpoint.endpoint(subject).ok().flatten(),
        };
        let end = self.deadline(crd, WIRE_SHARE);
        let is_over = || self.options.stop.is_requested() || Instant::now() >= end;
        let exchanges = endpoint.map(|endpoint| wire::probe(endpoint, crd, &objects, &is_over)).unwrap_or_default();
        if self.plan.settings.record {
            (self.emit)(Event::Asked { crd, exchanges: exchanges.clone() });
        }
        exchanges
    }
}

/// Excuses a server that is older than a guarantee, and the subject with it.
fn expected_of(planned: PlannedCheck<'_>, verdict: Verdict) -> Verdict {
    match (verdict, planned.check.since, planned.server) {
        (Verdict::Failed(failures), Some(since), Some(server)) if !server.at_least(since) => {
            let first = failures.first().map(|failure| failure.message.as_str()).unwrap_or_default();
            Verdict::KnownServerIssue(format!("{first}; this can be expected from Kubernetes 1.{since} on"))
        }
        (verdict, ..) => verdict,
    }
}
