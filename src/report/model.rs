//! The report as data. Nothing in it depends on the clock or on the order of execution, so two runs on the same input
//! give the same bytes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Conversions, Finding, ShardInfo, StepInfo, UnitTime};
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
    /// The CRDs under test.
    pub crds: Vec<CrdInfo>,
    /// Documents that are not CRDs, counted by kind.
    pub passed_over: BTreeMap<String, usize>,
    /// The checks that were planned.
    pub checks: Vec<CheckInfo>,
    /// One entry for each check and CRD.
    pub results: Vec<Result>,
    /// The findings, including waived ones.
    pub findings: Vec<Finding>,
    /// Checks that were not run, and why.
    pub skipped: Vec<Skipped>,
    /// All waivers of the subject.
    pub waivers: Vec<WaiverInfo>,
    /// Errors that prevented judging.
    pub problems: Vec<Problem>,
    /// The conversions in search of counterexamples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversions: Vec<Conversions>,
    /// The API servers, in the requested order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioInfo>,
    /// The lowest severity of findings that fails the run.
    #[serde(default, skip_serializing_if = "FailOn::is_default")]
    pub fail_on: FailOn,
    /// The durations of work units, if the run is a shard or merged from shards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<UnitTime>,
    /// The shard, if the run did only a part of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardInfo>,
    /// The counts.
    pub summary: Summary,
}

/// The lowest severity of findings that fails a run.
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
    /// Returns the lowest severity that fails a run.
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
    /// The steps, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepInfo>,
}

/// A CRD under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CrdInfo {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Its kind.
    pub object_kind: String,
    /// Its conversion strategy.
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
    /// True if it is served.
    pub served: bool,
    /// True if it is the storage version.
    pub storage: bool,
    /// True if it is deprecated.
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
    /// Its sources.
    pub source: Vec<String>,
    /// The severity in force.
    pub severity: Severity,
    /// The first Kubernetes minor release with this guarantee.
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
    /// The API server, if one is involved.
    pub kubernetes: Option<String>,
    /// The verdict.
    pub outcome: Outcome,
    /// The number of examined items, if it passed.
    pub examined: usize,
    /// The number of findings, if it failed.
    pub findings: usize,
    /// The reason, for a known server issue and an inconclusive result.
    pub reason: Option<String>,
}

/// A verdict without its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The guarantee is kept.
    Passed,
    /// The guarantee is not kept.
    Failed,
    /// A defect of the server.
    KnownServerIssue,
    /// Not enough evidence.
    Inconclusive,
}

/// A check that was not run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Skipped {
    /// The check.
    pub check: String,
    /// The CRD.
    pub crd: String,
    /// The release that could not be installed or started, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<String>,
    /// The reason.
    pub reason: String,
}

/// A waiver of the subject and its effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaiverInfo {
    /// Its target: check, fingerprint, CRD and path.
    pub names: String,
    /// The reason for it.
    pub reason: String,
    /// The person responsible for it.
    pub owner: Option<String>,
    /// The last day on which it applies.
    pub expires: String,
    /// Its effect.
    pub state: WaiverState,
    /// The fingerprint of the finding about it, if it is expired or unused.
    pub complaint: Option<String>,
}

/// The effect of a waiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaiverState {
    /// It accepts at least one finding.
    Used,
    /// It would accept a finding, but has expired.
    Expired,
    /// No finding matches it.
    Unused,
}

/// An error that prevented judging. Never a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Problem {
    /// The message.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

/// The counts of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Summary {
    /// Check results that passed.
    pub passed: usize,
    /// Check results that failed.
    pub failed: usize,
    /// Check results that are known server issues.
    pub known_server_issues: usize,
    /// Check results that are inconclusive.
    pub inconclusive: usize,
    /// Checks that were not run.
    pub skipped: usize,
    /// Errors that no waiver accepts.
    pub errors: usize,
    /// Warnings that no waiver accepts.
    pub warnings: usize,
    /// Notes that no waiver accepts.
    pub notes: usize,
    /// Findings that a waiver accepts.
    pub waived: usize,
    /// Findings that no waiver accepts, by check.
    pub findings_by_check: BTreeMap<String, Counts>,
}

/// The numbers of findings and of CRDs that have them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Counts {
    /// The number of findings.
    pub findings: usize,
    /// The number of CRDs with at least one.
    pub crds: usize,
}

impl CheckInfo {
    /// Returns the registry's description of a check, with the severity in force.
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

    /// Returns true if findings fail the run.
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
