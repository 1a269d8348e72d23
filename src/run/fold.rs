//! Events into a report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::complete;
use super::engine::{PlannedCheck, planned_checks, run};
use super::finish::{Ungrouped, finish};
use super::redact::{Redactor, redact_finding, redacted};
use super::shard::Unit;
use super::{Event, FailedCleanUp, Observations, Options, Plan, Recorded, reproduce, waive};
use crate::checks::{Failure, Need, Verdict};
use crate::evidence::{Counterexample, Exchange, Trace};
use crate::report::{
    CheckInfo, CrdInfo, FailOn, Finding, Locator, Outcome, Problem, Redaction, Related, Report, Result, ScenarioInfo,
    Skipped, StepInfo, Summary, UngroupedFinding, VersionInfo,
};
use crate::subject::{API_VERSION, Crd, Subject};

/// The outcome of a run.
#[derive(Debug)]
pub struct Ran {
    /// The report.
    pub report: Report,
    /// The objects that broke something, unmasked.
    pub counterexamples: Vec<Counterexample>,
    /// Every conversion by CRD, where the settings ask to record; unmasked.
    pub conversion_runs: BTreeMap<String, Recorded>,
    /// Every request to an endpoint by CRD, where the settings ask to record; unmasked.
    pub exchanges: BTreeMap<String, Vec<Exchange>>,
}

/// Judges a plan by the observations, and calls the subject's converter if there are none and the observations are not
/// complete. The same function ends every run and judges every recording.
pub fn judge(plan: &Plan<'_>, observations: &Observations, options: &Options) -> Ran {
    judge_observed(plan, observations, options, &|_| ())
}

pub(super) fn judge_observed<'a>(
    plan: &Plan<'a>,
    observations: &Observations,
    options: &Options,
    observer: &(dyn Fn(&Event<'_>) + Sync),
) -> Ran {
    let events: Mutex<Vec<Event<'a>>> = Mutex::default();
    let (planned_checks, skipped) = planned_checks(plan, observations);
    run(plan, observations, &planned_checks, options, &|event| {
        observer(&event);
        // There is one for each batch, and the report does not need them.
        if matches!(event, Event::Tried { .. }) {
            return;
        }
        events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    });
    let events = events.into_inner().unwrap_or_else(PoisonError::into_inner);
    let interrupted = options.stop.is_requested();
    fold(plan, observations, skipped, events, options.today, interrupted)
}

/// Folds the events of a run into its report. The order of the events does not matter.
fn fold<'a>(
    plan: &Plan<'a>,
    observations: &Observations,
    skipped: Vec<Skipped>,
    events: Vec<Event<'a>>,
    today: jiff::civil::Date,
    interrupted: bool,
) -> Ran {
    let subject = plan.subject;
    let mut results: Vec<(usize, Result)> = Vec::new();
    let mut findings: Vec<UngroupedFinding> = Vec::new();
    let mut timings = observations.timings.clone();
    let mut counterexamples: Vec<Counterexample> = Vec::new();
    let (mut problems, mut conversions) = (Vec::new(), Vec::new());
    let (mut conversion_runs, mut exchanges) = (BTreeMap::new(), BTreeMap::new());
    let (hidden, locator) = (Redactor::new(plan), Locator::new(&subject.sources));
    let skipped = plan.skipped.iter().cloned().chain(skipped).collect();
    for event in events {
        let (index, planned, verdict, shown) = match event {
            Event::Installing(_)
            | Event::Installed
            | Event::Servers { .. }
            | Event::ServerSkipped { .. }
            | Event::ServerStarted { .. }
            | Event::Step { .. }
            | Event::Tried { .. }
            | Event::ScenariosFinished { .. }
            | Event::Started { .. } => continue,
            Event::Searched { conversions: done, stopped, recorded } => {
                problems.extend(stopped.map(|why| stopped_answering(&done.crd, &why, &hidden)));
                conversion_runs.extend(recorded.map(|recorded| (done.crd.clone(), *recorded)));
                conversions.push(done);
                continue;
            }
            Event::Worked { crd, work, elapsed } => {
                timings.add(Unit::new(crd, work).to_string(), elapsed);
                continue;
            }
            Event::Asked { crd, exchanges: all } => {
                exchanges.insert(crd.name.clone(), all);
                continue;
            }
            Event::Judged { index, planned, verdict, shown } => (index, planned, verdict, shown),
        };
        let result = |outcome, examined, findings, reason: Option<String>| Result {
            check: planned.check.id.to_owned(),
            crd: planned.crd.name.clone(),
            kubernetes: planned.server.map(|server| server.to_string()),
            outcome,
            examined,
            findings,
            reason: reason.map(|reason| redacted(&reason, &hidden.of(&planned.crd.name, None))),
        };
        results.push((
            index,
            match verdict {
                Verdict::Passed { examined } => result(Outcome::Passed, examined, 0, None),
                Verdict::KnownServerIssue(reason) => result(Outcome::KnownServerIssue, 0, 0, Some(reason)),
                Verdict::Inconclusive(reason) => result(Outcome::Inconclusive, 0, 0, Some(reason)),
                Verdict::Failed(failures) => {
                    let count = failures.len();
                    for failure in failures {
                        let (together, complaint) = (failure.together.clone(), failure.complaint.clone());
                        // Recorded conversions are about samples, which are available.
                        let kept = !planned.check.needs.contains(&Need::Recorded);
                        let conversion_run =
                            failure.conversion_run.and_then(|conversion_run| shown.get(conversion_run));
                        let found = finding(&locator, planned, failure, &hidden.of(&planned.crd.name, conversion_run));
                        let saved = |conversion_run| {
                            Counterexample::new(&found.fingerprint, &found.check, &found.message, conversion_run)
                        };
                        counterexamples.extend(conversion_run.filter(|_| kept).map(saved));
                        findings.push(UngroupedFinding { finding: found, together, complaint });
                    }
                    result(Outcome::Failed, 0, count, None)
                }
            },
        ));
    }
    results.sort_by_key(|(index, _)| *index);
    problems.extend(incomplete(observations, interrupted));
    findings.extend(stopped_scenarios(&observations.traces, &hidden));
    reproduce::add(plan, &mut findings);
    let results = results.into_iter().map(|(_, result)| result).collect();
    let scenarios = observations.traces.iter().map(|trace| scenario_info(trace, &hidden)).collect();
    let mut report = Report { results, skipped, problems, conversions, scenarios, ..empty(plan) };
    let (waivers, accepted) = waive::apply(subject, &mut findings, &report.results, today);
    let found = Ungrouped { findings, waivers, accepted };
    if let Some(share) = &plan.share {
        report.timings = timings.list();
        report.shard = Some(share.info(plan, &found, interrupted));
    }
    let renamed = finish(&mut report, found, plan.share.is_some());
    let counterexamples = choose(&report, &renamed, counterexamples);
    Ran { report, counterexamples, conversion_runs, exchanges }
}

/// Returns the report of a plan before anything is known.
fn empty(plan: &Plan<'_>) -> Report {
    let subject = plan.subject;
    Report {
        api_version: API_VERSION.into(),
        kind: "Report".into(),
        tool_version: env!("CARGO_PKG_VERSION").into(),
        subject: subject.name.clone(),
        seed: plan.settings.seed,
        crds: subject.crds.iter().map(|crd| crd_info(subject, crd)).collect(),
        passed_over: subject.passed_over.clone(),
        checks: plan.checks.iter().map(|(check, severity)| CheckInfo::new(check, *severity)).collect(),
        results: Vec::new(),
        findings: Vec::new(),
        skipped: Vec::new(),
        waivers: Vec::new(),
        problems: Vec::new(),
        conversions: Vec::new(),
        scenarios: Vec::new(),
        fail_on: FailOn::default(),
        timings: Vec::new(),
        shard: None,
        summary: Summary::default(),
    }
}

/// Describes what an interruption or a failed clean-up left undone.
fn incomplete(observations: &Observations, interrupted: bool) -> Vec<Problem> {
    let left = observations.failed_clean_ups.iter().cloned();
    let left = left.map(|FailedCleanUp { message, help }| Problem { message, help: Some(help) });
    let message = "the run was interrupted; this report is incomplete".to_owned();
    let problem = Problem { message, help: Some("run it again for a complete verdict".into()) };
    left.chain(interrupted.then_some(problem)).collect()
}

fn stopped_answering(crd: &str, why: &str, hidden: &Redactor<'_>) -> Problem {
    Problem {
        message: redacted(&format!("the converter of {crd} stopped responding: {why}"), &hidden.of(crd, None)),
        help: Some("look at its log; `crdproof replay` tries a saved counterexample again".into()),
    }
}

/// Returns a finding for every scenario that ended early.
fn stopped_scenarios(traces: &[Trace], hidden: &Redactor<'_>) -> Vec<UngroupedFinding> {
    let mut stopped = complete::findings(traces);
    for finding in &mut stopped {
        redact_finding(finding, &hidden.of(&finding.crd, None));
    }
    stopped.into_iter().map(|finding| UngroupedFinding { finding, together: None, complaint: None }).collect()
}

/// Returns one counterexample for each finding. If a manifest shows the cause, an object shows a consequence.
fn choose(report: &Report, renamed: &BTreeMap<String, String>, mut shown: Vec<Counterexample>) -> Vec<Counterexample> {
    for one in &mut shown {
        one.fingerprint = renamed.get(&one.fingerprint).unwrap_or(&one.fingerprint).clone();
    }
    let all: Vec<String> = shown.iter().map(|one| one.fingerprint.clone()).collect();
    let chosen: BTreeSet<&str> = report.findings.iter().filter_map(|finding| finding.shown_by(&all)).collect();
    shown.retain(|one| chosen.contains(one.fingerprint.as_str()));
    shown.sort_by(|left, right| left.fingerprint.cmp(&right.fingerprint));
    shown.dedup_by(|left, right| left.fingerprint == right.fingerprint);
    shown
}

fn finding(locator: &Locator<'_>, planned: PlannedCheck<'_>, failure: Failure, hide: &Redaction) -> Finding {
    let check = planned.check;
    let mut finding = Finding {
        check: check.id.to_owned(),
        severity: failure.severity.map_or(planned.severity, |own| own.min(planned.severity)),
        fingerprint: fingerprint(&[
            check.id,
            &planned.crd.name,
            failure.version.as_deref().unwrap_or_default(),
            failure.path.as_deref().unwrap_or_default(),
            &failure.key,
        ]),
        crd: planned.crd.name.clone(),
        version: failure.version,
        path: failure.path,
        message: failure.message,
        evidence: failure.evidence,
        help: failure.help.unwrap_or_else(|| check.help.to_owned()),
        location: failure.span.map(|span| locator.locate(span, hide)),
        related: failure
            .related
            .into_iter()
            .map(|(span, message)| Related { message, location: locator.locate(span, hide) })
            .collect(),
        fields: Vec::new(),
        change: failure.change,
        consequences: Vec::new(),
        reproduce: None,
        waiver: None,
    };
    redact_finding(&mut finding, hide);
    finding
}

/// Twelve hexadecimal digits that identify a finding, whatever else changes.
pub(super) fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn scenario_info(trace: &Trace, hidden: &Redactor<'_>) -> ScenarioInfo {
    let (crd, kubernetes) = (trace.crd.clone(), trace.kubernetes.to_string());
    let hide = hidden.of(&crd, None);
    let mut steps = StepInfo::all(trace);
    for note in steps.iter_mut().flat_map(|step| &mut step.notes) {
        *note = redacted(note, &hide);
    }
    ScenarioInfo { crd, kubernetes, requests: trace.requests, steps }
}

fn crd_info(subject: &Subject, crd: &Crd) -> CrdInfo {
    CrdInfo {
        name: crd.name.clone(),
        file: subject.sources.place(crd.node.span).file,
        object_kind: crd.names.kind.clone(),
        strategy: crd.conversion.strategy.clone(),
        versions: crd
            .versions
            .iter()
            .map(|version| VersionInfo {
                name: version.name.clone(),
                served: version.served,
                storage: version.storage,
                deprecated: version.deprecated,
            })
            .collect(),
    }
}
