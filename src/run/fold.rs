//! Events into a report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::complete::{self, scenarios_check};
use super::engine::{Case, cases, run};
use super::group::{Cause, Causes, group};
use super::redact::{Redactor, redact_finding, redacted};
use super::{Event, FailedCleanUp, Observations, Options, Plan, Recorded, reproduce, waive};
use crate::checks::{Failure, Need, Verdict};
use crate::evidence::{Counterexample, Exchange, Trace};
use crate::report::{
    CheckInfo, CrdInfo, FailOn, Finding, Locator, Outcome, Problem, Redaction, Related, Report, Result, ScenarioInfo,
    Skipped, StepInfo, Summary, VersionInfo,
};
use crate::subject::{API_VERSION, Crd, Subject};

/// The outcome of a run.
#[derive(Debug)]
pub struct Ran {
    /// The report.
    pub report: Report,
    /// The objects that broke something, unmasked.
    pub cases: Vec<Counterexample>,
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
    let (cases, skipped) = cases(plan, observations);
    run(plan, observations, &cases, options, &|event| {
        observer(&event);
        // There is one for each batch, and the report does not need them.
        if matches!(event, Event::Tried { .. }) {
            return;
        }
        events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    });
    let events = events.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut ran = fold(plan, observations, skipped, events, options.today);
    for FailedCleanUp { message, help } in observations.failed_clean_ups.iter().cloned() {
        ran.report.problems.push(Problem { message, help: Some(help) });
    }
    if options.stop.is_requested() {
        let message = "the run was interrupted; this report is incomplete".to_owned();
        ran.report.problems.push(Problem { message, help: Some("run it again for a complete verdict".into()) });
    }
    ran
}

/// Folds the events of a run into its report. The order of the events does not matter.
fn fold<'a>(
    plan: &Plan<'a>,
    observations: &Observations,
    skipped: Vec<Skipped>,
    events: Vec<Event<'a>>,
    today: jiff::civil::Date,
) -> Ran {
    let subject = plan.subject;
    let mut results: Vec<(usize, Result)> = Vec::new();
    let mut findings = Vec::new();
    let mut causes = Causes::default();
    let mut counterexamples: Vec<Counterexample> = Vec::new();
    let (mut problems, mut conversions) = (Vec::new(), Vec::new());
    let (mut conversion_runs, mut exchanges) = (BTreeMap::new(), BTreeMap::new());
    let (hidden, locator) = (Redactor::new(plan), Locator::new(&subject.sources));
    let skipped = plan.skipped.iter().cloned().chain(skipped).collect();
    for event in events {
        let (index, case, verdict, shown) = match event {
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
            Event::Asked { crd, exchanges: all } => {
                exchanges.insert(crd.name.clone(), all);
                continue;
            }
            Event::Judged { index, case, verdict, shown } => (index, case, verdict, shown),
        };
        let result = |outcome, examined, findings, reason: Option<String>| Result {
            check: case.check.id.to_owned(),
            crd: case.crd.name.clone(),
            kubernetes: case.server.map(|server| server.to_string()),
            outcome,
            examined,
            findings,
            reason: reason.map(|reason| redacted(&reason, &hidden.of(&case.crd.name, None))),
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
                        let why = Cause::of(&failure);
                        // Recorded conversions are about samples, which are available.
                        let kept = !case.check.needs.contains(&Need::Recorded);
                        let conversion_run =
                            failure.conversion_run.and_then(|conversion_run| shown.get(conversion_run));
                        let found = finding(&locator, case, failure, &hidden.of(&case.crd.name, conversion_run));
                        let saved = |conversion_run| {
                            Counterexample::new(&found.fingerprint, &found.check, &found.message, conversion_run)
                        };
                        counterexamples.extend(conversion_run.filter(|_| kept).map(saved));
                        causes.add(&found, why);
                        findings.push(found);
                    }
                    result(Outcome::Failed, 0, count, None)
                }
            },
        ));
    }
    results.sort_by_key(|(index, _)| *index);
    conversions.sort_by(|left, right| left.crd.cmp(&right.crd));
    problems.sort_by(|left, right| left.message.cmp(&right.message));
    findings.sort_by_cached_key(Finding::order);
    findings.dedup_by(|left, right| left.fingerprint == right.fingerprint);
    let mut report = Report {
        api_version: API_VERSION.into(),
        kind: "Report".into(),
        tool_version: env!("CARGO_PKG_VERSION").into(),
        subject: subject.name.clone(),
        seed: plan.settings.seed,
        crds: subject.crds.iter().map(|crd| crd_info(subject, crd)).collect(),
        passed_over: subject.passed_over.clone(),
        checks: plan.checks.iter().map(|(check, severity)| CheckInfo::new(check, *severity)).collect(),
        results: results.into_iter().map(|(_, result)| result).collect(),
        findings,
        skipped,
        waivers: Vec::new(),
        problems,
        conversions,
        scenarios: observations.traces.iter().map(|trace| scenario_info(trace, &hidden)).collect(),
        fail_on: FailOn::default(),
        summary: Summary::default(),
    };
    add_stopped_scenarios(&mut report, &observations.traces, &hidden);
    waive::apply(subject, &mut report, &causes, today);
    let counterexamples = group_by_cause(&mut report, &causes, counterexamples);
    reproduce::add(plan, &mut report);
    report.findings.sort_by_cached_key(Finding::order);
    report.summarise();
    Ran { report, cases: counterexamples, conversion_runs, exchanges }
}

fn stopped_answering(crd: &str, why: &str, hidden: &Redactor<'_>) -> Problem {
    Problem {
        message: redacted(&format!("the converter of {crd} stopped responding: {why}"), &hidden.of(crd, None)),
        help: Some("look at its log; `crdproof replay` tries a saved counterexample again".into()),
    }
}

/// Adds a finding for every scenario that ended early.
fn add_stopped_scenarios(report: &mut Report, traces: &[Trace], hidden: &Redactor<'_>) {
    let mut stopped = complete::findings(traces);
    if !stopped.is_empty() {
        report.checks.push(scenarios_check());
    }
    for finding in &mut stopped {
        redact_finding(finding, &hidden.of(&finding.crd, None));
    }
    report.findings.extend(stopped);
}

/// Groups the findings of a report, and returns one counterexample for each finding. If a manifest shows the cause, an
/// object shows a consequence.
fn group_by_cause(report: &mut Report, causes: &Causes, mut shown: Vec<Counterexample>) -> Vec<Counterexample> {
    let (grouped, renamed) = group(std::mem::take(&mut report.findings), causes);
    report.findings = grouped;
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

fn finding(locator: &Locator<'_>, case: Case<'_>, failure: Failure, hide: &Redaction) -> Finding {
    let check = case.check;
    let mut finding = Finding {
        check: check.id.to_owned(),
        severity: failure.severity.map_or(case.severity, |own| own.min(case.severity)),
        fingerprint: fingerprint(&[
            check.id,
            &case.crd.name,
            failure.version.as_deref().unwrap_or_default(),
            failure.path.as_deref().unwrap_or_default(),
            &failure.key,
        ]),
        crd: case.crd.name.clone(),
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
