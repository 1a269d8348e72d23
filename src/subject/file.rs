//! The subject file, `crdproof.yaml`, as types. Its JSON Schema is derived from them.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ConverterConfig, DeclaredLoss, GenerateConfig, OmittedZeros, PathGlob, Period};
use crate::subject::field_map::FieldMap;
use crdproof_schema::kubernetes::{KubeVersion, Selector};

/// The subject under test, and its guarantees.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "crdproof subject file")]
pub struct SubjectFile {
    /// Always `crdproof/v1alpha1`.
    pub api_version: String,
    /// Always `Subject`.
    pub kind: String,
    /// The name.
    #[serde(default)]
    pub metadata: Metadata,
    /// The sources of the CRDs.
    #[serde(default)]
    pub crds: CrdInputs,
    /// The earlier state of the same CRDs, for the upgrade family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// Files and directories with sample objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<String>,
    /// Files and directories with samples and their recorded conversions; they must still convert to the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<String>,
    /// The converter between versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub converter: Option<ConverterConfig>,
    /// The relations of versions, as declared by the author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub field_maps: Vec<FieldMap>,
    /// Fields that conversion is known to lose, without a field map.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<DeclaredLoss>,
    /// States that conversion may omit explicit zero values, such as `0`, `""` or `[]`, if absence means the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted_zeros: Option<OmittedZeros>,
    /// The settings of generated objects.
    #[serde(default, skip_serializing_if = "GenerateConfig::is_empty")]
    pub generate: GenerateConfig,
    /// The time limits of a conversion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The Kubernetes releases that the subject claims.
    #[serde(default)]
    pub kubernetes: KubernetesConfig,
    /// The subject's own storage migration, judged besides the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migration: Option<MigrationConfig>,
    /// The party that claims conformance; `--report conformance` needs all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementation: Option<Implementation>,
    /// Suites to run if none is named on the command line; `quick` by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites: Vec<String>,
    /// Accepted findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

/// Name of the subject.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    /// The name in reports.
    #[serde(default)]
    pub name: String,
}

/// The sources of CRDs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CrdInputs {
    /// Files, directories, kustomizations, `git:REF:PATH` or `-`, relative to the subject file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// A command whose output is the manifests, such as `[helm, template, --include-crds, chart]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Fewer CRDs than this end the run with exit code 4, so that an empty source cannot pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_count: Option<usize>,
}

/// The source of the earlier state.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Baseline {
    /// A git ref at which `paths` are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
    /// Files and directories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// A command whose output is the manifests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

/// The time limits of a conversion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// The limit per review, such as `50ms`.
    pub per_call: Period,
    /// The additional limit per object, such as `8ms`.
    pub per_object: Period,
}

/// The Kubernetes releases that the subject claims.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KubernetesConfig {
    /// Releases to test on, such as `1.31`, or ranges such as `1.28..1.31`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<Selector>,
    /// The provider of API servers.
    #[serde(default)]
    pub provider: Provider,
    /// The lowest release that the subject claims to support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<KubeVersion>,
}

impl KubernetesConfig {
    /// The lowest release that the subject claims, if it claims any.
    pub fn lowest(&self) -> Option<KubeVersion> {
        self.minimum.or_else(|| self.versions.iter().filter_map(|versions| versions.lowest()).min())
    }
}

/// A storage migration of the subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MigrationConfig {
    /// The program and its arguments; `KUBECONFIG`, `CRDPROOF_CRD` and `CRDPROOF_STORAGE_VERSION` are in its environment.
    pub command: Vec<String>,
    /// The timeout; `120s` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Period>,
}

/// The provider of API servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Child processes on this machine.
    #[default]
    Local,
    /// k3s, in a container or as a process.
    K3s,
    /// A kind cluster.
    Kind,
    /// An existing cluster.
    Kubeconfig,
}

/// The party that claims conformance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Implementation {
    /// The organization behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// A page that describes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Contacts: addresses or handles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contact: Vec<String>,
}

impl Implementation {
    /// The keys that a conformance report needs and that are missing.
    pub fn missing(&self) -> Vec<&'static str> {
        let texts = [
            ("organization", &self.organization),
            ("project", &self.project),
            ("version", &self.version),
            ("url", &self.url),
        ];
        let is_empty = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        let mut missing: Vec<_> = texts.into_iter().filter(|(_, text)| is_empty(text)).map(|(key, _)| key).collect();
        if self.contact.is_empty() {
            missing.push("contact");
        }
        missing
    }
}

/// An accepted finding. It names a check or a fingerprint, a reason and an expiry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Waiver {
    /// The check, or a glob such as `upgrade/*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The fingerprint of one finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Only findings of this CRD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crd: Option<String>,
    /// Only findings at this field path or below it; `*` stands for one step, `**` for any number of steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathGlob>,
    /// The reason for accepting it.
    pub reason: String,
    /// The person responsible for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The last day on which it applies.
    pub expires: Date,
}

/// A contradiction in a subject file. `pointer` is its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SubjectFileError {
    /// JSON pointer into the subject file.
    pub pointer: String,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl SubjectFile {
    /// The subject file for bare CRD paths.
    pub fn for_paths(paths: Vec<String>) -> Self {
        Self {
            api_version: super::API_VERSION.into(),
            kind: "Subject".into(),
            crds: CrdInputs { paths, ..CrdInputs::default() },
            ..Self::default()
        }
    }

    /// Finds mistakes that the types cannot express.
    pub fn problem(&self) -> Option<SubjectFileError> {
        let error = |pointer: String, message: String, help: &str| {
            Some(SubjectFileError { pointer, message, help: help.to_owned() })
        };
        if self.api_version != super::API_VERSION {
            let message = format!("unknown apiVersion {:?}", self.api_version);
            return error("/apiVersion".into(), message, &format!("write `apiVersion: {}`", super::API_VERSION));
        }
        if self.kind != "Subject" {
            return error("/kind".into(), format!("unknown kind {:?}", self.kind), "write `kind: Subject`");
        }
        if let Some(problem) = self.converter.as_ref().and_then(ConverterConfig::problem) {
            return Some(problem);
        }
        if self.migration.as_ref().is_some_and(|migration| migration.command.is_empty()) {
            let message = "the command is empty".to_owned();
            return error("/migration/command".into(), message, "name a program, or leave `migration` out");
        }
        let problem = self.declared_problem();
        if problem.is_some() {
            return problem;
        }
        for (index, waiver) in self.waivers.iter().enumerate() {
            if waiver.check.is_none() && waiver.fingerprint.is_none() {
                let message = "a waiver names a check or a fingerprint".to_owned();
                return error(
                    format!("/waivers/{index}"),
                    message,
                    "add `check:` or `fingerprint:`; reports print both",
                );
            }
            if waiver.reason.trim().is_empty() {
                return error(
                    format!("/waivers/{index}/reason"),
                    "the reason is empty".into(),
                    "say why the finding is accepted",
                );
            }
        }
        None
    }
}
