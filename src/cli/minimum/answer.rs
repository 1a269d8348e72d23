//! What `minimum` found, as data and as text.

use crate::operate::minimum::Sight;
use crate::subject::{Subject, Used, features_of};
use crdproof_schema::kubernetes::KubeVersion;
use serde::Serialize;

use super::windows::{Excluded, Touched, excluded};

/// So many reasons are shown; JSON has all.
const SHOWN: usize = 3;

/// What the manifests need.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Derived {
    /// The release.
    pub(super) minimum: KubeVersion,
    /// The features that need a release, the newest first.
    because: Vec<Because>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Because {
    crd: String,
    what: &'static str,
    since: KubeVersion,
    place: String,
    older: &'static str,
    harmless: bool,
}

impl Derived {
    pub(super) fn of(subject: &Subject) -> Self {
        let mut because = Vec::new();
        for crd in &subject.crds {
            because.extend(features_of(crd).into_iter().map(|Used { feature, since, span }| Because {
                crd: crd.name.clone(),
                what: &feature.what,
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

    /// Whether a release has everything, by table.
    pub(super) fn allows(&self, release: KubeVersion) -> bool {
        release.minor >= self.minimum.minor
    }
}

/// A release that was asked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tested {
    pub(super) release: KubeVersion,
    pub(super) good: bool,
    #[serde(flatten)]
    pub(super) sight: Sight,
}

/// What the search found, by index of the installed releases.
pub(super) struct Found {
    pub(super) lowest: Option<usize>,
    pub(super) strays: Vec<usize>,
    /// How many servers it took.
    pub(super) servers: usize,
}

/// What was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    subject: String,
    derived: Derived,
    /// The lowest release that works; where nothing was tried, the one that the manifests need.
    pub(super) minimum: Option<KubeVersion>,
    proven: bool,
    /// Servers of the search.
    servers: usize,
    /// Servers for windows of known defects.
    window_servers: usize,
    installed: Vec<KubeVersion>,
    tested: Vec<Tested>,
    /// The highest release that does not work.
    below: Option<KubeVersion>,
    /// Minor releases between the two that are not available.
    not_installed: Vec<KubeVersion>,
    not_tested: Vec<KubeVersion>,
    /// Releases that work although a later one does not.
    strays: Vec<KubeVersion>,
    excluded: Vec<Excluded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    badge: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject_file: Option<String>,
}

impl Answer {
    pub(super) fn derived_only(subject: &Subject, derived: Derived) -> Self {
        let minimum = Some(derived.minimum);
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
            derived,
        }
    }

    pub(super) fn proven(
        subject: &Subject,
        derived: Derived,
        installed: &[KubeVersion],
        tested: Vec<Option<Tested>>,
        found: &Found,
        touched: &[Touched],
    ) -> Self {
        let good = |index: usize| tested.get(index).and_then(Option::as_ref).map(|one| one.good);
        // Releases that were tried apart and lie right below work as well.
        let lowest = found
            .lowest
            .map(|lowest| (0..lowest).rev().take_while(|index| good(*index) == Some(true)).last().unwrap_or(lowest));
        let minimum = lowest.map(|index| installed[index]);
        let below = (0..lowest.unwrap_or(installed.len())).rev().find(|index| good(*index) == Some(false));
        let below = below.map(|index| installed[index]);
        let not_tested =
            (0..installed.len()).filter(|index| good(*index).is_none()).map(|index| installed[index]).collect();
        let strays = found.strays.iter().filter(|index| lowest.is_none_or(|lowest| **index < lowest));
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
            derived,
            minimum,
            proven: minimum.is_some(),
            servers: found.servers,
            window_servers: tested.len() - found.servers,
            installed: installed.to_vec(),
            below,
            not_installed: gap,
            not_tested,
            strays,
            excluded: minimum
                .map(|minimum| excluded(subject, minimum, installed, &tested, touched))
                .unwrap_or_default(),
            badge: minimum.map(badge),
            subject_file: minimum.map(|minimum| block(minimum, &good)),
            tested,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut lines = vec![self.head()];
        for because in self.derived.because.iter().take(SHOWN) {
            let Because { what, since, place, older, harmless, .. } = because;
            let harmless = if *harmless { ", which is harmless" } else { "" };
            lines.push(format!("  {what} needs {since} ({place}); the release before {older}{harmless}"));
        }
        if let Some(below) = self.tested.iter().find(|one| Some(one.release) == self.below) {
            let lacks = &below.sight.lacks;
            lines.extend(lacks.iter().take(SHOWN).map(|lack| format!("✗ {} {lack}", below.release)));
            if lacks.len() > SHOWN {
                lines.push(format!("  and {} more; --format json has them", lacks.len() - SHOWN));
            }
            lines.extend(below.sight.warnings.iter().map(|warning| format!("⚠ {} warns: {warning}", below.release)));
        }
        if !self.strays.is_empty() {
            lines.push(format!("⚠ it also works on {}: the order of releases does not decide", list(&self.strays)));
        }
        if let Some(minimum) = self.minimum.filter(|minimum| self.proven && !self.derived.allows(*minimum)) {
            let derived = self.derived.minimum;
            lines.push(format!(
                "⚠ the manifests need {derived} by table, and nothing that was tried on {minimum} shows it"
            ));
        }
        for one in &self.excluded {
            lines.extend(one.lines());
            let seen = self.tested.iter().filter(|tested| one.seen.contains(&tested.release));
            let first = seen.filter_map(|tested| Some((tested.release, tested.sight.lacks.first()?)));
            lines.extend(first.map(|(release, lack)| format!("  {release} {lack}")));
        }
        if let Some(minimum) = self.minimum.filter(|_| self.proven && self.below.is_none()) {
            lines.push(format!("○ nothing below {minimum} is installed"));
        }
        if !self.not_installed.is_empty() {
            lines.push(format!("○ not installed, so not tested: {}", list(&self.not_installed)));
        }
        if !self.not_tested.is_empty() {
            lines.push(format!("○ not tested: {}", list(&self.not_tested)));
        }
        for block in self.subject_file.iter().chain(&self.badge) {
            lines.push(format!("\n{}", block.trim_end()));
        }
        lines.join("\n") + "\n"
    }

    fn head(&self) -> String {
        let derived = self.derived.minimum;
        match self.minimum {
            Some(minimum) if !self.proven => format!("✔ Kubernetes {minimum} by the manifests; nothing was tried"),
            Some(minimum) => {
                let not_on: String = self
                    .excluded
                    .iter()
                    .filter(|one| !one.seen.is_empty())
                    .map(|one| format!(", not on {} ({})", one.windows.join(", "), one.id))
                    .collect();
                let apart = match self.window_servers {
                    0 => String::new(),
                    count => format!(" and {count} for windows"),
                };
                format!(
                    "✔ Kubernetes {minimum} is the lowest of {} installed releases that works{not_on} ({} servers{apart}); by the manifests {derived}",
                    self.installed.len(),
                    self.servers
                )
            }
            None if self.strays.is_empty() => format!(
                "✗ none of the {} releases that were asked works, of {} installed; by the manifests {derived}",
                self.servers,
                self.installed.len()
            ),
            None => format!("✗ the newest installed release does not work; by the manifests {derived}"),
        }
    }
}

pub(super) fn list(releases: &[KubeVersion]) -> String {
    releases.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn badge(minimum: KubeVersion) -> String {
    format!("![Kubernetes {minimum} or later](https://img.shields.io/badge/Kubernetes-%E2%89%A5{minimum}-326ce5)")
}

/// What the subject file says then.
fn block(minimum: KubeVersion, good: &[KubeVersion]) -> String {
    let versions: Vec<String> = good.iter().map(|release| format!("\"{release}\"")).collect();
    let versions = if versions.is_empty() { String::new() } else { format!("  versions: [{}]\n", versions.join(", ")) };
    format!("kubernetes:\n  minimum: \"{minimum}\"\n{versions}")
}
