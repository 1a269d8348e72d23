//! The subject under test: CRDs, their converter, samples, declared field maps, waivers.

mod accepted;
mod bundle;
mod converter;
mod crd;
mod declared;
mod exec;
mod features;
mod file;
mod kustomized;
mod path_glob;
mod period;
mod sample;
mod version_parts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::subject::field_map::{FieldMap, Relation};
use crdproof_schema::document::{Node, Sources, Span};
use serde_json::Value;

pub use accepted::{ACCEPTED_FILE, Accepted, AcceptedFinding};
pub use bundle::Bundle;
pub use converter::{ConverterConfig, Empty, ProcessConfig, Ready, ServiceConfig, WebhookConfig, webhook_url};
pub use crd::{ClientConfig, Conversion, Crd, CrdError, Names, Service, Version};
pub(in crate::subject) use declared::apply_hints;
pub use declared::{DeclaredLoss, GenerateConfig, Hint, Notation, OmittedZeros};
pub use exec::ExecConfig;
pub use features::{UsedFeature, features_of};
pub use file::{
    Baseline, Budget, CrdInputs, Implementation, KubernetesConfig, Metadata, MigrationConfig, Provider, SubjectFile,
    SubjectFileError, Waiver,
};
pub use kustomized::Kustomized;
pub(crate) mod objects;
pub mod field_map;
pub mod load;

pub use path_glob::PathGlob;
pub use period::{Period, PeriodError};
pub use sample::Sample;
pub use version_parts::{Column, Scale};

// Re-exported, because callers need them together with CRDs.
pub use crdproof_schema::kubernetes::{
    api_version_order, is_dns_label_1035, is_dns_subdomain_1123, is_kubernetes_version_name,
};

/// The API version of the subject file.
pub const API_VERSION: &str = "crdproof/v1alpha1";

/// Everything that is under test, and its source texts.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Its name in reports.
    pub name: String,
    /// The arguments that name it on a command line: `-f FILE`, or its paths. `None` if it is not in a file.
    pub arguments: Option<Vec<String>>,
    /// All texts; spans point into them.
    pub sources: Sources,
    /// The CRDs, sorted by name.
    pub crds: Vec<Crd>,
    /// Their earlier state, sorted by name, if there is one.
    pub baseline: Option<Vec<Crd>>,
    /// Objects that must be valid and survive.
    pub samples: Vec<Sample>,
    /// Samples with their recorded conversions, to compare with today's.
    pub recorded: Vec<Sample>,
    /// Objects that are created on the API server of the converter's process before it starts.
    pub prerequisites: Vec<Value>,
    /// Documents that are not CRDs, counted by kind.
    pub passed_over: BTreeMap<String, usize>,
    /// Accepted findings.
    pub accepted: Accepted,
    /// The subject file, or its defaults.
    pub file: SubjectFile,
    /// The subject file's document, for locations; `None` for bare paths.
    pub document: Option<Node>,
}

impl Subject {
    /// The CRD of this name.
    pub fn crd(&self, name: &str) -> Option<&Crd> {
        self.crds.iter().find(|crd| crd.name == name)
    }

    /// The earlier state of the CRD of this name.
    pub fn baseline_of(&self, name: &str) -> Option<&Crd> {
        self.baseline.as_ref()?.iter().find(|crd| crd.name == name)
    }

    /// The samples of a CRD.
    pub fn samples_of<'a>(&'a self, crd: &'a Crd) -> impl Iterator<Item = &'a Sample> {
        self.samples.iter().filter(|sample| sample.is_of(crd))
    }

    /// Returns the secret values in the samples of a CRD, including recorded ones.
    pub fn secret_values_of(&self, crd: &Crd) -> BTreeSet<String> {
        let (secrets, mut values) = (crd.secrets(), BTreeSet::new());
        for sample in self.samples.iter().chain(&self.recorded).filter(|sample| sample.is_of(crd)) {
            let schema = crd.version(sample.group_version().1).and_then(|version| version.schema.as_ref());
            secrets.collect(schema, &sample.object, &mut values);
        }
        values
    }

    /// Returns the secret values in all samples.
    pub fn secret_values(&self) -> BTreeSet<String> {
        self.baseline.iter().flatten().chain(&self.crds).flat_map(|crd| self.secret_values_of(crd)).collect()
    }

    /// The field maps declared for a CRD.
    pub fn field_maps_of<'a>(&'a self, crd: &'a Crd) -> impl Iterator<Item = (usize, &'a FieldMap)> {
        self.file.field_maps.iter().enumerate().filter(|(_, map)| map.crd == crd.name)
    }

    /// The declared relation of a CRD's versions, compiled. `Err` is the problem.
    pub fn relation_of<'a>(&'a self, crd: &'a Crd) -> Result<Relation<'a>, String> {
        let maps = self.field_maps_of(crd).map(|(_, map)| map);
        let relation = Relation::new(maps, |version| crd.version(version)?.schema.as_ref());
        relation.map_err(|wrong| format!("its field maps cannot be used: {wrong}"))
    }

    /// The folder of the subject file, to which its paths are relative; empty if there is none.
    pub fn folder(&self) -> PathBuf {
        let file = self.document.as_ref().map(|document| self.sources.place(document.span).file);
        file.and_then(|file| Path::new(&file).parent().map(Path::to_owned)).unwrap_or_default()
    }

    /// Returns the location of a JSON pointer in the subject file.
    pub fn file_span(&self, pointer: &str) -> Option<Span> {
        self.document.as_ref().map(|document| document.nearest(pointer).span)
    }
}
