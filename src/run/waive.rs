//! Waivers: marks accepted findings, and reports expired and unused waivers.

use jiff::civil::Date;

use super::fold::fingerprint;
use super::group::reported_as;
use crate::checks::Severity;
use crate::report::{
    self, AcceptedUse, CheckInfo, Finding, Locator, Outcome, Redaction, Report, UngroupedFinding, WaiverInfo,
    WaiverState, WaiverUse,
};
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

/// Marks findings that waivers and the file of accepted findings accept, and returns the effect of each.
pub(super) fn apply(
    subject: &Subject,
    findings: &mut [UngroupedFinding],
    results: &[report::Result],
    today: Date,
) -> (Vec<WaiverUse>, Option<AcceptedUse>) {
    let mut uses = Vec::new();
    for (index, waiver) in subject.file.waivers.iter().enumerate() {
        let current = today <= waiver.expires;
        let mut matched = 0;
        for found in findings.iter_mut().filter(|found| accepts(waiver, found)) {
            matched += 1;
            if current {
                found.finding.waiver.get_or_insert(index);
            }
        }
        let state = match (matched, current) {
            (0, _) => WaiverState::Unused,
            (_, true) => WaiverState::Used,
            (_, false) => WaiverState::Expired,
        };
        let complaint = complaint(subject, index, waiver, state);
        let info = WaiverInfo {
            names: names(waiver),
            reason: waiver.reason.clone(),
            owner: waiver.owner.clone(),
            expires: waiver.expires.to_string(),
            state,
            complaint: complaint.as_ref().map(|finding| finding.fingerprint.clone()),
        };
        uses.push(WaiverUse { waiver: info, complaint });
    }
    (uses, accept(subject, findings, results))
}

/// Marks findings of the file of accepted findings, and returns which entries are used.
fn accept(subject: &Subject, findings: &mut [UngroupedFinding], results: &[report::Result]) -> Option<AcceptedUse> {
    let accepted = &subject.accepted.findings;
    if accepted.is_empty() {
        return None;
    }
    let mut entries = AcceptedUse::default();
    for found in findings.iter_mut().filter(|found| found.finding.waiver.is_none()) {
        let together = reported_as(&found.finding, found.together.as_ref());
        if let Some(entry) = accepted.iter().position(|entry| entry.accepts(&found.finding.fingerprint, &together)) {
            found.finding.waiver = Some(subject.file.waivers.len());
            entries.used.insert(entry);
        }
    }
    let is_judged = |entry: &AcceptedFinding| {
        let decided = |result: &&report::Result| matches!(result.outcome, Outcome::Passed | Outcome::Failed);
        results.iter().filter(decided).any(|result| result.check == entry.check && result.crd == entry.crd)
    };
    let judged = accepted.iter().enumerate().filter(|(_, known)| is_judged(known));
    entries.judged = judged.map(|(entry, _)| entry).collect();
    Some(entries)
}

/// Adds the waivers to a report, and findings about expired and unused ones. In a part of a run, unused waivers are not
/// reported.
pub(super) fn count(report: &mut Report, waivers: Vec<WaiverUse>, accepted: Option<AcceptedUse>, is_part: bool) {
    if !waivers.is_empty() {
        report.checks.push(waiver_check());
    }
    for WaiverUse { mut waiver, complaint } in waivers {
        let complaint = complaint.filter(|_| !(is_part && waiver.state == WaiverState::Unused));
        waiver.complaint = complaint.as_ref().map(|finding| finding.fingerprint.clone());
        report.waivers.push(waiver);
        report.findings.extend(complaint);
    }
    if let Some(accepted) = accepted {
        count_accepted(report, &accepted, is_part);
    }
}

fn count_accepted(report: &mut Report, accepted: &AcceptedUse, is_part: bool) {
    let gone = accepted.judged.difference(&accepted.used).count();
    let complaint = (gone > 0 && !is_part).then(|| Finding {
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
    if complaint.is_some() && !report.checks.iter().any(|check| check.id == CHECK) {
        report.checks.push(waiver_check());
    }
    report.waivers.push(WaiverInfo {
        names: ACCEPTED_FILE.into(),
        reason: "accepted".into(),
        owner: None,
        expires: "further notice".into(),
        state: if accepted.used.is_empty() { WaiverState::Unused } else { WaiverState::Used },
        complaint: complaint.as_ref().map(|finding| finding.fingerprint.clone()),
    });
    report.findings.extend(complaint);
}

fn accepts(waiver: &Waiver, found: &UngroupedFinding) -> bool {
    let finding = &found.finding;
    let below = |path: &PathGlob| finding.path.as_ref().is_some_and(|at| path.covers(at));
    waiver.check.as_ref().is_none_or(|check| glob(check, &finding.check))
        && waiver.fingerprint.as_ref().is_none_or(|fingerprint| {
            *fingerprint == finding.fingerprint || *fingerprint == reported_as(finding, found.together.as_ref())
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
