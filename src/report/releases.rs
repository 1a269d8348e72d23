//! Checks against API servers: the result of each guarantee on each release.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::matrix::Kind;
use super::sections::{family, outcome, plural};
use super::{Outcome, Report, Result, Skipped};
use crate::checks::Severity;
use crdproof_schema::kubernetes::KubeVersion;

/// The table: a row for each check that API servers are involved in, a column for each release. Checks of a family with
/// the same uneventful results share a row.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Releases {
    /// The releases, in the requested order.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Row>,
    /// The number of requests to each release; `None` if a report does not have it.
    pub(super) requests: Vec<Option<u64>>,
    /// The releases that could not be installed or started: each in a line with the reason and the number of skipped
    /// checks.
    pub(super) absent: Vec<String>,
    /// The legend of the signs that occur.
    pub(super) legend: Vec<(&'static str, &'static str)>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) cells: Vec<Cell>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Cell {
    pub(super) kind: Kind,
    pub(super) glyph: &'static str,
    /// The messages, by CRD.
    pub(super) title: String,
}

impl Releases {
    /// `None` if no API server is involved.
    pub(super) fn of(report: &Report) -> Option<Self> {
        let mut requests: IndexMap<&str, Option<u64>> = IndexMap::new();
        for scenario in &report.scenarios {
            let known = requests.entry(&scenario.kubernetes).or_default();
            *known = Some(known.unwrap_or_default() + scenario.requests);
        }
        let mut by_check: IndexMap<&str, IndexMap<&str, Vec<&Result>>> = IndexMap::new();
        for result in &report.results {
            let Some(server) = result.kubernetes.as_deref() else { continue };
            requests.entry(server).or_default();
            by_check.entry(&result.check).or_default().entry(server).or_default().push(result);
        }
        let mut absent: IndexMap<&str, Vec<&Skipped>> = IndexMap::new();
        for skipped in &report.skipped {
            let Some(release) = skipped.kubernetes.as_deref() else { continue };
            absent.entry(release).or_default().push(skipped);
        }
        for release in absent.keys().copied().filter(|release| !requests.contains_key(release)).collect::<Vec<_>>() {
            let newer = |server: &&str| version(server) > version(release);
            let place = requests.keys().position(newer).unwrap_or(requests.len());
            requests.shift_insert(place, release, None);
        }
        let columns: Vec<&str> = requests.keys().copied().collect();
        let mut checks: Vec<(&str, Vec<Cell>)> = by_check
            .iter()
            .map(|(check, by_server)| {
                let results = |server: &&str| by_server.get(*server).map_or(&[][..], Vec::as_slice);
                let skips =
                    |server: &&str| absent.get(*server).and_then(|skips| skips.iter().find(|one| one.check == *check));
                let cell =
                    |server: &&str| skips(server).map_or_else(|| cell(report, results(server)), |skip| left_out(skip));
                (*check, columns.iter().map(cell).collect())
            })
            .collect();
        if checks.is_empty() && absent.is_empty() {
            return None;
        }
        checks.sort_by_key(|(check, _)| (family(check).to_owned(), (*check).to_owned()));
        let rows = rows(&checks);
        let shown: std::collections::BTreeSet<Kind> =
            rows.iter().flat_map(|row| &row.cells).map(|cell| cell.kind).collect();
        let legend = shown.into_iter().filter(|kind| *kind != Kind::Nothing).map(|kind| (kind.glyph(), kind.word()));
        let line = |(release, skips): (&str, Vec<&Skipped>)| {
            let reasons: IndexSet<&str> = skips.iter().map(|skip| skip.reason.as_str()).collect();
            let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
            format!("Kubernetes {release} skipped: {reasons} ({})", plural(skips.len(), "check"))
        };
        Some(Self {
            absent: absent.into_iter().map(line).collect(),
            legend: legend.collect(),
            rows,
            columns: columns.iter().map(ToString::to_string).collect(),
            requests: requests.into_values().collect(),
        })
    }
}

/// A row for each check, after one for those of its family with the same uneventful results.
fn rows(checks: &[(&str, Vec<Cell>)]) -> Vec<Row> {
    let quiet = |kind: &Kind| matches!(kind, Kind::Passed | Kind::Inconclusive | Kind::Skipped | Kind::Nothing);
    let mut rows = Vec::new();
    for of_family in checks.chunk_by(|(left, _), (right, _)| family(left) == family(right)) {
        let mut alike: BTreeMap<Vec<Kind>, Vec<&(&str, Vec<Cell>)>> = BTreeMap::new();
        for check in of_family {
            alike.entry(check.1.iter().map(|cell| cell.kind).collect()).or_default().push(check);
        }
        let (folded, told): (Vec<_>, Vec<_>) =
            alike.into_iter().partition(|(kinds, checks)| checks.len() > 1 && kinds.iter().all(quiet));
        for (kinds, checks) in folded {
            let count = plural(checks.len(), "check");
            let all = checks.len() == of_family.len();
            let count = if all { count } else { count.replacen(' ', " other ", 1) };
            let cell = |kind: Kind| Cell { kind, glyph: kind.glyph(), title: format!("{count} {}", kind.word()) };
            let name = format!("{}: {count}", family(of_family[0].0));
            rows.push(Row { name, cells: kinds.into_iter().map(cell).collect() });
        }
        let mut told: Vec<_> = told.into_iter().flat_map(|(_, checks)| checks).collect();
        told.sort_by_key(|(check, _)| *check);
        rows.extend(told.into_iter().map(|(check, cells)| Row { name: (*check).to_owned(), cells: cells.clone() }));
    }
    rows
}

/// A release for sorting; an unresolved range sorts by its start.
fn version(text: &str) -> Option<KubeVersion> {
    text.split("..").next().and_then(|text| text.parse().ok())
}

/// A check on a release that could not be installed or started.
fn left_out(skipped: &Skipped) -> Cell {
    Cell { kind: Kind::Skipped, glyph: Kind::Skipped.glyph(), title: format!("skipped: {}", skipped.reason) }
}

/// The worst result of any CRD.
fn cell(report: &Report, results: &[&Result]) -> Cell {
    let kind = results.iter().map(|result| kind(report, result)).max().unwrap_or(Kind::Nothing);
    let said = results.iter().map(|result| match &result.reason {
        Some(reason) => format!("{}: {}: {reason}", result.crd, outcome(result.outcome)),
        None => format!("{}: {}", result.crd, outcome(result.outcome)),
    });
    Cell { kind, glyph: kind.glyph(), title: said.collect::<Vec<_>>().join("; ") }
}

fn kind(report: &Report, result: &Result) -> Kind {
    match result.outcome {
        Outcome::Passed => Kind::Passed,
        Outcome::KnownServerIssue => Kind::Fact,
        Outcome::Inconclusive => Kind::Inconclusive,
        Outcome::Failed => {
            let of_case = |finding: &&super::Finding| finding.check == result.check && finding.crd == result.crd;
            let mut findings = report.findings.iter().filter(of_case).peekable();
            if findings.peek().is_some() && findings.all(|finding| finding.waiver.is_some()) {
                return Kind::Waived;
            }
            match report.check(&result.check).map(|check| check.severity) {
                Some(Severity::Warning) => Kind::Warning,
                Some(Severity::Note) => Kind::Note,
                Some(Severity::Error) | None => Kind::Error,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{FailOn, ScenarioInfo, Summary};

    fn report(results: &[(&str, &str, Outcome)]) -> Report {
        let result = |(check, server, outcome): &(&str, &str, Outcome)| Result {
            check: (*check).to_owned(),
            crd: "widgets.example.com".into(),
            kubernetes: Some((*server).to_owned()),
            outcome: *outcome,
            examined: 1,
            findings: usize::from(*outcome == Outcome::Failed),
            reason: (*outcome == Outcome::KnownServerIssue).then(|| "too old".to_owned()),
        };
        let scenarios = ["1.36.4", "1.16.15"].map(|kubernetes| ScenarioInfo {
            crd: "widgets.example.com".into(),
            kubernetes: kubernetes.into(),
            requests: 7,
            steps: Vec::new(),
        });
        Report {
            api_version: String::new(),
            kind: String::new(),
            tool_version: String::new(),
            subject: String::new(),
            seed: 1,
            crds: Vec::new(),
            passed_over: BTreeMap::new(),
            checks: Vec::new(),
            results: results.iter().map(result).collect(),
            findings: Vec::new(),
            skipped: Vec::new(),
            waivers: Vec::new(),
            problems: Vec::new(),
            conversions: Vec::new(),
            scenarios: scenarios.to_vec(),
            fail_on: FailOn::default(),
            timings: Vec::new(),
            shard: None,
            summary: Summary::default(),
        }
    }

    #[test]
    fn checks_that_passed_everywhere_share_a_row() {
        let (new, old) = ("1.36.4", "1.16.15");
        let passed = |check| [(check, new, Outcome::Passed), (check, old, Outcome::Passed)];
        let mut results = [passed("serving/a"), passed("serving/b"), passed("storage/a")].concat();
        results.extend([("serving/c", new, Outcome::Failed), ("serving/c", old, Outcome::KnownServerIssue)]);
        let table = Releases::of(&report(&results)).unwrap();
        assert_eq!(table.columns, [new, old], "as they were asked for");
        assert_eq!(table.requests, [Some(7), Some(7)]);
        let shown: Vec<(String, String)> = table
            .rows
            .iter()
            .map(|row| (row.name.clone(), row.cells.iter().map(|cell| cell.glyph).collect()))
            .collect();
        let row = |name: &str, cells: &str| (name.to_owned(), cells.to_owned());
        assert_eq!(shown, [row("serving: 2 other checks", "✔✔"), row("serving/c", "✗◇"), row("storage/a", "✔✔")]);
        assert_eq!(table.rows[1].cells[1].title, "widgets.example.com: known server issue: too old");
        assert_eq!(table.legend, [("✔", "passed"), ("◇", "known server issue"), ("✗", "error")]);
        assert_eq!(Releases::of(&report(&[])), None);
    }
}
