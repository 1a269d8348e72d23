//! CRDs against checks, for the HTML report.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::sections::{self, Section, family, plural};
use super::{Finding, Outcome, Report, Result};
use crate::checks::Severity;

/// The table: a row for each CRD, a column for each check that was judged anywhere.
#[derive(Serialize)]
pub(super) struct Matrix {
    families: Vec<Family>,
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// The number of checks without a column, because they were skipped on every CRD.
    left_out: usize,
}

#[derive(Serialize)]
struct Family {
    name: String,
    span: usize,
}

#[derive(Serialize)]
struct Column {
    id: String,
    name: String,
    title: String,
    /// True if another family begins here.
    first: bool,
}

#[derive(Serialize)]
struct Row {
    name: String,
    title: String,
    findings: usize,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    kind: Kind,
    glyph: &'static str,
    title: String,
    /// The fingerprint of the first finding.
    target: Option<String>,
    column: usize,
}

/// The content of a cell, which the template colours. Worse is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Nothing,
    Skipped,
    Passed,
    Fact,
    Inconclusive,
    Waived,
    Note,
    Warning,
    Error,
}

impl Kind {
    /// Returns the meaning of its sign.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Nothing => "not judged",
            Self::Skipped => "skipped",
            Self::Passed => "passed",
            Self::Fact => "known server issue",
            Self::Inconclusive => "inconclusive",
            Self::Waived => "waived",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    pub(super) fn glyph(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Skipped => "○",
            Self::Passed => "✔",
            Self::Fact => "◇",
            Self::Inconclusive => "?",
            Self::Waived => "~",
            Self::Note => "i",
            Self::Warning => "!",
            Self::Error => "✗",
        }
    }
}

impl Matrix {
    pub(super) fn of(report: &Report, all: &[Section<'_>]) -> Self {
        // Findings about the subject as a whole are listed elsewhere; their row would be empty.
        let all = || all.iter().filter(|section| !section.name.is_empty());
        let judged: BTreeSet<&str> = all()
            .flat_map(|section| {
                let results = section.results.iter().map(|result| result.check.as_str());
                results.chain(section.findings.iter().map(|f| f.check.as_str()))
            })
            .collect();
        let checks = sections::checks(report);
        let mut ids: Vec<&str> = checks.keys().copied().collect();
        ids.retain(|id| judged.contains(id));
        ids.sort_by_key(|id| (family(id), *id));
        let columns: Vec<Column> = ids
            .iter()
            .enumerate()
            .map(|(at, id)| Column {
                id: (*id).to_owned(),
                name: id.split_once('/').map_or(*id, |(_, name)| name).to_owned(),
                title: checks[id].map_or(String::new(), |check| check.title.clone()),
                first: at == 0 || family(ids[at - 1]) != family(id),
            })
            .collect();
        let planned = report.checks.iter();
        Self {
            families: families(&ids),
            columns,
            rows: all().map(|section| Row::of(section, &ids)).collect(),
            left_out: planned.filter(|check| !judged.contains(check.id.as_str())).count(),
        }
    }
}

fn families(ids: &[&str]) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for id in ids {
        match families.last_mut() {
            Some(last) if last.name == family(id) => last.span += 1,
            _ => families.push(Family { name: family(id).to_owned(), span: 1 }),
        }
    }
    families
}

impl Row {
    fn of(section: &Section<'_>, ids: &[&str]) -> Self {
        let mut results: BTreeMap<&str, Vec<&Result>> = BTreeMap::new();
        for result in &section.results {
            results.entry(&result.check).or_default().push(result);
        }
        let mut findings: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for finding in section.findings.iter().chain(&section.elsewhere) {
            findings.entry(&finding.check).or_default().push(finding);
        }
        // The table of releases shows releases that could not be installed or started.
        let skipped = section.skipped.iter().filter(|skipped| skipped.kubernetes.is_none());
        let skipped: BTreeMap<&str, &str> =
            skipped.map(|skipped| (skipped.check.as_str(), skipped.reason.as_str())).collect();
        let cell = |(column, id): (usize, &&str)| {
            let results = results.get(id).map_or(&[][..], Vec::as_slice);
            let findings = findings.get(id).map_or(&[][..], Vec::as_slice);
            cell(column, results, findings, skipped.get(id).copied())
        };
        Self {
            name: section.title().to_owned(),
            title: section.crd.map_or(String::new(), |crd| crd.file.clone()),
            findings: section.counting().count(),
            cells: ids.iter().enumerate().map(cell).collect(),
        }
    }
}

fn cell(column: usize, results: &[&Result], findings: &[&Finding], skip: Option<&str>) -> Cell {
    let of_results = results.iter().map(|result| match result.outcome {
        Outcome::Passed => Kind::Passed,
        Outcome::KnownServerIssue => Kind::Fact,
        Outcome::Inconclusive => Kind::Inconclusive,
        // Its findings are more precise; without any it counts as an error.
        Outcome::Failed if findings.is_empty() => Kind::Error,
        Outcome::Failed => Kind::Nothing,
    });
    let of_findings = findings.iter().map(|finding| match finding.severity {
        _ if finding.waiver.is_some() => Kind::Waived,
        Severity::Error => Kind::Error,
        Severity::Warning => Kind::Warning,
        Severity::Note => Kind::Note,
    });
    let skipped = skip.map(|_| Kind::Skipped);
    let kind = of_results.chain(of_findings).chain(skipped).max();
    let kind = kind.unwrap_or(Kind::Nothing);
    let counting = findings.iter().find(|finding| finding.waiver.is_none());
    Cell {
        kind,
        glyph: kind.glyph(),
        title: title(results, findings, skip),
        target: counting.or(findings.first()).map(|finding| finding.fingerprint.clone()),
        column,
    }
}

fn title(results: &[&Result], findings: &[&Finding], skip: Option<&str>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !findings.is_empty() {
        parts.push(plural(findings.len(), "finding"));
        let waived = findings.iter().filter(|f| f.waiver.is_some()).count();
        if waived > 0 {
            parts.push(format!("{waived} waived"));
        }
    }
    for result in results {
        let server = result.kubernetes.as_ref();
        let server = server.map_or(String::new(), |server| format!(" on {server}"));
        let word = sections::outcome(result.outcome);
        parts.push(match (&result.reason, result.outcome) {
            (Some(reason), _) => format!("{word}{server}: {reason}"),
            (None, Outcome::Passed) => format!("{word}{server}, {} examined", result.examined),
            (None, _) if findings.is_empty() || !server.is_empty() => format!("{word}{server}"),
            (None, _) => continue,
        });
    }
    parts.extend(skip.map(|reason| format!("skipped: {reason}")));
    parts.join("; ")
}
