//! The release that manifests require, by the table of features.

use serde::Serialize;

use crate::subject::{Subject, UsedFeature, features_of};
use crdproof_schema::kubernetes::KubeVersion;

/// The requirements of a subject's manifests.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirements {
    /// The lowest release that has every feature.
    pub minimum: KubeVersion,
    /// The features that need a release, the newest first.
    pub because: Vec<Requirement>,
}

/// A feature that the manifests use.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// The CRD.
    pub crd: String,
    /// The feature.
    #[serde(rename = "what")]
    pub feature: &'static str,
    /// The first release that has it.
    pub since: KubeVersion,
    /// The places that use it.
    pub place: String,
    /// The reaction of older releases.
    pub older: &'static str,
    /// True if objects keep their meaning without it.
    pub harmless: bool,
}

impl Requirements {
    /// Derives the requirements of a subject.
    pub fn of(subject: &Subject) -> Self {
        let mut because = Vec::new();
        for crd in &subject.crds {
            because.extend(features_of(crd).into_iter().map(|UsedFeature { feature, since, span }| Requirement {
                crd: crd.name.clone(),
                feature: &feature.what,
                since,
                place: subject.sources.place(span).to_string(),
                older: feature.older.does(),
                harmless: feature.harmless,
            }));
        }
        because.sort_by_key(|because| std::cmp::Reverse((!because.harmless, because.since)));
        let needed = because.iter().filter(|because| !because.harmless).map(|because| because.since);
        Self { minimum: needed.max().unwrap_or(KubeVersion::OLDEST), because }
    }

    /// Returns true if a release has every feature, by table.
    pub fn allow(&self, release: KubeVersion) -> bool {
        release.minor >= self.minimum.minor
    }
}
