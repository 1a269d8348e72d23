//! Waivers: marks accepted findings, and reports expired and unused waivers.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::fold::fingerprint;
use super::group::Causes;
use crate::checks::Severity;
use crate::report::{self, CheckInfo, Finding, Locator, Outcome, Redaction, Report, WaiverInfo, WaiverState};
use crate::subject::{ACCEPTED_FILE, AcceptedFinding, PathGlob, Subject, Waiver};
use crdproof_schema::text::glob;

/// The id under which unused and expired waivers are reported.
const CHECK: &str = "subject/waivers-current";

/// Returns the entry of waivers in the report. It is not a check of the registry: it reads the findings of the others,
/// so it cannot be planned or selected.
pub fn waiver_check() -> CheckInfo {
    CheckInfo {
        id: CHECK.into(),
        title: "every waiver accepts a finding and has not expired".into(),
        why: "An expired or unused waiver may hide a later finding.".into(),
        source: vec!["https://github.com/kubernetes-sigs/gateway-api-inference-extension/pull/1909".into()],
        severity: Severity::Error,
        since: None,
        help: "fix the finding, extend the waiver, or remove it".into(),
    }
}

/// Marks findings that waivers accept, and reports expired and unused waivers.
pub(super) fn apply(subject: &Subject, report: &mut Report, causes: &Causes, today: Date) {
    if !subject.file.waivers.is_empty() {
        report.checks.push(waiver_check());
    }
    for (index, waiver) in subject.file.waivers.iter().enumerate() {
        let current = today <= waiver.expires;
        let mut matched = 0;
        for finding in report.findings.iter_mut().filter(|finding| accepts(waiver, finding, causes)) {
            matched += 1;
            if current {
                finding.waiver.get_or_insert(index);
            }
        }
        let state = match (matched, current) {
            (0, _) => WaiverState::Unused,
            (_, true) => WaiverState::Used,
            (_, false) => WaiverState::Expired,
        };
        let complaint = complaint(subject, index, waiver, state);
        report.waivers.push(WaiverInfo {
            names: names(waiver),
            reason: waiver.reason.clone(),
            owner: waiver.owner.clone(),
            expires: waiver.expires.to_string(),
            state,
            complaint: complaint.as_ref().map(|finding| finding.fingerprint.clone()),
        });
        report.findings.extend(complaint);
    }
    accept(subject, report, causes);
}

/// Marks findings of the file of accepted findings, and reports unused entries.
fn accept(subject: &Subject, report: &mut Report, causes: &Causes) {
    let accepted = &subject.accepted.findings;
    if accepted.is_empty() {
        return;
    }
    let index = report.waivers.len();
    let mut used = BTreeSet::new();
    for finding in report.findings.iter_mut().filter(|finding| finding.waiver.is_none()) {
        let together = causes.reported_as(finding);
        if let Some(entry) = accepted.iter().position(|entry| entry.accepts(&finding.fingerprint, &together)) {
            finding.waiver = Some(index);
            used.insert(entry);
        }
    }
    let is_judged = |entry: &AcceptedFinding| {
        let decided = |result: &&report::Result| matches!(result.outcome, Outcome::Passed | Outcome::Failed);
        report.results.iter().filter(decided).any(|result| result.check == entry.check && result.crd == entry.crd)
    };
    let gone = accepted.iter().enumerate().filter(|(entry, known)| !used.contains(entry) && is_judged(known)).count();
    let complaint = (gone > 0).then(|| Finding {
        check: CHECK.into(),
        severity: Severity::Note,
        crd: String::new(),
        version: None,
        path: None,
        message: format!("accepted findings that no longer occur: {gone}"),
        evidence: None,
        help: "run `crdproof accept` to remove them from the list".into(),
        location: None,
        related: Vec::new(),
        fingerprint: fingerprint(&[CHECK, ACCEPTED_FILE]),
        fields: Vec::new(),
        change: None,
        consequences: Vec::new(),
        reproduce: None,
        waiver: None,
    });
    if complaint.is_some() && subject.file.waivers.is_empty() {
        report.checks.push(waiver_check());
    }
    report.waivers.push(WaiverInfo {
        names: ACCEPTED_FILE.into(),
        reason: "accepted".into(),
        owner: None,
        expires: "further notice".into(),
        state: if used.is_empty() { WaiverState::Unused } else { WaiverState::Used },
        complaint: complaint.as_ref().map(|finding| finding.fingerprint.clone()),
    });
    report.findings.extend(complaint);
}

fn accepts(waiver: &Waiver, finding: &Finding, causes: &Causes) -> bool {
    let below = |path: &PathGlob| finding.path.as_ref().is_some_and(|at| path.covers(at));
    waiver.check.as_ref().is_none_or(|check| glob(check, &finding.check))
        && waiver.fingerprint.as_ref().is_none_or(|fingerprint| {
            *fingerprint == finding.fingerprint || *fingerprint == causes.reported_as(finding)
        })
        && waiver.crd.as_ref().is_none_or(|crd| *crd == finding.crd)
        && waiver.path.as_ref().is_none_or(below)
}

fn names(waiver: &Waiver) -> String {
    let path = waiver.path.as_ref().map(PathGlob::as_str);
    let parts = [waiver.check.as_deref(), waiver.fingerprint.as_deref(), waiver.crd.as_deref(), path];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn complaint(subject: &Subject, index: usize, waiver: &Waiver, state: WaiverState) -> Option<Finding> {
    let (severity, message, help) = match state {
        WaiverState::Used => return None,
        WaiverState::Expired => (
            Severity::Error,
            format!("the waiver of {} expired on {}", names(waiver), waiver.expires),
            "fix the finding, or set a later date",
        ),
        WaiverState::Unused => {
            (Severity::Warning, format!("no finding matches the waiver of {}", names(waiver)), "remove the waiver")
        }
    };
    Some(Finding {
        check: CHECK.into(),
        severity,
        crd: waiver.crd.clone().unwrap_or_default(),
        version: None,
        path: waiver.path.as_ref().map(|path| path.as_str().to_owned()),
        message,
        evidence: Some(format!("reason given: {}", waiver.reason)),
        help: help.into(),
        location: subject
            .file_span(&format!("/waivers/{index}"))
            .map(|span| Locator::new(&subject.sources).locate(span, &Redaction::default())),
        related: Vec::new(),
        fingerprint: fingerprint(&[CHECK, &names(waiver), &waiver.expires.to_string()]),
        fields: Vec::new(),
        change: None,
        consequences: Vec::new(),
        reproduce: None,
        waiver: None,
    })
}
