//! The end of every report: counts waivers, groups findings by cause, and brings everything into order. A run and the merge
//! of shards end by the same function.

use std::collections::BTreeMap;

use super::complete::scenarios_check;
use super::group::{Cause, Causes, group};
use super::waive;
use crate::report::{AcceptedUse, Report, UngroupedFinding, WaiverUse};

/// Findings and waivers before they are counted and grouped.
#[derive(Debug, Default)]
pub(super) struct Ungrouped {
    pub(super) findings: Vec<UngroupedFinding>,
    pub(super) waivers: Vec<WaiverUse>,
    pub(super) accepted: Option<AcceptedUse>,
}

/// Completes a report, and returns the fingerprint under which each finding is reported. In a part of a run, waivers without a
/// finding are not reported, because another part may use them.
pub(super) fn finish(report: &mut Report, mut found: Ungrouped, is_part: bool) -> BTreeMap<String, String> {
    found.findings.sort_by_cached_key(|one| (one.finding.order(), one.together.clone(), one.complaint.clone()));
    found.findings.dedup_by(|left, right| left.finding.fingerprint == right.finding.fingerprint);
    let (mut causes, scenarios) = (Causes::default(), scenarios_check());
    for UngroupedFinding { finding, together, complaint } in found.findings {
        causes.add(&finding, Cause { together, complaint });
        report.findings.push(finding);
    }
    if report.findings.iter().any(|finding| finding.check == scenarios.id) {
        report.checks.push(scenarios);
    }
    waive::count(report, found.waivers, found.accepted, is_part);
    let (grouped, renamed) = group(std::mem::take(&mut report.findings), &causes);
    report.findings = grouped;
    report.findings.sort_by_cached_key(crate::report::Finding::order);
    report.skipped.sort();
    report.skipped.dedup();
    report.conversions.sort_by(|left, right| left.crd.cmp(&right.crd));
    report.problems.sort_by(|left, right| (&left.message, &left.help).cmp(&(&right.message, &right.help)));
    report.problems.dedup();
    report.summarise();
    renamed
}
