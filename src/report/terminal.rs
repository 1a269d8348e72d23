//! The report for people: a section for each CRD with something to report, then checks without a verdict, then the
//! counts.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};

use super::converted::{self, Converted};
use super::excerpt::Excerpts;
use super::matrix::Kind;
use super::paint::{Paint, wrap};
use super::releases::Releases;
use super::sections::{self, Section, Unjudged, aim, plural, unjudged, worst};
use super::visible::visible_report;
use super::{Finding, Outcome, Report};
use crdproof_schema::text::truncate;

/// The style of terminal output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// True if escape codes may be written.
    pub colour: bool,
    /// True to show everything that was examined, and every finding.
    pub verbose: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Style {
    /// The style for files and pipes.
    pub const PLAIN: Self = Self { colour: false, verbose: false, width: 120 };
}

/// The maximum number of findings that the summary names.
const MAX_CAUSES: usize = 10;

/// The maximum number of findings of a check on one CRD that are shown by default.
const MAX_SHOWN: usize = 8;

/// Writes the report for a terminal.
pub fn terminal(report: &Report, style: Style) -> String {
    let report = &visible_report(report);
    let mut writer = Writer {
        report,
        style,
        paint: Paint::new(style.colour),
        worst: worst(report).into_iter().take(MAX_CAUSES).map(|finding| finding.fingerprint.as_str()).collect(),
        explained: BTreeSet::new(),
        out: String::new(),
    };
    let (mut elsewhere, mut quiet) = (Vec::new(), Vec::new());
    for section in sections::sections(report) {
        if style.verbose || !section.findings.is_empty() {
            writer.section(&section);
        } else if !section.elsewhere.is_empty() {
            elsewhere.push(section);
        } else {
            quiet.push(section);
        }
    }
    writer.elsewhere(&elsewhere);
    writer.quiet(&quiet);
    writer.conversions();
    writer.releases();
    writer.not_judged();
    writer.summary();
    writer.out
}

struct Writer<'a> {
    report: &'a Report,
    style: Style,
    paint: Paint,
    /// The fingerprints of the worst findings.
    worst: BTreeSet<&'a str>,
    /// Checks whose reason was already shown; it is the same for all their findings.
    explained: BTreeSet<&'a str>,
    out: String,
}

impl<'a> Writer<'a> {
    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn section(&mut self, section: &Section<'a>) {
        let title = self.paint.bold(section.title());
        let mark = self.paint.section("►");
        let about = section.crd.map_or(String::new(), |crd| format!(" ({}) {}", crd.file, versions(crd)));
        self.line(&format!("{mark} {title}{about}"));
        self.findings(section);
        self.passed(section);
        self.waived(section);
        if self.style.verbose {
            let results = unjudged(section);
            self.reasons(&results);
        }
        self.line("");
    }

    fn findings(&mut self, section: &Section<'a>) {
        let mut by_check: IndexMap<&str, (usize, usize)> = IndexMap::new();
        for finding in section.findings.iter().copied() {
            if finding.waiver.is_some() {
                continue;
            }
            let (count, shown) = by_check.entry(&finding.check).or_default();
            *count += 1;
            // A change is one finding for all CRDs, so the worst of a whole project can be shown.
            let is_bad = finding.change.is_none() || self.worst.contains(finding.fingerprint.as_str());
            if self.style.verbose || (*shown < MAX_SHOWN && is_bad) {
                *shown += 1;
                self.finding(finding);
            }
        }
        for (check, (count, shown)) in by_check {
            let cross = self.paint.failed("✗");
            let more = match count - shown {
                0 => String::new(),
                more => format!(", {more} not shown (--verbose shows all)"),
            };
            let count = plural(count, "finding");
            self.line(&format!("{cross} {check}: {count}{more}"));
        }
    }

    fn finding(&mut self, finding: &'a Finding) {
        let why = self
            .report
            .check(&finding.check)
            .filter(|_| self.explained.insert(&finding.check))
            .map(|check| check.why.as_str());
        let text = Excerpts::new(self.style).finding(finding, why);
        self.line(&text);
        self.line("");
    }

    fn passed(&mut self, section: &Section<'a>) {
        let tick = self.paint.passed("✔");
        let count = passed(section).count();
        if self.style.verbose {
            for result in passed(section) {
                let server = result.kubernetes.as_ref();
                let server = server.map_or(String::new(), |server| format!(" on {server}"));
                let check = &result.check;
                self.line(&format!("{tick} {check}{server}: {} examined", result.examined));
            }
        } else if count > 0 {
            self.line(&format!("{tick} {} passed", plural(count, "check")));
        }
    }

    fn waived(&mut self, section: &Section<'a>) {
        for finding in &section.findings {
            if let Some(why) = sections::waived(self.report, finding) {
                let circle = self.paint.dim("○");
                let aim = aim(finding).map_or(String::new(), |aim| format!(" at {aim}"));
                let message = &finding.message;
                let line = format!("{}{aim} waived: {message}; {why}", finding.check);
                self.line(&format!("{circle} {}", one_line(&line)));
            }
        }
    }

    /// Writes one line about CRDs whose findings are in the section of another one.
    fn elsewhere(&mut self, crds: &[Section<'a>]) {
        let names: Vec<&str> = crds.iter().map(Section::title).collect();
        if !names.is_empty() {
            let cross = self.paint.failed("✗");
            let line = format!("{} with findings above: {}", plural(names.len(), "more CRD"), names.join(", "));
            self.line(&format!("{cross} {}", one_line(&line)));
        }
    }

    /// Writes one line about CRDs with nothing to report.
    fn quiet(&mut self, quiet: &[Section<'a>]) {
        let judged = |section: &Section<'_>| passed(section).count();
        let with_verdict: Vec<_> = quiet.iter().filter(|one| judged(one) > 0).collect();
        let who = match with_verdict.as_slice() {
            [] => return,
            [only] => only.title().to_owned(),
            many => plural(many.len(), "CRD"),
        };
        let count = plural(quiet.iter().map(judged).sum(), "check");
        let tick = self.paint.passed("✔");
        self.line(&format!("{tick} {who} without findings: {count} passed"));
    }

    /// Writes the conversions: one line if all is well, and a few if something was refused, unset or timed.
    fn conversions(&mut self) {
        let circle = self.paint.dim("○");
        let (told, fine): (Vec<_>, Vec<_>) =
            self.report.conversions.iter().partition(|one| self.style.verbose || converted::has_content(one));
        for conversions in told {
            let shown = Converted::of(conversions);
            let line = format!("{} converted: {}", shown.crd, converted::pairs(conversions));
            self.line(&format!("{circle} {}", one_line(&line)));
            for never in &shown.never {
                self.line(&format!("  {}", one_line(never)));
            }
            // The smallest and the largest reviews are the most informative.
            let last = shown.timings.len().saturating_sub(1);
            for (index, took) in shown.timings.iter().enumerate() {
                if self.style.verbose || index == 0 || index == last {
                    self.line(&format!("  answers to {}", took.line()));
                }
            }
        }
        let tried: usize = fine.iter().map(|conversions| converted::tried(conversions)).sum();
        if tried > 0 {
            let (tried, crds) = (plural(tried, "conversion"), plural(fine.len(), "CRD"));
            self.line(&format!("{circle} {tried} of objects of {crds} tried, none refused"));
        }
    }

    /// Writes checks against API servers, in as many tables as the width requires.
    fn releases(&mut self) {
        let Some(table) = Releases::of(self.report) else { return };
        let mark = self.paint.section("►");
        self.line(&format!("{mark} {}", self.paint.bold("on API servers")));
        let names = table.rows.iter().map(|row| row.name.chars().count());
        let first = names.max().unwrap_or(0).max("requests".len());
        let widths = table.columns.iter().map(|column| column.chars().count().max(6) + 2);
        let widest = widths.max().unwrap_or(8);
        let fitting = (self.style.width.saturating_sub(first + 2) / widest).max(1);
        for start in (0..table.columns.len()).step_by(fitting) {
            let columns = start..(start + fitting).min(table.columns.len());
            let head: String =
                table.columns[columns.clone()].iter().map(|name| format!("  {:<1$}", name, widest - 2)).collect();
            self.line(&format!("  {:first$}{}", "", self.paint.dim(&head)));
            for row in &table.rows {
                let cells = row.cells[columns.clone()].iter().map(|cell| {
                    let glyph = match cell.kind {
                        Kind::Passed => self.paint.passed(cell.glyph),
                        Kind::Error | Kind::Warning => self.paint.failed(cell.glyph),
                        _ => self.paint.dim(cell.glyph),
                    };
                    // Escape codes have no width.
                    format!("  {glyph}{}", " ".repeat((widest - 2).saturating_sub(cell.glyph.chars().count())))
                });
                let cells: String = cells.collect();
                self.line(&format!("  {:first$}{cells}", row.name));
            }
            let requests = table.requests[columns].iter();
            let requests: String = requests
                .map(|count| format!("  {:<1$}", count.map_or("–".to_owned(), |count| count.to_string()), widest - 2))
                .collect();
            self.line(&format!("  {:first$}{}", "requests", self.paint.dim(&requests)));
        }
        let legend: Vec<String> = table.legend.iter().map(|(glyph, word)| format!("{glyph} {word}")).collect();
        self.line(&format!("  {}", self.paint.dim(&legend.join("  "))));
        for absent in &table.absent {
            let circle = self.paint.dim("○");
            self.line(&format!("{circle} {}", one_line(absent)));
        }
    }

    fn not_judged(&mut self) {
        if !self.style.verbose {
            let all = sections::sections(self.report);
            let results: Vec<_> = all.iter().flat_map(unjudged).collect();
            self.reasons(&results);
        }
        if !self.report.passed_over.is_empty() {
            let kinds = self.report.passed_over.iter();
            let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{count} {kind}")).collect();
            let count = plural(self.report.passed_over.values().sum(), "document");
            let circle = self.paint.dim("○");
            self.line(&format!("{circle} {count} passed over: {}", kinds.join(", ")));
        }
        for problem in &self.report.problems {
            let cross = self.paint.failed("✗");
            self.line(&format!("{cross} could not judge: {}", one_line(&problem.message)));
            if let Some(help) = &problem.help {
                self.line(&format!("  = help: {}", one_line(help)));
            }
        }
    }

    /// Writes check results without a verdict on the subject, one line for each reason.
    fn reasons(&mut self, results: &[Unjudged<'_>]) {
        let mut groups: IndexMap<(&str, &str, bool), Vec<&Unjudged<'_>>> = IndexMap::new();
        for result in results {
            groups.entry((result.state, result.reason, result.server.is_some())).or_default().push(result);
        }
        groups.sort_by(|(left, ..), _, (right, ..), _| left.cmp(right));
        for ((state, reason, _), results) in groups {
            let checks: BTreeSet<&str> = results.iter().map(|result| result.check).collect();
            let crds: BTreeSet<&str> = results.iter().map(|result| result.crd).collect();
            let servers: IndexSet<&str> = results.iter().filter_map(|result| result.server).collect();
            let servers = servers.into_iter().collect::<Vec<_>>().join(", ");
            let servers = if servers.is_empty() { servers } else { format!(" on Kubernetes {servers}") };
            let who = match (checks.first(), checks.len()) {
                (Some(only), 1) => (*only).to_owned(),
                (_, count) => plural(count, "check"),
            };
            let place = match (crds.first(), crds.len()) {
                _ if self.style.verbose => String::new(),
                (Some(only), 1) => format!(" on {only}"),
                (_, count) => format!(" on {}", plural(count, "CRD")),
            };
            let circle = self.paint.dim("○");
            let text = one_line(&format!("{who} {state}{place}{servers}: {reason}"));
            self.line(&format!("{circle} {text}"));
            if self.style.verbose && checks.len() > 1 {
                let names: Vec<&str> = checks.into_iter().collect();
                for line in wrap(&names.join(", "), self.style.width.saturating_sub(4)) {
                    self.line(&format!("    {line}"));
                }
            }
        }
    }

    /// Writes the worst causes, one line each.
    fn causes(&mut self) {
        let findings = worst(self.report);
        let is_one = self.report.crds.len() < 2;
        for finding in findings.iter().take(MAX_CAUSES) {
            let is_general = is_one || finding.crd.is_empty() || finding.crds().len() > 1;
            let crd = if is_general { String::new() } else { format!("{}: ", finding.crd) };
            let line = format!("{}[{}]: {crd}{}", finding.severity.as_str(), finding.check, finding.message);
            self.line(&format!("  {}", truncate(&one_line(&line), self.style.width.saturating_sub(4))));
        }
        let more = findings.len().saturating_sub(MAX_CAUSES);
        if more > 0 {
            self.line(&format!("  … and {} (--verbose shows all)", plural(more, "more finding")));
        }
    }

    fn summary(&mut self) {
        let report = self.report;
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.line("");
        }
        let mark = self.paint.section("►");
        let subject = self.paint.bold(&report.subject);
        let crds = plural(report.crds.len(), "CRD");
        let shard = report.shard.as_ref().map_or(String::new(), |shard| format!(", shard {}", shard.name()));
        self.line(&format!("{mark} {subject}: {crds}, seed {}{shard}", report.seed));
        self.causes();
        let headline = sections::headline(report);
        let glyph = match headline.word {
            "passed" => self.paint.passed("✔"),
            "failed" => self.paint.failed("✗"),
            _ => self.paint.dim("○"),
        };
        let severities = sections::severities(report);
        let results = sections::check_results(report);
        let word = self.paint.bold(headline.word);
        let findings = if headline.word == "passed" && report.counting().next().is_some() {
            format!(" with {severities}")
        } else {
            format!(": {severities}")
        };
        self.line(&format!("{glyph} {word}{findings}; {results}"));
        for line in sections::not_tested(report) {
            let circle = self.paint.dim("○");
            self.line(&format!("{circle} {}", one_line(&line)));
        }
    }
}

fn passed<'s>(section: &'s Section<'_>) -> impl Iterator<Item = &'s super::Result> {
    let results = section.results.iter().copied();
    results.filter(|result| result.outcome == Outcome::Passed)
}

fn versions(crd: &super::CrdInfo) -> String {
    let versions = crd.versions.iter().map(|version| {
        let marks: Vec<&str> =
            [(version.storage, "storage"), (!version.served, "not served"), (version.deprecated, "deprecated")]
                .into_iter()
                .filter_map(|(is, word)| is.then_some(word))
                .collect();
        let name = &version.name;
        if marks.is_empty() { name.clone() } else { format!("{name} ({})", marks.join(", ")) }
    });
    versions.collect::<Vec<_>>().join(", ")
}

/// Joins lines, because each entry of a list has one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
