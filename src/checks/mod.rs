//! Judging: every check is a pure function from evidence to a verdict.
//!
//! [`ALL`] is the registry: one visible, sorted slice. A check is defined in `checks/<family>/<name>.rs` and registered
//! once; tests prove that ids, files and fixtures agree. Besides the families, [`audit`], [`preflight`] and [`minimum`]
//! judge the observations of the tools for clusters.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evidence::{ConversionRun, Exchange, Scenario, Trace, normalised};
use crate::subject::{Crd, Subject};
use crdproof_schema::document::Span;
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::compare::Delta;
use crdproof_schema::structural::{Path, Secrets};

mod apply;
pub mod audit;
mod cause;
mod converter;
mod manifest;
pub mod minimum;
pub mod preflight;
mod registry;
mod serving;
mod shared_difference;
mod shared_drivers;
mod shared_trace;
mod storage;
mod tools;
mod upgrade;
mod webhook;

pub(crate) use cause::{Symptoms, cause_rank};
pub use registry::ALL;

pub(crate) use shared_difference::{Difference, differences, field};
pub use tools::Tools;

/// One guarantee.
#[derive(Debug)]
pub struct Check {
    /// `family/kebab-name`. Names the guarantee, never the defect; never reused.
    pub id: &'static str,
    /// The guarantee as a clause.
    pub title: &'static str,
    /// The harm for users when it fails.
    pub why: &'static str,
    /// The sources of the guarantee: normative text first, then incidents. Each is an `https://` URL, or one of our own
    /// pages by its path, such as `docs/features.md#definition`.
    pub source: &'static [&'static str],
    /// The severity of a failure.
    pub severity: Severity,
    /// The first Kubernetes minor release with the guarantee, if it is not older than all.
    pub since: Option<u32>,
    /// The usual remedy.
    pub help: &'static str,
    /// The evidence that it needs.
    pub needs: &'static [Need],
    /// The judge.
    pub judge: fn(&Evidence<'_>) -> Verdict,
}

impl Check {
    /// The part of the id before the slash.
    pub fn family(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(family, _)| family)
    }

    /// The scenario that it reads, if any.
    pub fn scenario(&self) -> Option<Scenario> {
        self.needs.iter().find_map(|need| if let Need::Scenario(scenario) = need { Some(*scenario) } else { None })
    }

    /// Returns true if it reads conversions of our objects.
    pub(crate) fn reads_conversions(&self) -> bool {
        self.needs.iter().any(|need| matches!(need, Need::ConversionRuns | Need::Survey))
    }

    /// Returns true if it reads any response of the converter.
    pub(crate) fn reads_answers(&self) -> bool {
        self.reads_conversions() || self.needs.contains(&Need::Exchanges)
    }

    /// The part of the id after the slash.
    pub fn name(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(_, name)| name)
    }

    /// Returns the sources as URLs; our own pages get their address in the repository.
    pub fn source_urls(&self) -> impl Iterator<Item = String> {
        self.source.iter().map(|source| match source.strip_prefix("docs/") {
            Some(page) => format!("{}/blob/main/docs/{page}", env!("CARGO_PKG_REPOSITORY")),
            None => (*source).to_owned(),
        })
    }
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Harmful under conditions that are not certain.
    Warning,
    /// Loses data, ownership or availability, or is refused by an API server.
    Error,
}

impl Severity {
    /// The name of the severity.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// An observation that a check reads. The plan derives the necessary actions from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// The CRD document.
    Manifest,
    /// The CRD's earlier state.
    Baseline,
    /// At least one sample of the CRD.
    Samples,
    /// Conversions by the subject's converter; each conversion run is judged by itself.
    ConversionRuns,
    /// The first conversions of every pair of versions, judged together.
    Survey,
    /// A declared relation of the versions, besides a converter that is not that relation itself.
    FieldMap,
    /// Recorded conversions of samples.
    Recorded,
    /// The previous release's converter.
    BaselineConverter,
    /// Requests to the converter's endpoint.
    Exchanges,
    /// At least three versions of the CRD.
    ThreeVersions,
    /// A scenario on an API server.
    Scenario(Scenario),
    /// A storage scenario in which the control plane migrated by itself.
    InTreeMigration,
}

/// The evidence that a judge reads.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The whole subject.
    pub subject: &'a Subject,
    /// The CRD under test: its new state, or the old one if the CRD was removed.
    pub crd: &'a Crd,
    /// The change of the CRD since the baseline.
    pub change: Change<'a>,
    /// The differences of the schemas of versions that are in both states, by version.
    pub deltas: &'a [(String, Vec<Delta>)],
    /// Conversions of this CRD's objects.
    pub conversion_runs: &'a [ConversionRun],
    /// Requests to the endpoint of this CRD's converter.
    pub exchanges: &'a [Exchange],
    /// The trace of an API server.
    pub trace: Option<&'a Trace>,
    /// The date of the run; judges never read the clock.
    pub today: Date,
    /// The secrets in objects of this CRD.
    pub secrets: &'a Secrets,
    /// True if secrets may be shown.
    pub show_secrets: bool,
    /// Compiled schemas, if many conversion runs are judged.
    pub tools: Option<&'a Tools<'a>>,
}

impl Evidence<'_> {
    /// Redacts an object, or a part of one. The version is that of a whole object.
    pub fn redact(&self, version: Option<&str>, value: &Value) -> Value {
        if self.show_secrets {
            return value.clone();
        }
        let version = version.and_then(|version| self.crd.version(version));
        self.secrets.redact(version.and_then(|version| version.schema.as_ref()), value)
    }

    /// The lowest Kubernetes release that the subject claims, if it claims one.
    pub fn minimum(&self) -> Option<KubeVersion> {
        self.subject.file.kubernetes.lowest()
    }
}

/// The state of a CRD since the baseline.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// There is no baseline.
    Unknown,
    /// The baseline has no such CRD.
    Added,
    /// The CRD is in both; this is its old state.
    Kept(&'a Crd),
    /// The CRD is only in the baseline.
    Removed,
}

/// The verdict of a judge.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// The guarantee is kept on everything that was examined, which is never nothing.
    Passed {
        /// The number of examined items.
        examined: usize,
    },
    /// The guarantee is not kept.
    Failed(Vec<Failure>),
    /// A known defect or limit of the server, not the subject's fault.
    KnownServerIssue(String),
    /// The evidence does not suffice.
    Inconclusive(String),
}

impl Verdict {
    /// Failed if there are failures, otherwise passed; inconclusive if nothing was examined.
    pub fn from_failures(failures: Vec<Failure>, examined: usize) -> Self {
        if !failures.is_empty() {
            Self::Failed(failures)
        } else if examined == 0 {
            Self::Inconclusive("nothing to examine".into())
        } else {
            Self::Passed { examined }
        }
    }
}

/// One place where a guarantee is not kept. It becomes a finding when the engine adds a file, a fingerprint and a
/// severity.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The problem, with the observed value.
    pub message: String,
    /// The location in the sources.
    pub span: Option<Span>,
    /// The CRD version concerned.
    pub version: Option<String>,
    /// The field concerned.
    pub path: Option<String>,
    /// Evidence over several lines: objects, differences.
    pub evidence: Option<String>,
    /// Other locations that explain it.
    pub related: Vec<(Span, String)>,
    /// A remedy that fits better than the check's usual one.
    pub help: Option<String>,
    /// A severity that fits better than the check's usual one.
    pub severity: Option<Severity>,
    /// The conversion run that shows it: an index into the evidence's conversion runs.
    pub conversion_run: Option<usize>,
    /// The cause that it shares with failures of other fields. Failures of one check and CRD with the same cause become
    /// one finding.
    pub together: Option<Together>,
    /// The kind of change, such as "field removed", if the check compares two states. Failures of one check with the
    /// same change become one finding, whatever their CRD.
    pub change: Option<String>,
    /// The converter's complaint, normalised. Findings with the same complaint have one cause.
    pub complaint: Option<String>,
    /// Distinguishes this failure from others of the same check, CRD, version and path. It goes into the fingerprint,
    /// so it must not change when unrelated lines move.
    pub key: String,
}

/// The common part of findings of one check about several fields of a CRD, which are reported as one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Together {
    /// The name of the cause. It is part of the fingerprint, so it stays when the clause is reworded.
    pub key: String,
    /// A clause that follows "3 fields", such as "are lost on the way v2→v1→v2".
    pub clause: String,
}

impl Failure {
    /// A failure with this message, which is also its key unless one is given.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            key: message.clone(),
            message,
            span: None,
            version: None,
            path: None,
            evidence: None,
            related: Vec::new(),
            help: None,
            severity: None,
            conversion_run: None,
            together: None,
            change: None,
            complaint: None,
        }
    }

    /// Sets the location.
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Sets the CRD version.
    pub fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    /// Sets the field.
    pub fn path(mut self, path: &Path) -> Self {
        self.path = Some(path.to_string());
        self
    }

    /// Adds evidence.
    pub fn evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence = Some(evidence.into());
        self
    }

    /// Adds a related location.
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push((span, message.into()));
        self
    }

    /// Sets a specific remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets a specific severity.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Reports it together with failures of other fields that have the same cause, in a sentence with this clause.
    pub fn together(mut self, key: impl Into<String>, clause: impl Into<String>) -> Self {
        self.together = Some(Together { key: key.into(), clause: clause.into() });
        self
    }

    /// Reports it together with the same change of other fields, versions and CRDs.
    pub fn change(mut self, change: impl Into<String>) -> Self {
        self.change = Some(change.into());
        self
    }

    /// Sets the converter's complaint.
    pub fn complaint(mut self, why: &str) -> Self {
        self.complaint = Some(normalised(why));
        self
    }

    /// Sets the key of the fingerprint.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }
}

/// The check with this id.
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.iter().copied().find(|check| check.id == id)
}

/// The families that have checks, sorted.
pub fn families() -> Vec<&'static str> {
    let mut families: Vec<_> = ALL.iter().map(|check| check.family()).collect();
    families.dedup();
    families
}
