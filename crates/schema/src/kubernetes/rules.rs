//! Defects of API servers by release. The table is data: `rules.yaml`.

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::{KubeVersion, ServerVersion};
use crate::document::{Sources, decode, parse};

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerRule {
    /// `V01` and so on.
    pub id: String,
    /// The guarantee's name, without the prefix `server/`.
    pub name: String,
    /// The guarantee as a clause.
    pub title: String,
    /// The releases that violate it.
    pub bad: Vec<Window>,
    /// The first fixed releases, one for each line.
    pub good: Vec<Fix>,
    /// The version of the server that decides.
    #[serde(default)]
    pub reads: Reads,
    /// Its severity.
    pub severity: Weight,
    /// The harm for CRDs with several versions.
    pub breaks: String,
    /// Words of a CRD that it may affect; empty if it does not depend on the CRD.
    #[serde(default)]
    pub touches: Vec<String>,
    /// Probes that detect it.
    #[serde(default)]
    pub probes: Vec<String>,
    /// The reason for having no probe, if there is none.
    #[serde(default)]
    pub untested: Option<String>,
    /// Its source.
    pub source: String,
}

/// The severity of a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Harmless.
    Note,
    /// Harmful under some conditions.
    Warning,
    /// Loses data or ownership, or blocks.
    Error,
}

/// The version of a server that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    /// The version of its code.
    #[default]
    Binary,
    /// The release that it emulates.
    Emulation,
    /// The oldest release that it must be compatible with.
    Compatibility,
}

/// Releases from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Window {
    /// The first release.
    pub from: KubeVersion,
    /// The last release; `None` if there is no fix yet.
    pub to: Option<KubeVersion>,
}

impl TryFrom<String> for Window {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (from, to) =
            text.split_once("..").ok_or_else(|| format!("{text:?} is not a window such as 1.16.0..1.16.10"))?;
        let release = |text: &str| text.parse::<KubeVersion>().map_err(|error| error.to_string());
        let to = if to.is_empty() { None } else { Some(release(to)?) };
        Ok(Self { from: release(from)?, to })
    }
}

/// A release that fixes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fix {
    /// The release.
    pub release: KubeVersion,
    /// The reason why it matters.
    #[serde(default)]
    pub why: String,
}

/// The state of a server by a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "standing")]
pub enum Standing {
    /// It does not have the defect.
    Good,
    /// It has the defect.
    Bad {
        /// The nearest release with a fix, if any.
        fixed_in: Option<KubeVersion>,
    },
    /// The version does not decide.
    Unclear {
        /// The reason.
        why: String,
    },
}

const TABLE: &str = include_str!("rules.yaml");

/// The rows of the table.
pub static RULES: LazyLock<Vec<ServerRule>> = LazyLock::new(|| {
    let mut sources = Sources::default();
    let id = sources.add("rules.yaml", TABLE);
    let documents = parse(&sources, id).unwrap_or_default();
    documents.first().and_then(|table| decode(table).ok()).unwrap_or_default()
});

impl ServerRule {
    /// Returns the standing of a server by its version.
    pub fn judge(&self, server: &ServerVersion) -> Standing {
        let release = match self.reads {
            Reads::Binary => server.release,
            Reads::Emulation => server.behaves_as(),
            Reads::Compatibility => server.compatible_with.unwrap_or_else(|| server.behaves_as()),
        };
        if server.pre_release.is_some() && self.good.iter().any(|fix| fix.release == release) {
            let why = format!("{release} mends it, and this is a release before that");
            return Standing::Unclear { why };
        }
        if self.bad.iter().any(|window| window.has_all_of(release)) {
            return Standing::Bad { fixed_in: self.next_good(release) };
        }
        if release.patch.is_none() && self.bad.iter().any(|window| window.has_some_of(release.minor)) {
            return Standing::Unclear {
                why: format!("some patches of {release} have it, and the patch is not stated"),
            };
        }
        Standing::Good
    }

    /// Returns true if it may affect users of these CRDs, given as text; with `any` also if no CRD suggests it.
    pub fn may_affect(&self, crds: &str, any: bool) -> bool {
        if self.touches.is_empty() { any } else { self.touches.iter().any(|word| crds.contains(word)) }
    }

    /// The nearest release that fixes it for users of this one.
    fn next_good(&self, release: KubeVersion) -> Option<KubeVersion> {
        self.good.iter().map(|fix| fix.release).filter(|fix| *fix > release).min()
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) if to.patch == Some(MAX_PATCH) => write!(f, "{} to every 1.{}", self.from, to.minor),
            Some(to) if to == self.from => write!(f, "{to}"),
            Some(to) => write!(f, "{} to {to}", self.from),
            None => write!(f, "{} and later", self.from),
        }
    }
}

impl Window {
    /// Returns true if a release is in it; without a patch, if all its patches are.
    pub fn has_all_of(self, release: KubeVersion) -> bool {
        let first = KubeVersion { patch: release.patch.or(Some(0)), ..release };
        let last = KubeVersion { patch: release.patch.or(Some(MAX_PATCH)), ..release };
        self.from <= first && self.to.is_none_or(|to| last <= to)
    }

    fn has_some_of(self, minor: u32) -> bool {
        self.from.minor <= minor && self.to.is_none_or(|to| minor <= to.minor)
    }
}

/// A patch number that no release reaches.
const MAX_PATCH: u32 = 99;

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn rule(id: &str) -> &'static ServerRule {
        RULES.iter().find(|rule| rule.id == id).unwrap()
    }

    #[test]
    fn the_table_is_sound() {
        let mut sources = Sources::default();
        let id = sources.add("rules.yaml", TABLE);
        let rows: Vec<ServerRule> = decode(&parse(&sources, id).unwrap()[0]).unwrap();
        assert_eq!(rows.len(), 38);
        assert_eq!(rows, *RULES);
        for (index, row) in rows.iter().enumerate() {
            assert_eq!(row.id, format!("V{:02}", index + 1));
            assert!(row.source.starts_with("https://"), "{}: no source", row.id);
            assert!(!row.bad.is_empty(), "{}: no bad release", row.id);
            for window in &row.bad {
                assert!(window.to.is_none_or(|to| window.from <= to), "{}: {window:?}", row.id);
                let whole = |release: KubeVersion| release.patch.is_some();
                assert!(whole(window.from) && window.to.is_none_or(whole), "{}: {window:?} without patches", row.id);
            }
            for Fix { release, .. } in &row.good {
                let server: ServerVersion = release.to_string().parse().unwrap();
                assert_eq!(row.judge(&server), Standing::Good, "{}: {release}", row.id);
            }
            assert_eq!(row.probes.is_empty(), row.untested.is_some(), "{}: a probe, or why there is none", row.id);
            let names = rows[..index].iter().filter(|other| other.name == row.name);
            assert_eq!(names.count(), 0, "{} stands twice", row.name);
        }
    }

    #[rstest]
    #[case("V01", "v1.16.10", Some("1.16.11"))]
    #[case("V01", "v1.17.6", Some("1.17.7"))]
    #[case("V01", "v1.18.3", Some("1.18.4"))]
    #[case("V01", "v1.18.3-eks-1", Some("1.18.4"))]
    #[case("V02", "v1.16.15", Some("1.18.18"))]
    #[case("V02", "v1.18.17", Some("1.18.18"))]
    #[case("V02", "v1.19.9", Some("1.19.10"))]
    #[case("V02", "v1.20.5", Some("1.20.6"))]
    #[case("V34", "v1.36.2+k3s1", Some("1.36.3"))]
    #[case("V35", "v1.36.4", Some("1.37.0"))]
    #[case("V37", "v1.37.1", None)]
    fn bad_releases_name_the_nearest_fix(#[case] id: &str, #[case] server: &str, #[case] fix: Option<&str>) {
        let fixed_in = fix.map(|release| release.parse().unwrap());
        assert_eq!(rule(id).judge(&server.parse().unwrap()), Standing::Bad { fixed_in });
    }

    #[rstest]
    #[case("V01", "v1.16.11")]
    #[case("V01", "v1.17.7")]
    #[case("V01", "v1.18.4")]
    #[case("V01", "v1.19.0")]
    #[case("V02", "v1.18.18")]
    #[case("V02", "v1.19.10")]
    #[case("V02", "v1.20.6")]
    #[case("V02", "v1.21.0")]
    #[case("V13", "v1.22.9")]
    #[case("V34", "v1.35.9")]
    #[case("V34", "v1.36.3")]
    fn good_releases_are_good(#[case] id: &str, #[case] server: &str) {
        assert_eq!(rule(id).judge(&server.parse().unwrap()), Standing::Good);
    }

    #[rstest]
    #[case("V01", "1.18")]
    #[case("V35", "v1.37.0-rc.1")]
    fn an_ambiguous_version_is_unclear(#[case] id: &str, #[case] server: &str) {
        assert!(matches!(rule(id).judge(&server.parse().unwrap()), Standing::Unclear { .. }));
    }

    #[test]
    fn a_whole_minor_needs_no_patch() {
        assert!(matches!(rule("V23").judge(&"1.20".parse().unwrap()), Standing::Bad { .. }));
        assert_eq!(rule("V23").judge(&"1.30".parse().unwrap()), Standing::Good);
    }

    #[rstest]
    #[case("V13", r#"{"x-kubernetes-preserve-unknown-fields":true}"#, false, true)]
    #[case("V13", "{}", true, false)]
    #[case("V12", r#"{"enum":["x",null]}"#, false, true)]
    #[case("V12", r#"{"enum":["x"]}"#, true, false)]
    #[case("V34", "{}", false, false)]
    #[case("V34", "{}", true, true)]
    fn words_of_a_crd_select_rules(#[case] id: &str, #[case] crds: &str, #[case] any: bool, #[case] touches: bool) {
        assert_eq!(rule(id).may_affect(crds, any), touches);
    }

    #[rstest]
    #[case("1.23.0..1.23.2", "1.23.0 to 1.23.2")]
    #[case("1.16.0..1.20.99", "1.16.0 to every 1.20")]
    #[case("1.27.0..1.27.0", "1.27.0")]
    #[case("1.20.6..", "1.20.6 and later")]
    fn windows_are_described(#[case] window: &str, #[case] words: &str) {
        assert_eq!(Window::try_from(window.to_owned()).unwrap().to_string(), words);
    }
}
