//! The answer of `minimum`: the lowest release that works, and the evidence.

use serde::Serialize;

use super::windows::{Excluded, Suspect, excluded};
use super::{ReleaseResult, Requirements};
use crate::subject::Subject;
use crdproof_schema::kubernetes::KubeVersion;

/// A release that was tested.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tested {
    /// The release.
    pub release: KubeVersion,
    /// True if it supports the subject.
    pub good: bool,
    /// The details.
    #[serde(flatten)]
    pub result: ReleaseResult,
}

/// The result of the search, by index of the installed releases.
#[derive(Debug)]
pub struct Searched {
    /// The lowest release that works.
    pub lowest: Option<usize>,
    /// Releases that work although a later one does not.
    pub strays: Vec<usize>,
    /// The number of servers that the search started.
    pub servers: usize,
}

/// The lowest release for a subject.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The subject.
    pub subject: String,
    /// The requirements of its manifests.
    #[serde(rename = "derived")]
    pub requirements: Requirements,
    /// The lowest release that works; if nothing was tested, the one that the manifests need.
    pub minimum: Option<KubeVersion>,
    /// True if servers verified it.
    pub proven: bool,
    /// The number of servers of the search.
    pub servers: usize,
    /// The number of servers for windows of known defects.
    pub window_servers: usize,
    /// The installed releases.
    pub installed: Vec<KubeVersion>,
    /// The tested releases.
    pub tested: Vec<Tested>,
    /// The highest release that does not work.
    pub below: Option<KubeVersion>,
    /// Minor releases between the two that are not installed.
    pub not_installed: Vec<KubeVersion>,
    /// Installed releases that the search did not need.
    pub not_tested: Vec<KubeVersion>,
    /// Releases that work although a later one does not.
    pub strays: Vec<KubeVersion>,
    /// Known defects of releases that the minimum allows.
    pub excluded: Vec<Excluded>,
    /// A badge for a README.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub badge: Option<String>,
    /// The lines for the subject file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_file: Option<String>,
}

impl Answer {
    /// Returns the requirements of the manifests, with nothing tested.
    pub fn derived_only(subject: &Subject, requirements: Requirements) -> Self {
        let minimum = Some(requirements.minimum);
        Self {
            subject: subject.name.clone(),
            minimum,
            proven: false,
            servers: 0,
            window_servers: 0,
            installed: Vec::new(),
            tested: Vec::new(),
            below: None,
            not_installed: Vec::new(),
            not_tested: Vec::new(),
            strays: Vec::new(),
            excluded: Vec::new(),
            badge: minimum.map(badge),
            subject_file: minimum.map(|minimum| block(minimum, &[])),
            requirements,
        }
    }

    /// Returns the answer that the tested releases prove.
    pub fn proven(
        subject: &Subject,
        requirements: Requirements,
        installed: &[KubeVersion],
        tested: Vec<Option<Tested>>,
        searched: &Searched,
        suspects: &[Suspect],
    ) -> Self {
        let good = |index: usize| tested.get(index).and_then(Option::as_ref).map(|one| one.good);
        // Releases right below that were tested separately work as well.
        let lowest = searched
            .lowest
            .map(|lowest| (0..lowest).rev().take_while(|index| good(*index) == Some(true)).last().unwrap_or(lowest));
        let minimum = lowest.map(|index| installed[index]);
        let below = (0..lowest.unwrap_or(installed.len())).rev().find(|index| good(*index) == Some(false));
        let below = below.map(|index| installed[index]);
        let not_tested =
            (0..installed.len()).filter(|index| good(*index).is_none()).map(|index| installed[index]).collect();
        let strays = searched.strays.iter().filter(|index| lowest.is_none_or(|lowest| **index < lowest));
        let strays = strays.map(|index| installed[*index]).collect();
        let gap = match (below, minimum) {
            (Some(below), Some(minimum)) => (below.minor + 1..minimum.minor).map(KubeVersion::minor).collect(),
            _ => Vec::new(),
        };
        let tested: Vec<Tested> = tested.into_iter().flatten().collect();
        let good: Vec<KubeVersion> =
            tested.iter().filter(|one| one.good && Some(one.release) >= minimum).map(|one| one.release).collect();
        Self {
            subject: subject.name.clone(),
            requirements,
            minimum,
            proven: minimum.is_some(),
            servers: searched.servers,
            window_servers: tested.len() - searched.servers,
            installed: installed.to_vec(),
            below,
            not_installed: gap,
            not_tested,
            strays,
            excluded: minimum
                .map(|minimum| excluded(subject, minimum, installed, &tested, suspects))
                .unwrap_or_default(),
            badge: minimum.map(badge),
            subject_file: minimum.map(|minimum| block(minimum, &good)),
            tested,
        }
    }
}

pub(super) fn list(releases: &[KubeVersion]) -> String {
    releases.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn badge(minimum: KubeVersion) -> String {
    format!("![Kubernetes {minimum} or later](https://img.shields.io/badge/Kubernetes-%E2%89%A5{minimum}-326ce5)")
}

/// Returns the lines of the subject file that state the minimum.
fn block(minimum: KubeVersion, good: &[KubeVersion]) -> String {
    let versions: Vec<String> = good.iter().map(|release| format!("\"{release}\"")).collect();
    let versions = if versions.is_empty() { String::new() } else { format!("  versions: [{}]\n", versions.join(", ")) };
    format!("kubernetes:\n  minimum: \"{minimum}\"\n{versions}")
}
