//! Judging a change: findings that the old state does not have.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observations, Options, Plan, Selection, ServerMatrix, Settings, judge};
use crate::checks::{self, Need};
use crate::report::{Outcome, Report, Skipped, WaiverState};
use crate::subject::{ACCEPTED_FILE, Accepted, Subject};

/// The verdict on a change.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The report, without findings of the old state.
    pub report: Report,
    /// The number of findings of the old state.
    pub known: usize,
}

/// Judges the plan of a subject that has an old state. Leaves out findings that the old state, judged alone, has too: a
/// change is responsible only for new ones.
pub fn compare(plan: &Plan<'_>, settings: &Settings, options: &Options) -> Comparison {
    let mut report = judge(plan, &Observations::default(), options).report;
    leave_out_unrelated(&mut report);
    let suspects = found_without_baseline(&report);
    if suspects.is_empty() {
        return Comparison { report, known: 0 };
    }
    let old = old_alone(plan.subject, &suspects);
    let settings = &Settings { selection: found(&settings.selection, &report), ..settings.clone() };
    let before =
        judge(&super::plan(&old, settings, &ServerMatrix::default()), &Observations::default(), options).report;
    let known: BTreeSet<_> = before.findings.into_iter().map(|finding| finding.fingerprint).collect();
    let known = leave_out(&mut report, &known);
    Comparison { report, known }
}

/// Leaves out results that are unrelated to the change: inconclusive ones about a single state or a removed CRD,
/// skipped ones, and complaints about waivers and accepted findings that this change does not need.
fn leave_out_unrelated(report: &mut Report) {
    report.results.retain(|result| result.outcome != Outcome::Inconclusive);
    report.skipped.clear();
    let complaints: BTreeSet<_> = report
        .waivers
        .iter()
        .filter(|waiver| waiver.state == WaiverState::Unused || waiver.names == ACCEPTED_FILE)
        .filter_map(|waiver| waiver.complaint.clone())
        .collect();
    report.findings.retain(|finding| !complaints.contains(&finding.fingerprint));
    report.summarise();
}

/// The checks of a selection that have findings; only these are judged on the old state.
fn found(selection: &Selection, report: &Report) -> Selection {
    let only: BTreeSet<String> = report.findings.iter().map(|finding| finding.check.clone()).collect();
    Selection { only: only.into_iter().collect(), ..selection.clone() }
}

/// CRDs with findings of checks that do not read the old state.
fn found_without_baseline(report: &Report) -> BTreeSet<String> {
    let alone = |id: &str| checks::find(id).is_some_and(|check| !check.needs.contains(&Need::Baseline));
    let findings = report.findings.iter();
    findings.filter(|finding| alone(&finding.check)).map(|finding| finding.crd.clone()).collect()
}

/// The old state of some CRDs as a separate subject.
fn old_alone(subject: &Subject, names: &BTreeSet<String>) -> Subject {
    let old = subject.baseline.iter().flatten();
    Subject {
        name: subject.name.clone(),
        arguments: subject.arguments.clone(),
        sources: subject.sources.clone(),
        crds: old.filter(|crd| names.contains(&crd.name)).cloned().collect(),
        baseline: None,
        samples: subject.samples.clone(),
        recorded: Vec::new(),
        prerequisites: Vec::new(),
        accepted: Accepted::default(),
        passed_over: BTreeMap::new(),
        file: subject.file.clone(),
        document: subject.document.clone(),
    }
}

/// Removes known findings from a report and returns their number. A check result without other findings does not pass:
/// it counts as skipped.
fn leave_out(report: &mut Report, known: &BTreeSet<String>) -> usize {
    let count = report.findings.len();
    let mut touched = BTreeMap::new();
    report.findings.retain(|finding| {
        let keep = !known.contains(&finding.fingerprint);
        let judged = (finding.check.clone(), finding.crd.clone());
        let (left, dropped): &mut (usize, usize) = touched.entry(judged).or_default();
        *(if keep { left } else { dropped }) += 1;
        keep
    });
    let skipped = &mut report.skipped;
    report.results.retain_mut(|result| {
        let judged = (result.check.clone(), result.crd.clone());
        let Some((left, dropped)) = touched.get(&judged).filter(|(_, dropped)| *dropped > 0) else {
            return true;
        };
        result.findings = *left;
        if *left == 0 {
            let (check, crd) = judged;
            let reason = format!("findings that the old state has, too: {dropped}");
            skipped.push(Skipped { check, crd, kubernetes: None, reason });
        }
        *left > 0
    });
    report.skipped.sort();
    report.summarise();
    count - report.findings.len()
}
