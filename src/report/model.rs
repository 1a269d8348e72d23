//! The report as data. Nothing in it depends on the clock or on the order in which cases ran, so two
//! runs over the same input give the same bytes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Conversions, Finding, StepInfo};
use crate::checks::{Check, Severity};

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "crdproof report")]
pub struct Report {
    /// Always `crdproof/v1alpha1`.
    pub api_version: String,
    /// Always `Report`.
    pub kind: String,
    /// The version of crdproof.
    pub tool_version: String,
    /// The subject's name.
    pub subject: String,
    /// The seed; the same seed gives the same objects.
    pub seed: u64,
    /// The subject under test.
    pub crds: Vec<CrdInfo>,
    /// Documents that are not CRDs, counted by kind.
    pub passed_over: BTreeMap<String, usize>,
    /// The checks that were planned.
    pub checks: Vec<CheckInfo>,
    /// One entry for each check and CRD.
    pub results: Vec<Result>,
    /// What is failed, waived findings included.
    pub findings: Vec<Finding>,
    /// Cases that were not run, and why.
    pub skipped: Vec<Skipped>,
    /// All waivers of the subject.
    pub waivers: Vec<WaiverInfo>,
    /// What kept us from judging.
    pub problems: Vec<Problem>,
    /// What was converted in search of counterexamples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversions: Vec<Conversions>,
    /// The API servers that took part, in the order in which they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioInfo>,
    /// From which severity on findings fail the run.
    #[serde(default, skip_serializing_if = "FailOn::is_default")]
    pub fail_on: FailOn,
    /// The counts.
    pub summary: Summary,
}

/// From which severity on findings fail a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// Any finding.
    Note,
    /// Warnings and errors.
    Warning,
    /// Errors.
    #[default]
    Error,
    /// Findings never fail a run.
    Never,
}

impl FailOn {
    /// Returns the least severity that fails a run.
    pub fn least(self) -> Option<Severity> {
        match self {
            Self::Note => Some(Severity::Note),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
            Self::Never => None,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The scenarios of one CRD on one API server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScenarioInfo {
    /// The CRD.
    pub crd: String,
    /// The server's version.
    pub kubernetes: String,
    /// The number of requests.
    pub requests: u64,
    /// What was done, step by step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepInfo>,
}

/// A CRD under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CrdInfo {
    /// Its name.
    pub name: String,
    /// The file it stands in.
    pub file: String,
    /// Its kind.
    pub object_kind: String,
    /// Conversion strategy.
    pub strategy: String,
    /// Its versions.
    pub versions: Vec<VersionInfo>,
}

/// A version of a CRD under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionInfo {
    /// Its name.
    pub name: String,
    /// Whether it is served.
    pub served: bool,
    /// Whether it is stored.
    pub storage: bool,
    /// Whether it is deprecated.
    pub deprecated: bool,
}

/// A check, as the registry describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckInfo {
    /// Its id.
    pub id: String,
    /// The guarantee.
    pub title: String,
    /// The harm without it.
    pub why: String,
    /// Its source.
    pub source: Vec<String>,
    /// The severity in force.
    pub severity: Severity,
    /// The Kubernetes minor from which it can be expected.
    pub since: Option<String>,
    /// The usual remedy.
    pub help: String,
}

/// The verdict of one check on one CRD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Result {
    /// The check.
    pub check: String,
    /// The CRD.
    pub crd: String,
    /// The API server, where one took part.
    pub kubernetes: Option<String>,
    /// The verdict.
    pub outcome: Outcome,
    /// How much was examined, for a guarantee that passed.
    pub examined: usize,
    /// How many findings, for one that is failed.
    pub findings: usize,
    /// The reason, for a known server issue and an inconclusive case.
    pub reason: Option<String>,
}

/// A verdict without its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The guarantee holds.
    Passed,
    /// It does not.
    Failed,
    /// The server's fault.
    KnownServerIssue,
    /// Not enough evidence.
    Inconclusive,
}

/// A case that was not run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Skipped {
    /// The check.
    pub check: String,
    /// The CRD.
    pub crd: String,
    /// The release that could not be installed or started, where that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<String>,
    /// Why.
    pub reason: String,
}

/// A waiver of the subject and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaiverInfo {
    /// What it names: check, fingerprint, CRD and path.
    pub names: String,
    /// Why it was granted.
    pub reason: String,
    /// Who answers for it.
    pub owner: Option<String>,
    /// The last day on which it counts.
    pub expires: String,
    /// Its outcome.
    pub state: WaiverState,
    /// The fingerprint of the finding that complains of it, where it is over or idle.
    pub complaint: Option<String>,
}

/// The effect of a waiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaiverState {
    /// It accepts at least one finding.
    Used,
    /// It would, but its day is over.
    Expired,
    /// No finding matches it.
    Unused,
}

/// Something that kept us from judging. Never a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Problem {
    /// The event.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

/// The counts of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Summary {
    /// Cases by verdict.
    pub passed: usize,
    /// Cases by verdict.
    pub failed: usize,
    /// Cases by verdict.
    pub known_server_issues: usize,
    /// Cases by verdict.
    pub inconclusive: usize,
    /// Cases that were not run.
    pub skipped: usize,
    /// Findings that count, by severity.
    pub errors: usize,
    /// Findings that count, by severity.
    pub warnings: usize,
    /// Findings that count, by severity.
    pub notes: usize,
    /// Findings that a waiver accepts.
    pub waived: usize,
    /// Findings that count, by check.
    pub findings_by_check: BTreeMap<String, Counts>,
}

/// The numbers of findings and of CRDs that have them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Counts {
    /// Findings.
    pub findings: usize,
    /// CRDs that have at least one.
    pub crds: usize,
}

impl CheckInfo {
    /// Returns what the registry says of a check, at the severity in force.
    pub fn new(check: &Check, severity: Severity) -> Self {
        Self {
            id: check.id.to_owned(),
            title: check.title.to_owned(),
            why: check.why.to_owned(),
            source: check.source_urls().collect(),
            severity,
            since: check.since.map(|minor| format!("1.{minor}")),
            help: check.help.to_owned(),
        }
    }
}

impl Report {
    /// The findings that no waiver accepts.
    pub fn counting(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.waiver.is_none())
    }

    /// Returns whether findings fail the run.
    pub fn has_findings_to_fail_on(&self) -> bool {
        let least = self.fail_on.least();
        least.is_some_and(|least| self.counting().any(|finding| finding.severity >= least))
    }

    /// The check of a finding.
    pub fn check(&self, id: &str) -> Option<&CheckInfo> {
        self.checks.iter().find(|check| check.id == id)
    }

    /// Counts again after findings or results changed.
    pub fn summarise(&mut self) {
        let results = |outcome| self.results.iter().filter(|result| result.outcome == outcome).count();
        let severity = |severity| self.counting().filter(|finding| finding.severity == severity).count();
        let mut by_check: BTreeMap<String, (usize, std::collections::BTreeSet<&str>)> = BTreeMap::new();
        for finding in self.counting() {
            let entry = by_check.entry(finding.check.clone()).or_default();
            entry.0 += 1;
            entry.1.extend(finding.crds());
        }
        self.summary = Summary {
            passed: results(Outcome::Passed),
            failed: results(Outcome::Failed),
            known_server_issues: results(Outcome::KnownServerIssue),
            inconclusive: results(Outcome::Inconclusive),
            skipped: self.skipped.len(),
            errors: severity(Severity::Error),
            warnings: severity(Severity::Warning),
            notes: severity(Severity::Note),
            waived: self.findings.iter().filter(|finding| finding.waiver.is_some()).count(),
            findings_by_check: by_check
                .into_iter()
                .map(|(check, (findings, crds))| (check, Counts { findings, crds: crds.len() }))
                .collect(),
        };
    }
}
