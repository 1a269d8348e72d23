//! One self-contained HTML page: no network, no second file, readable without a script.
//!
//! The template escapes all its input; this module only decides what to show.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use super::converted::Converted;
use super::matrix::Matrix;
use super::releases::Releases;
use super::sections::{self, Section, aim, marked, place, plural};
use super::side_by_side::SideBySide;
use super::{
    CheckInfo, Excerpt, Finding, Location, Outcome, Problem, Report, ScenarioInfo, StepInfo, Summary, WaiverInfo,
};

const TEMPLATE: &str = include_str!("report.html.jinja");

/// Writes the report as one HTML page.
pub fn html(report: &Report) -> String {
    Page::of(report).fill()
}

/// Everything the template shows.
#[derive(Serialize)]
struct Page<'a> {
    subject: &'a str,
    tool_version: &'a str,
    seed: u64,
    word: &'static str,
    clause: String,
    check_results: String,
    summary: &'a Summary,
    not_tested: Vec<String>,
    scenarios: Vec<ScenarioView<'a>>,
    crd_count: usize,
    matrix: Matrix,
    releases: Option<Releases>,
    groups: Vec<Group>,
    /// The checks that failed, each once, with the reason why they matter.
    failed: Vec<&'a CheckInfo>,
    conversions: Vec<Converted>,
    reasons: Vec<Reason>,
    passed_over: &'a BTreeMap<String, usize>,
    problems: &'a [Problem],
    waivers: &'a [WaiverInfo],
}

impl<'a> Page<'a> {
    fn of(report: &'a Report) -> Self {
        let headline = sections::headline(report);
        let all = sections::sections(report);
        let groups = all
            .iter()
            .filter(|section| !section.findings.is_empty())
            .map(|section| Group::of(report, section))
            .collect();
        Self {
            subject: &report.subject,
            tool_version: &report.tool_version,
            seed: report.seed,
            word: headline.word,
            clause: headline.clause,
            check_results: sections::check_results(report),
            summary: &report.summary,
            not_tested: sections::not_tested(report),
            scenarios: report.scenarios.iter().filter(|one| !one.steps.is_empty()).map(ScenarioView::of).collect(),
            crd_count: report.crds.len(),
            matrix: Matrix::of(report, &all),
            releases: Releases::of(report),
            groups,
            failed: failed(report),
            conversions: report.conversions.iter().map(Converted::of).filter(|one| !one.rows.is_empty()).collect(),
            reasons: reasons(report),
            passed_over: &report.passed_over,
            problems: &report.problems,
            waivers: &report.waivers,
        }
    }

    fn fill(&self) -> String {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // The name of the template turns escaping on.
        environment
            .render_named_str("report.html", TEMPLATE, Serde(self))
            .expect("the template is part of the program and fits its data")
    }
}

/// The findings of one CRD.
#[derive(Serialize)]
struct Group {
    title: String,
    about: String,
    cards: Vec<Card>,
}

impl Group {
    fn of(report: &Report, section: &Section<'_>) -> Self {
        let about = section.crd.map_or(String::new(), |crd| {
            let versions: Vec<&str> = crd.versions.iter().map(|v| v.name.as_str()).collect();
            format!("{} · {}", crd.file, versions.join(", "))
        });
        let findings = section.findings.iter();
        Self {
            title: section.title().to_owned(),
            about,
            cards: findings.map(|finding| Card::of(report, finding)).collect(),
        }
    }
}

/// One finding.
#[derive(Serialize)]
struct Card {
    fingerprint: String,
    severity: &'static str,
    check: String,
    title: String,
    crd: String,
    at: Option<String>,
    message: String,
    help: String,
    evidence: Option<String>,
    /// The object before and after.
    objects: Option<SideBySide>,
    /// The fields that it concerns, if there are several.
    fields: Vec<String>,
    /// Other checks that fail for the same reason.
    consequences: Vec<(String, String)>,
    reproduce: Option<String>,
    figures: Vec<Figure>,
    waived: Option<String>,
    waiver: String,
}

impl Card {
    fn of(report: &Report, finding: &Finding) -> Self {
        let check = report.check(&finding.check);
        let own = finding.location.iter().map(|at| Figure::of(at, ""));
        let related = finding.related.iter();
        let related = related.map(|related| Figure::of(&related.location, &related.message));
        Self {
            fingerprint: finding.fingerprint.clone(),
            severity: finding.severity.as_str(),
            check: finding.check.clone(),
            title: check.map_or(String::new(), |check| check.title.clone()),
            crd: finding.crd.clone(),
            at: aim(finding),
            message: finding.message.clone(),
            help: finding.help.clone(),
            evidence: finding.evidence.clone(),
            objects: finding.evidence.as_deref().and_then(SideBySide::of),
            fields: finding.fields.iter().map(|field| field.message.clone()).collect(),
            consequences: finding.consequences.iter().map(|one| (one.check.clone(), one.message.clone())).collect(),
            reproduce: finding.reproduce.clone(),
            figures: own.chain(related).collect(),
            waived: sections::waived(report, finding),
            waiver: waiver(finding),
        }
    }
}

/// The scenarios of a CRD on a server.
#[derive(Serialize)]
struct ScenarioView<'a> {
    id: String,
    crd: &'a str,
    kubernetes: &'a str,
    requests: u64,
    scenarios: Vec<(&'a str, Vec<&'a StepInfo>)>,
}

impl<'a> ScenarioView<'a> {
    fn of(info: &'a ScenarioInfo) -> Self {
        let mut scenarios: Vec<(&str, Vec<&StepInfo>)> = Vec::new();
        for step in &info.steps {
            let name = step.step.split('/').next().unwrap_or_default();
            match scenarios.last_mut() {
                Some((last, steps)) if *last == name => steps.push(step),
                _ => scenarios.push((name, vec![step])),
            }
        }
        let id = format!("s-{}-{}", info.crd, info.kubernetes);
        Self { id, crd: &info.crd, kubernetes: &info.kubernetes, requests: info.requests, scenarios }
    }
}

/// Returns the lines for the subject file that accept a finding.
fn waiver(finding: &Finding) -> String {
    let mut lines = vec![format!("- check: {}", finding.check)];
    if !finding.crd.is_empty() {
        lines.push(format!("  crd: {}", finding.crd));
    }
    // Hexadecimal digits alone could be read as a number.
    lines.push(format!("  fingerprint: {:?}", finding.fingerprint));
    lines.push("  reason: \"\"".to_owned());
    lines.push("  owner: \"\"".to_owned());
    lines.push("  expires: YYYY-MM-DD".to_owned());
    lines.join("\n")
}

/// An excerpt with its location.
#[derive(Serialize)]
struct Figure {
    place: String,
    label: String,
    lines: Vec<Line>,
}

/// A line of an excerpt, split at the marked range.
#[derive(Debug, PartialEq, Serialize)]
struct Line {
    number: u32,
    before: String,
    marked: String,
    after: String,
}

impl Figure {
    fn of(location: &Location, label: &str) -> Self {
        Self { place: place(location), label: label.to_owned(), lines: lines(&location.excerpt) }
    }
}

fn lines(excerpt: &Excerpt) -> Vec<Line> {
    let range = marked(excerpt);
    let mut offset = 0;
    let mut lines = Vec::new();
    for (text, number) in excerpt.text.split('\n').zip(excerpt.line..) {
        let inside = |at: usize| at.clamp(offset, offset + text.len()) - offset;
        let (start, end) = (inside(range.start), inside(range.end));
        lines.push(Line {
            number,
            before: text[..start].to_owned(),
            marked: text[start..end].to_owned(),
            after: text[end..].to_owned(),
        });
        offset += text.len() + 1;
    }
    lines
}

/// The checks that have findings.
fn failed(report: &Report) -> Vec<&CheckInfo> {
    let named: BTreeSet<&str> = report.findings.iter().map(|finding| finding.check.as_str()).collect();
    report.checks.iter().filter(|check| named.contains(check.id.as_str())).collect()
}

/// Maximum number of CRDs that are named for a reason and a check; others are counted.
const MAX_NAMED: usize = 10;

/// Check results without a verdict on the subject, by reason.
#[derive(Serialize)]
struct Reason {
    state: &'static str,
    text: String,
    count: String,
    checks: Vec<String>,
}

fn reasons(report: &Report) -> Vec<Reason> {
    let mut groups = indexmap::IndexMap::<(&'static str, &str), Vec<(&String, String)>>::new();
    for result in &report.results {
        let state = match result.outcome {
            Outcome::Passed | Outcome::Failed => continue,
            open @ (Outcome::KnownServerIssue | Outcome::Inconclusive) => sections::outcome(open),
        };
        let reason = result.reason.as_deref().unwrap_or("no reason given");
        groups.entry((state, reason)).or_default().push((&result.check, result.crd.clone()));
    }
    for skipped in &report.skipped {
        let server = skipped.kubernetes.as_ref().map_or(String::new(), |server| format!(" on Kubernetes {server}"));
        let key = ("skipped", skipped.reason.as_str());
        groups.entry(key).or_default().push((&skipped.check, format!("{}{server}", skipped.crd)));
    }
    groups.sort_by(|(left, _), _, (right, _), _| left.cmp(right));
    groups
        .into_iter()
        .map(|((state, reason), results)| Reason {
            state,
            text: reason.to_owned(),
            count: plural(results.len(), "check"),
            checks: by_check(results),
        })
        .collect()
}

/// Returns a line for each check, with the CRDs that it was planned for.
fn by_check(results: Vec<(&String, String)>) -> Vec<String> {
    let mut checks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (check, on) in results {
        checks.entry(check).or_default().push(on);
    }
    let line = |(check, mut on): (&str, Vec<String>)| {
        let more = on.len().saturating_sub(MAX_NAMED);
        on.truncate(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{check} on {}{more}", on.join(", "))
    };
    checks.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_cut_at_line_ends() {
        let excerpt = Excerpt { line: 7, text: "ä: 1\nb: 2\nc".into(), start: 4, end: 8 };
        let line = |number, before: &str, marked: &str, after: &str| Line {
            number,
            before: before.into(),
            marked: marked.into(),
            after: after.into(),
        };
        assert_eq!(lines(&excerpt), [line(7, "ä: ", "1", ""), line(8, "", "b:", " 2"), line(9, "", "", "c")]);
    }
}
