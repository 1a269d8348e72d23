//! Shared parts of writers: the report by CRD, the headline, and small pieces of text.

use std::cmp::Reverse;

use indexmap::IndexMap;

use super::{CheckInfo, CrdInfo, Excerpt, Finding, Location, Outcome, Report, Result, Skipped};
use crate::checks::{self, Need, Severity, cause_rank};

/// Everything a report says about one CRD.
pub(super) struct Section<'a> {
    /// The CRD's name; empty for the subject as a whole.
    pub(super) name: &'a str,
    /// The CRD, unless it was removed or the section is about the subject itself.
    pub(super) crd: Option<&'a CrdInfo>,
    /// Verdicts.
    pub(super) results: Vec<&'a Result>,
    /// Findings, including waived ones.
    pub(super) findings: Vec<&'a Finding>,
    /// Findings about this CRD in the section of another one.
    pub(super) elsewhere: Vec<&'a Finding>,
    /// Checks that were not run.
    pub(super) skipped: Vec<&'a Skipped>,
}

impl Section<'_> {
    /// Returns the heading.
    pub(super) fn title(&self) -> &str {
        if self.name.is_empty() { "the subject itself" } else { self.name }
    }

    /// Findings that no waiver accepts.
    pub(super) fn counting(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().copied().filter(|finding| finding.waiver.is_none())
    }
}

/// The report by CRD: those under test in their order, then others with results.
pub(super) fn sections(report: &Report) -> Vec<Section<'_>> {
    let empty = |name, crd| Section {
        name,
        crd,
        results: Vec::new(),
        findings: Vec::new(),
        elsewhere: Vec::new(),
        skipped: Vec::new(),
    };
    let mut by_name: IndexMap<&str, Section<'_>> =
        report.crds.iter().map(|crd| (crd.name.as_str(), empty(&crd.name, Some(crd)))).collect();
    for result in &report.results {
        let section = by_name.entry(&result.crd);
        let section = section.or_insert_with(|| empty(&result.crd, None));
        section.results.push(result);
    }
    for finding in &report.findings {
        let section = by_name.entry(&finding.crd);
        let section = section.or_insert_with(|| empty(&finding.crd, None));
        section.findings.push(finding);
        for crd in finding.crds().into_iter().filter(|crd| *crd != finding.crd) {
            by_name.entry(crd).or_insert_with(|| empty(crd, None)).elsewhere.push(finding);
        }
    }
    for skipped in &report.skipped {
        let section = by_name.entry(&skipped.crd);
        let section = section.or_insert_with(|| empty(&skipped.crd, None));
        section.skipped.push(skipped);
    }
    by_name.into_values().collect()
}

/// A check result without a verdict on the subject.
pub(super) struct Unjudged<'s> {
    pub(super) state: &'static str,
    pub(super) reason: &'s str,
    pub(super) check: &'s str,
    pub(super) crd: &'s str,
    pub(super) server: Option<&'s str>,
}

/// Every check result without a verdict on the subject.
pub(super) fn unjudged<'s>(section: &'s Section<'_>) -> Vec<Unjudged<'s>> {
    let results = section
        .results
        .iter()
        .filter(|result| matches!(result.outcome, Outcome::KnownServerIssue | Outcome::Inconclusive));
    let results = results.map(|result| {
        let reason = result.reason.as_deref().unwrap_or("no reason given");
        let state = match result.outcome {
            Outcome::KnownServerIssue => "met a known server issue",
            _ => "inconclusive",
        };
        Unjudged { state, reason, check: &result.check, crd: &result.crd, server: result.kubernetes.as_deref() }
    });
    // Releases that could not be installed or started are listed once, below the table of releases.
    let skipped = section.skipped.iter().filter(|skipped| skipped.kubernetes.is_none()).map(|skipped| {
        let (check, crd) = (skipped.check.as_str(), skipped.crd.as_str());
        Unjudged { state: "skipped", reason: &skipped.reason, check, crd, server: None }
    });
    results.chain(skipped).collect()
}

/// Returns the findings that count, the worst first.
pub(super) fn worst(report: &Report) -> Vec<&Finding> {
    let mut findings: Vec<&Finding> = report.counting().collect();
    findings.sort_by_cached_key(|finding| {
        // Of changes, the one with most fields comes first.
        let fields = finding.change.as_ref().map(|_| finding.fields.len());
        (Reverse(finding.severity), cause_rank(&finding.check), Reverse(fields), finding.order())
    });
    findings
}

/// The whole report in a word and a clause.
pub(super) struct Headline {
    /// `failed`, `passed` or `not judged`.
    pub(super) word: &'static str,
    /// The explanation of the word.
    pub(super) clause: String,
}

/// Returns the headline, which a reader sees first.
pub(super) fn headline(report: &Report) -> Headline {
    let summary = &report.summary;
    let (word, clause) = if report.has_findings_to_fail_on() {
        ("failed", severities(report))
    } else if !report.problems.is_empty() {
        ("not judged", format!("{} prevented a verdict", plural(report.problems.len(), "problem")))
    } else if report.shard.is_some() && report.results.is_empty() {
        ("passed", "this shard has no work".to_owned())
    } else if summary.passed == 0 {
        ("not judged", "no check was conclusive".to_owned())
    } else if report.counting().next().is_some() {
        ("passed", format!("with {}", severities(report)))
    } else {
        ("passed", format!("{} on {}", plural(summary.passed, "check"), plural(report.crds.len(), "CRD")))
    };
    Headline { word, clause }
}

/// Families of checks with the thing that they test, and the reasons for having nothing to test.
const TESTED: [(&str, &str); 5] = [
    ("converter", "conversion"),
    ("webhook", "the webhook"),
    ("serving", "serving"),
    ("storage", "storage"),
    ("apply", "server-side apply"),
];
const NOTHING_TO_TEST: [&str; 3] =
    ["one version, so nothing is converted", "the converter has no HTTP endpoint", "a command has no HTTP endpoint"];

/// Returns untested parts: families of checks that were planned and examined nothing, by reason.
pub fn not_tested(report: &Report) -> Vec<String> {
    // Other shards may test it.
    if report.shard.is_some() {
        return Vec::new();
    }
    let mut by_reason: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for (name, what) in TESTED {
        let own = |check: &str| family(check) == name;
        // A check that reads only manifests does not test conversion.
        let acts = |check: &str| checks::find(check).is_none_or(|check| check.needs != [Need::Manifest]);
        let is_examined =
            |result: &Result| own(&result.check) && acts(&result.check) && result.outcome != Outcome::Inconclusive;
        if !report.checks.iter().any(|check| own(&check.id)) || report.results.iter().any(is_examined) {
            continue;
        }
        let skipped =
            report.skipped.iter().filter(|skipped| own(&skipped.check)).map(|skipped| skipped.reason.as_str());
        let inconclusive = report.results.iter().filter(|result| own(&result.check));
        let mut reasons = skipped.chain(inconclusive.filter_map(|result| result.reason.as_deref()));
        if let Some(reason) = reasons.find(|reason| !NOTHING_TO_TEST.contains(reason)) {
            by_reason.entry(reason).or_default().push(what);
        }
    }
    let line = |(reason, what): (&str, Vec<&str>)| {
        let verb = if what.len() == 1 { "was" } else { "were" };
        format!("{} {verb} not tested: {reason}", listed(&what))
    };
    by_reason.into_iter().map(line).collect()
}

/// Findings that count, such as `2 errors, 1 warning, 1 waived`.
pub(super) fn severities(report: &Report) -> String {
    let summary = &report.summary;
    let mut parts: Vec<String> = [(summary.errors, "error"), (summary.warnings, "warning"), (summary.notes, "note")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| plural(count, noun))
        .collect();
    if parts.is_empty() {
        parts.push("no findings".to_owned());
    }
    if summary.waived > 0 {
        parts.push(format!("{} waived", summary.waived));
    }
    parts.join(", ")
}

/// All check results by verdict; skips verdicts without any.
pub(super) fn check_results(report: &Report) -> String {
    let summary = &report.summary;
    // "failed" is the word for a run that did not pass; findings below `--fail-on` do not contradict the headline.
    let failed = if headline(report).word == "passed" { "with findings" } else { "failed" };
    let parts = [
        (summary.passed, format!("{} passed", summary.passed)),
        (summary.failed, format!("{} {failed}", summary.failed)),
        (summary.known_server_issues, plural(summary.known_server_issues, "known server issue")),
        (summary.inconclusive, format!("{} inconclusive", summary.inconclusive)),
        (summary.skipped, format!("{} skipped", summary.skipped)),
    ];
    let total = parts.iter().map(|(count, _)| count).sum();
    let parts: Vec<&str> = parts.iter().filter(|(count, _)| *count > 0).map(|(_, text)| text.as_str()).collect();
    if parts.is_empty() {
        return "0 checks".to_owned();
    }
    format!("{}: {}", plural(total, "check"), parts.join(", "))
}

/// Joins words as a sentence does: `a`, `a and b`, `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => words.concat(),
    }
}

/// A count and its noun.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The word for a verdict.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::KnownServerIssue => "known server issue",
        Outcome::Inconclusive => "inconclusive",
    }
}

/// The family of a check id.
pub(super) fn family(id: &str) -> &str {
    id.split_once('/').map_or(id, |(family, _)| family)
}

/// `file:line:column`.
pub(super) fn place(location: &Location) -> String {
    format!("{}:{}:{}", location.file, location.line, location.column)
}

/// Version and field of a finding, such as `v1 .spec.host`.
pub(super) fn aim(finding: &Finding) -> Option<String> {
    match (&finding.version, &finding.path) {
        (Some(version), Some(path)) => Some(format!("{version} {path}")),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (None, None) => None,
    }
}

/// The reason why a finding does not count: the waiver's reason, its owner and its last day.
pub(super) fn waived(report: &Report, finding: &Finding) -> Option<String> {
    let index = finding.waiver?;
    let Some(waiver) = report.waivers.get(index) else {
        return Some("a waiver that the report does not list".to_owned());
    };
    let owner = waiver.owner.as_ref().map_or(String::new(), |owner| format!("{owner}, "));
    Some(format!("{} ({owner}until {})", waiver.reason, waiver.expires))
}

/// Severities, worst first.
pub(super) const WORST_FIRST: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];

/// The planned checks, then others with findings, with their descriptions.
pub(super) fn checks(report: &Report) -> IndexMap<&str, Option<&CheckInfo>> {
    let mut checks: IndexMap<&str, Option<&CheckInfo>> =
        report.checks.iter().map(|check| (check.id.as_str(), Some(check))).collect();
    for finding in &report.findings {
        checks.entry(&finding.check).or_insert(None);
    }
    checks
}

/// The marked bytes of an excerpt. A report from a file may contain anything, so the range is limited to the text and
/// to character boundaries.
pub(super) fn marked(excerpt: &Excerpt) -> std::ops::Range<usize> {
    let text = &excerpt.text;
    let boundary = |at: usize| {
        let at = at.min(text.len());
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = boundary(excerpt.start);
    start..boundary(excerpt.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_inside_the_text() {
        let excerpt = |start, end| Excerpt { line: 1, text: "k: ü".into(), start, end };
        assert_eq!(marked(&excerpt(3, 5)), 3..5);
        assert_eq!(marked(&excerpt(4, 99)), 3..5);
        assert_eq!(marked(&excerpt(5, 1)), 5..5);
    }

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(listed(&["conversion"]), "conversion");
        assert_eq!(listed(&["conversion", "serving"]), "conversion and serving");
        assert_eq!(listed(&["conversion", "serving", "storage"]), "conversion, serving and storage");
    }

    #[test]
    fn counts_have_their_noun() {
        assert_eq!(plural(1, "CRD"), "1 CRD");
        assert_eq!(plural(0, "error"), "0 errors");
    }
}
