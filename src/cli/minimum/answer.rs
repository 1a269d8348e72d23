//! What `minimum` found, as data and as text.

use crdproof::journey::minimum::Sight;
use crdproof::kubernetes::{KubeVersion, RULES, ServerVersion, Standing, Weight};
use crdproof::run::bisect::Bound;
use crdproof::subject::{Subject, Used, features_of};
use serde::Serialize;

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

/// A known defect of releases that the minimum would allow.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Excluded {
    rule: String,
    id: &'static str,
    title: &'static str,
    releases: Vec<KubeVersion>,
    /// The nearest release without it, for the newest of them.
    mended: Option<KubeVersion>,
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
    servers: usize,
    at_hand: Vec<KubeVersion>,
    tested: Vec<Tested>,
    /// The highest release that does not work.
    below: Option<KubeVersion>,
    /// Minor releases between the two that are not at hand.
    not_at_hand: Vec<KubeVersion>,
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
            at_hand: Vec::new(),
            tested: Vec::new(),
            below: None,
            not_at_hand: Vec::new(),
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
        at_hand: &[KubeVersion],
        tested: Vec<Option<Tested>>,
        bound: &Bound,
    ) -> Self {
        let named = |indices: &[usize]| indices.iter().map(|index| at_hand[*index]).collect::<Vec<_>>();
        let minimum = bound.lowest.map(|index| at_hand[index]);
        let below = bound.below.map(|index| at_hand[index]);
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
            servers: tested.len(),
            at_hand: at_hand.to_vec(),
            below,
            not_at_hand: gap,
            not_tested: named(&bound.untested),
            strays: named(&bound.strays),
            excluded: minimum.map(|minimum| excluded(minimum, at_hand)).unwrap_or_default(),
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
            let Excluded { rule, id, releases, mended, .. } = one;
            let mended = mended.map_or_else(|| "no release has a fix".to_owned(), |mended| format!("needs >={mended}"));
            lines.push(format!(
                "⚠ excluded window, by table and not tested: {} for {rule} ({id}); {mended}",
                list(releases)
            ));
        }
        if let Some(minimum) = self.minimum.filter(|_| self.proven && self.below.is_none()) {
            lines.push(format!("○ nothing below {minimum} is at hand"));
        }
        if !self.not_at_hand.is_empty() {
            lines.push(format!("○ not at hand, and so not known: {}", list(&self.not_at_hand)));
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
            Some(minimum) => format!(
                "✔ Kubernetes {minimum} is the lowest of {} releases at hand that works ({} servers); by the manifests {derived}",
                self.at_hand.len(),
                self.servers
            ),
            None if self.strays.is_empty() => format!(
                "✗ none of the {} releases that were asked works, of {} at hand; by the manifests {derived}",
                self.servers,
                self.at_hand.len()
            ),
            None => format!("✗ the newest release at hand does not work; by the manifests {derived}"),
        }
    }
}

/// Known defects that lose or block, on releases at hand that the minimum allows.
fn excluded(minimum: KubeVersion, at_hand: &[KubeVersion]) -> Vec<Excluded> {
    let mut excluded = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.severity == Weight::Error) {
        let mut releases = Vec::new();
        let mut nearest = None;
        for release in at_hand.iter().filter(|release| **release >= minimum) {
            let server = release.to_string().parse::<ServerVersion>();
            if let Ok(Standing::Bad { mended }) = server.map(|server| rule.judge(&server)) {
                releases.push(*release);
                nearest = mended;
            }
        }
        if !releases.is_empty() {
            let (id, title) = (rule.id.as_str(), rule.title.as_str());
            excluded.push(Excluded { rule: format!("server/{}", rule.name), id, title, releases, mended: nearest });
        }
    }
    excluded
}

fn list(releases: &[KubeVersion]) -> String {
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
