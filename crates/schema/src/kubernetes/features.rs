//! Features of CRDs and their clients, and their support by releases. The table is data: `features.yaml`.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::KubeVersion;
use crate::document::{Sources, decode, parse};

/// One row of the table; its head explains the columns.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Feature {
    /// Its name.
    pub id: String,
    /// The area that it belongs to.
    pub area: Area,
    /// The description, for messages.
    pub what: String,
    /// The releases of its stages.
    pub stages: Stages,
    /// The first release in which a new CRD may rely on it, if the stages do not tell.
    since: Option<KubeVersion>,
    /// The feature that it is a part of.
    of: Option<String>,
    /// The reaction of a server without it.
    pub older: Older,
    /// True if objects keep their meaning without it.
    #[serde(default)]
    pub harmless: bool,
    /// The feature gate, if there is or was one.
    pub gate: Option<String>,
    /// The sign of its use in a manifest, if there is one.
    pub found: Option<Found>,
    /// True if no manifest shows it.
    #[serde(default)]
    pub server: bool,
    /// Additional information.
    pub note: Option<String>,
    /// The source of the releases.
    pub source: String,
}

/// The area of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Area {
    /// Fields of a CRD.
    Definition,
    /// Conversion and its reviews.
    Conversion,
    /// Keywords of schemas.
    Keyword,
    /// `format`.
    Format,
    /// `x-kubernetes-validations`.
    Rule,
    /// Writing objects.
    Write,
    /// Admission of writes.
    Admission,
    /// Reading objects.
    Read,
    /// Storage version migration.
    Migration,
}

impl Area {
    /// Returns the heading of the area.
    pub fn title(self) -> &'static str {
        match self {
            Self::Definition => "Definition",
            Self::Conversion => "Conversion",
            Self::Keyword => "Keywords of schemas",
            Self::Format => "Formats",
            Self::Rule => "Rules",
            Self::Write => "Writing",
            Self::Admission => "Admission",
            Self::Read => "Reading",
            Self::Migration => "Storage version migration",
        }
    }
}

/// The releases in which a feature reached each stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Stages {
    /// Alpha, off by default.
    pub alpha: Option<KubeVersion>,
    /// Beta, off by default.
    pub beta_off: Option<KubeVersion>,
    /// Beta, on by default.
    pub beta_on: Option<KubeVersion>,
    /// Generally available.
    pub ga: Option<KubeVersion>,
    /// Removed.
    pub removed: Option<KubeVersion>,
}

/// The reaction of a server that is too old for a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Older {
    /// Refuses the CRD, or the request.
    Refuses,
    /// Leaves it out silently.
    Drops,
    /// Keeps it without effect.
    Ignores,
}

impl Older {
    /// Returns the reaction of such a server to a CRD.
    pub fn does(self) -> &'static str {
        match self {
            Self::Refuses => "refuses the CRD",
            Self::Drops => "drops it silently",
            Self::Ignores => "keeps it without effect",
        }
    }

    /// Returns the consequence for a CRD on such a server.
    pub fn consequence(self) -> &'static str {
        match self {
            Self::Refuses => "the CRD would be refused",
            Self::Drops => "it would be dropped silently",
            Self::Ignores => "it would be kept without effect",
        }
    }
}

/// The sign of a feature in a CRD; exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Found {
    /// A keyword of a schema.
    pub keyword: Option<String>,
    /// Names of formats.
    pub formats: Option<Vec<String>>,
    /// A field of a version, by its path.
    pub version_field: Option<String>,
    /// A field of the spec, by its path.
    pub spec_field: Option<String>,
    /// A key of a rule.
    pub rule_key: Option<String>,
    /// A pattern of rules.
    pub rule_matches: Option<String>,
    /// Names that a rule selects: `reserved word` is a property whose name CEL reserves.
    pub rule_selects: Option<String>,
    /// A review version that is missing from the list.
    pub review_versions_without: Option<String>,
}

impl Feature {
    /// The first release in which a new CRD may rely on it by default; `None` if there is none.
    pub fn since(&self) -> Option<KubeVersion> {
        self.since.or(self.stages.beta_on).or(self.stages.ga)
    }

    /// Returns the feature that it is a part of.
    pub fn whole(&self) -> Option<&'static Feature> {
        let of = self.of.as_deref()?;
        FEATURES.iter().map(|(feature, _)| feature).find(|feature| feature.id == of)
    }

    /// Returns the reaction of a release without it. If the release also lacks the feature that it is a part of, that
    /// decides.
    pub fn on(&self, release: KubeVersion) -> Older {
        let lacks = |whole: &&Feature| whole.since().is_none_or(|since| release.minor < since.minor);
        self.whole().filter(lacks).map_or(self.older, |whole| whole.on(release))
    }
}

/// The table, as shipped.
const TABLE: &str = include_str!("features.yaml");

/// The rows of the table, each with its compiled `ruleMatches`.
pub static FEATURES: LazyLock<Vec<(Feature, Option<Regex>)>> = LazyLock::new(|| {
    let mut sources = Sources::default();
    let id = sources.add("features.yaml", TABLE);
    let documents = parse(&sources, id).unwrap_or_default();
    let rows: Vec<Feature> = documents.first().and_then(|table| decode(table).ok()).unwrap_or_default();
    rows.into_iter()
        .map(|row| {
            let pattern = row.found.as_ref().and_then(|found| found.rule_matches.as_ref());
            let regex = pattern.and_then(|pattern| Regex::new(pattern).ok());
            (row, regex)
        })
        .collect()
});

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn rows() -> Vec<Feature> {
        let mut sources = Sources::default();
        let id = sources.add("features.yaml", TABLE);
        decode(&parse(&sources, id).unwrap()[0]).unwrap()
    }

    fn row(id: &str) -> &'static Feature {
        FEATURES.iter().map(|(feature, _)| feature).find(|feature| feature.id == id).unwrap()
    }

    #[test]
    fn the_table_is_sound() {
        let rows = rows();
        assert_eq!(rows.len(), FEATURES.len());
        assert!(rows.is_sorted_by_key(|row| row.area), "the areas are in order");
        for (index, row) in rows.iter().enumerate() {
            let id = &row.id;
            assert!(rows[..index].iter().all(|other| other.id != *id), "{id} stands twice");
            assert!(id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'), "{id}");
            assert!(row.source.starts_with("https://") && !row.source.contains(' '), "{id}: no source");
            let of = row.of.as_ref();
            assert!(of.is_none_or(|of| rows[..index].iter().any(|row| row.id == *of)), "{id}: no {of:?} before it");
            assert_eq!(row.found.is_some(), !row.server, "{id}: recognised in a manifest, or a matter of servers");
        }
    }

    #[test]
    fn stages_are_ordered_and_give_the_first_release() {
        for row in rows() {
            let Stages { alpha, beta_off, beta_on, ga, removed } = row.stages;
            let id = &row.id;
            let stages: Vec<_> = [alpha, beta_off, beta_on, ga, removed].into_iter().flatten().collect();
            assert!(!stages.is_empty() && stages.is_sorted_by(|left, right| left < right), "{id}: {stages:?}");
            assert!(stages.iter().all(|stage| stage.patch.is_none()), "{id}: stages are minors");
            assert!(stages.iter().all(|stage| *stage <= KubeVersion::NEWEST), "{id}: a stage that nobody has seen");
            if let Some(since) = row.since {
                // A feature that one release understands is accepted in new CRDs by the next.
                let came = beta_on.or(ga).unwrap();
                assert_eq!(since, KubeVersion::minor(came.minor + 1), "{id}: the stages say as much");
            }
            assert!(row.server || row.since().is_some(), "{id}: nobody may use it");
            assert!(!row.harmless || row.found.is_some(), "{id}: nobody asks whether it is harmless");
        }
    }

    #[test]
    fn each_feature_has_one_sign() {
        for row in rows() {
            let Some(found) = &row.found else { continue };
            let Found { keyword, formats, version_field, spec_field, rule_key, rule_matches, .. } = found;
            let ways = [keyword, version_field, spec_field, rule_key, rule_matches];
            let ways = ways.into_iter().chain([&found.rule_selects, &found.review_versions_without]);
            let ways: Vec<_> = ways.collect();
            assert_eq!(ways.into_iter().flatten().count() + usize::from(formats.is_some()), 1, "{}", row.id);
            assert!(formats.as_ref().is_none_or(|formats| !formats.is_empty()), "{}", row.id);
            if let Some(pattern) = rule_matches {
                Regex::new(pattern).unwrap();
                assert_eq!(row.area, Area::Rule, "{}", row.id);
            }
        }
    }

    #[rstest]
    #[case("cel-rules", Some("1.25"))]
    #[case("cel-quantity", Some("1.29"))]
    #[case("validating-admission-policies", Some("1.30"))]
    #[case("migration-v1", Some("1.37"))]
    #[case("migration-v1beta1", None)]
    #[case("cbor", None)]
    fn since_is_the_first_release_that_has_it_on(#[case] id: &str, #[case] since: Option<&str>) {
        assert_eq!(row(id).since(), since.map(|since| since.parse().unwrap()));
    }

    /// The behaviour of servers of these releases.
    #[rstest]
    #[case("cel-rules", "1.24.17", Older::Drops)]
    #[case("cel-ip", "1.30.14", Older::Refuses)]
    #[case("cel-ip", "1.24.17", Older::Drops)]
    #[case("cel-semver", "1.33.13", Older::Refuses)]
    #[case("selectable-fields", "1.30.14", Older::Drops)]
    #[case("review-v1-only", "1.16.15", Older::Refuses)]
    fn a_part_needs_the_whole_feature(#[case] id: &str, #[case] release: &str, #[case] older: Older) {
        assert_eq!(row(id).on(release.parse().unwrap()), older);
    }
}
