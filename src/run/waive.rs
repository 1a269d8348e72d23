//! Waivers: accepted findings are marked, and a waiver that is over or idle is a finding itself.

use jiff::civil::Date;

use super::fold::fingerprint;
use super::group::Causes;
use super::suite::matches;
use crate::checks::Severity;
use crate::report::{CheckInfo, Finding, Location, Redaction, Report, WaiverInfo, WaiverState};
use crate::subject::{Subject, Waiver};

/// The id under which idle and expired waivers are reported.
const CHECK: &str = "subject/waivers-current";

/// What the report says of waivers. It is no check of the registry: it looks at the findings of the
/// others, so nothing can be planned or selected about it.
pub fn waiver_check() -> CheckInfo {
    CheckInfo {
        id: CHECK.into(),
        title: "every waiver accepts a finding and has not expired".into(),
        why: "A waiver that is over or matches nothing hides what comes next under the same name.".into(),
        source: vec!["https://github.com/kubernetes-sigs/gateway-api-inference-extension/pull/1909".into()],
        severity: Severity::Error,
        since: None,
        help: "mend the finding, renew the waiver with a new day, or remove it".into(),
    }
}

/// Marks what waivers accept and reports waivers that no longer do their work.
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
}

fn accepts(waiver: &Waiver, finding: &Finding, causes: &Causes) -> bool {
    let below = |path: &String| {
        finding.path.as_ref().is_some_and(|at| {
            at.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    };
    waiver.check.as_ref().is_none_or(|check| matches(check, &finding.check))
        && waiver.fingerprint.as_ref().is_none_or(|fingerprint| {
            *fingerprint == finding.fingerprint || *fingerprint == causes.reported_as(finding)
        })
        && waiver.crd.as_ref().is_none_or(|crd| *crd == finding.crd)
        && waiver.path.as_ref().is_none_or(below)
}

fn names(waiver: &Waiver) -> String {
    let parts = [&waiver.check, &waiver.fingerprint, &waiver.crd, &waiver.path];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn complaint(subject: &Subject, index: usize, waiver: &Waiver, state: WaiverState) -> Option<Finding> {
    let (severity, message, help) = match state {
        WaiverState::Used => return None,
        WaiverState::Expired => (
            Severity::Error,
            format!("the waiver of {} expired on {}", names(waiver), waiver.expires),
            "mend the finding, or decide anew and set a later day",
        ),
        WaiverState::Unused => (
            Severity::Warning,
            format!("no finding matches the waiver of {}", names(waiver)),
            "remove the waiver; what it accepted is gone or was never there",
        ),
    };
    Some(Finding {
        check: CHECK.into(),
        severity,
        crd: waiver.crd.clone().unwrap_or_default(),
        version: None,
        path: waiver.path.clone(),
        message,
        evidence: Some(format!("reason given: {}", waiver.reason)),
        help: help.into(),
        location: subject
            .file_span(&format!("/waivers/{index}"))
            .map(|span| Location::of(&subject.sources, span, &Redaction::default())),
        related: Vec::new(),
        fingerprint: fingerprint(&[CHECK, &names(waiver), &waiver.expires.to_string()]),
        fields: Vec::new(),
        consequences: Vec::new(),
        reproduce: None,
        waiver: None,
    })
}
