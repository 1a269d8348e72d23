//! What a CRD can use, from which release on. The table is data: `features.yaml`.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::KubeVersion;
use crate::document::{Sources, decode, parse};

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Feature {
    /// Its name.
    pub id: String,
    /// What it is, for messages.
    pub what: String,
    /// The first release in which a new CRD may rely on it by default.
    pub since: KubeVersion,
    /// What a server before that does.
    pub older: Older,
    /// Whether objects keep their meaning without it.
    #[serde(default)]
    pub harmless: bool,
    /// How its use is recognised.
    pub found: Found,
    /// Where the release comes from.
    pub source: String,
}

/// What a server that is too old does with a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Older {
    /// Refuses the CRD.
    Refuses,
    /// Leaves it out silently.
    Drops,
    /// Keeps it without effect.
    Ignores,
}

/// How the use of a feature is recognised; exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Found {
    /// See the table's head.
    pub keyword: Option<String>,
    /// See the table's head.
    pub format: Option<String>,
    /// See the table's head.
    pub version_field: Option<String>,
    /// See the table's head.
    pub rule_key: Option<String>,
    /// See the table's head.
    pub rule_matches: Option<String>,
    /// See the table's head.
    pub review_versions_without: Option<String>,
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
            let regex = row.found.rule_matches.as_ref().and_then(|pattern| Regex::new(pattern).ok());
            (row, regex)
        })
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        let mut sources = Sources::default();
        let id = sources.add("features.yaml", TABLE);
        let rows: Vec<Feature> = decode(&parse(&sources, id).unwrap()[0]).unwrap();
        assert_eq!(rows.len(), FEATURES.len());
        for (index, row) in rows.iter().enumerate() {
            assert!(rows[..index].iter().all(|other| other.id != row.id), "{} stands twice", row.id);
            assert!(row.source.starts_with("https://"), "{}: no source", row.id);
            let Found { keyword, format, version_field, rule_key, rule_matches, review_versions_without } = &row.found;
            let ways = [keyword, format, version_field, rule_key, rule_matches, review_versions_without];
            assert_eq!(ways.into_iter().flatten().count(), 1, "{}: exactly one way to recognise it", row.id);
            if let Some(pattern) = rule_matches {
                Regex::new(pattern).unwrap();
            }
            assert!((KubeVersion::OLDEST..=KubeVersion::NEWEST).contains(&row.since), "{}", row.id);
        }
    }
}
