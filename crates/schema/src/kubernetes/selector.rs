//! Selecting releases.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KubeVersion;

/// A selection of releases: one, except for ranges and `installed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = PATTERN))]
pub enum Selector {
    /// `1.36`: any patch of that minor, preferably an installed one.
    Minor(u32),
    /// `1.36.4`: exactly this release.
    Exact(KubeVersion),
    /// `~1.31` or `~1.31.4`: the newest patch of that minor that any source has, but not older than the named one.
    Tilde(KubeVersion),
    /// `latest`: the newest release that any source has.
    Latest,
    /// `1.30..1.37`: one release of each minor. `1.36.2..1.36.4`: every release between these two.
    Range(Range),
    /// `installed`: everything in the cache.
    Installed,
}

/// The pattern of selectors, for the JSON Schema of files.
const PATTERN: &str = r"^(~?v?1\.\d+(\.\d+)?|(v?1\.\d+(\.\d+)?)?\.\.=?(v?1\.\d+(\.\d+)?)?|latest|installed)$";

/// Releases between two ends, both included. An end without a patch includes all patches of its minor, and a missing
/// end is the oldest or the newest known release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    from: Option<KubeVersion>,
    to: Option<KubeVersion>,
}

/// An error for an invalid selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} selects no release: {reason}")]
pub struct SelectorError {
    /// The text.
    pub text: String,
    /// Its defect.
    pub reason: String,
}

/// The help of every error about selectors.
pub const SELECTOR_HELP: &str = "write 1.36 (any patch), 1.36.4, ~1.31 (its newest patch), 1.30..1.37, 1.30.. or ..1.37 \
                                 (each minor), 1.36.2..1.36.4 (each patch), latest or installed";

/// Maximum number of minors; more are a typing error.
const MAX_MINORS: u32 = 100;

impl Selector {
    /// Returns true if a release is selected.
    pub fn matches(self, version: KubeVersion) -> bool {
        match self {
            Self::Minor(minor) => version.minor == minor,
            Self::Exact(wanted) => version == wanted,
            Self::Tilde(least) => version.minor == least.minor && version.patch >= least.patch,
            Self::Latest | Self::Installed => true,
            Self::Range(range) => range.holds(version),
        }
    }

    /// Returns true if a newer patch elsewhere is preferred to an installed one.
    pub fn wants_newest(self) -> bool {
        match self {
            Self::Tilde(_) | Self::Latest => true,
            Self::Minor(_) | Self::Exact(_) | Self::Range(_) | Self::Installed => false,
        }
    }

    /// The lowest selected release, if the text names it.
    pub fn lowest(self) -> Option<KubeVersion> {
        match self {
            Self::Minor(minor) => Some(KubeVersion::minor(minor)),
            Self::Exact(version) | Self::Tilde(version) => Some(version),
            Self::Range(range) => Some(range.from.unwrap_or(KubeVersion::OLDEST)),
            Self::Latest | Self::Installed => None,
        }
    }

    /// Returns one selector for each release that this one stands for, given the known releases. Includes unknown
    /// minors of a range, so that they are reported as not installable.
    pub fn singles(self, known: &[KubeVersion]) -> Vec<Self> {
        match self {
            Self::Range(range) if range.is_of_patches() => {
                let exact = exact(known.iter().copied().filter(|version| range.holds(*version)));
                if exact.is_empty() { vec![self] } else { exact }
            }
            Self::Range(range) => range.minors(known).map(|minor| range.within(minor)).collect(),
            Self::Installed => exact(known.iter().copied()),
            Self::Minor(_) | Self::Exact(_) | Self::Tilde(_) | Self::Latest => vec![self],
        }
    }
}

/// Each release once, oldest first.
fn exact(versions: impl Iterator<Item = KubeVersion>) -> Vec<Selector> {
    let versions: std::collections::BTreeSet<KubeVersion> = versions.collect();
    versions.into_iter().map(Selector::Exact).collect()
}

impl Range {
    fn holds(self, version: KubeVersion) -> bool {
        let until = |to: KubeVersion| if to.patch.is_some() { version <= to } else { version.minor <= to.minor };
        self.from.is_none_or(|from| from <= version) && self.to.is_none_or(until)
    }

    /// Returns true if it is about the patches of one minor.
    pub fn is_of_patches(self) -> bool {
        let (Some(from), Some(to)) = (self.from, self.to) else { return false };
        from.minor == to.minor && from.patch.is_some() && to.patch.is_some()
    }

    fn minors(self, known: &[KubeVersion]) -> std::ops::RangeInclusive<u32> {
        let newest = known.iter().copied().max().unwrap_or(KubeVersion::NEWEST).max(KubeVersion::NEWEST).minor;
        let oldest = KubeVersion::OLDEST.minor;
        let (from, to) = (self.from.map(|end| end.minor), self.to.map(|end| end.minor));
        let first = from.unwrap_or_else(|| oldest.min(to.unwrap_or(oldest)));
        first..=to.unwrap_or_else(|| newest.max(first))
    }

    /// Returns the part of one minor.
    fn within(self, minor: u32) -> Selector {
        let cut = |end: Option<KubeVersion>| end.filter(|end| end.minor == minor && end.patch.is_some());
        let whole = KubeVersion::minor(minor);
        match (cut(self.from), cut(self.to)) {
            (None, None) => Selector::Minor(minor),
            (from, to) => Selector::Range(Self { from: Some(from.unwrap_or(whole)), to: Some(to.unwrap_or(whole)) }),
        }
    }

    /// `Err` is the problem.
    fn read(from: &str, to: &str) -> Result<Self, &'static str> {
        let end = |text: &str| match text {
            "" => Ok(None),
            text => plain(text).map(Some).ok_or("an end of a range is a release, such as 1.30 or 1.30.4"),
        };
        let (from, to) = (end(from)?, end(to.strip_prefix('=').unwrap_or(to))?);
        match (from, to) {
            (None, None) => return Err("a range has at least one end"),
            (Some(from), Some(to)) => {
                let patches = from.patch.zip(to.patch).is_some_and(|(from, to)| from > to);
                if from.minor > to.minor || (from.minor == to.minor && patches) {
                    return Err("the range ends before it begins");
                }
            }
            _ => {}
        }
        if [from, to].into_iter().flatten().any(|end| end.minor > MAX_MINORS) {
            return Err("there is no such minor");
        }
        Ok(Self { from, to })
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let wrong = |reason: &str| SelectorError { text: text.to_owned(), reason: reason.to_owned() };
        match text {
            "latest" => return Ok(Self::Latest),
            "installed" => return Ok(Self::Installed),
            _ => {}
        }
        if let Some((from, to)) = text.split_once("..") {
            return Range::read(from, to).map(Self::Range).map_err(wrong);
        }
        if let Some(rest) = text.strip_prefix('~') {
            return plain(rest).map(Self::Tilde).ok_or_else(|| wrong("a tilde stands before a release"));
        }
        match plain(text) {
            Some(KubeVersion { minor, patch: None }) => Ok(Self::Minor(minor)),
            Some(version) => Ok(Self::Exact(version)),
            None => Err(wrong("it is not a Kubernetes release")),
        }
    }
}

impl TryFrom<String> for Selector {
    type Error = SelectorError;

    fn try_from(text: String) -> Result<Self, SelectorError> {
        text.parse()
    }
}

impl From<Selector> for String {
    fn from(selector: Selector) -> Self {
        selector.to_string()
    }
}

/// A release as the Kubernetes project names it, without a suffix.
fn plain(text: &str) -> Option<KubeVersion> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let version: KubeVersion = text.parse().ok()?;
    (version.to_string() == text).then_some(version)
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minor(minor) => write!(f, "1.{minor}"),
            Self::Exact(version) => write!(f, "{version}"),
            Self::Tilde(version) => write!(f, "~{version}"),
            Self::Latest => f.write_str("latest"),
            Self::Range(Range { from, to }) => {
                let end = |end: &Option<KubeVersion>| end.map(|end| end.to_string()).unwrap_or_default();
                write!(f, "{}..{}", end(from), end(to))
            }
            Self::Installed => f.write_str("installed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1.36")]
    #[case("1.36.4")]
    #[case("~1.31")]
    #[case("~1.31.4")]
    #[case("latest")]
    #[case("1.30..1.37")]
    #[case("1.30..")]
    #[case("..1.31.4")]
    #[case("1.36.2..1.36.4")]
    #[case("installed")]
    fn a_selector_is_written_as_it_was_read(#[case] text: &str) {
        assert_eq!(text.parse::<Selector>().unwrap().to_string(), text);
    }

    #[rstest]
    #[case("", "it is not a Kubernetes release")]
    #[case("2.0", "it is not a Kubernetes release")]
    #[case("1.36.4-rc.1", "it is not a Kubernetes release")]
    #[case("1.36.x", "it is not a Kubernetes release")]
    #[case("~latest", "a tilde stands before a release")]
    #[case("..", "a range has at least one end")]
    #[case("..=", "a range has at least one end")]
    #[case("1.30..x", "an end of a range is a release, such as 1.30 or 1.30.4")]
    #[case("1.30..1.31..1.32", "an end of a range is a release, such as 1.30 or 1.30.4")]
    #[case("~1.30..1.31", "an end of a range is a release, such as 1.30 or 1.30.4")]
    #[case("1.30..latest", "an end of a range is a release, such as 1.30 or 1.30.4")]
    #[case("1.31..1.30", "the range ends before it begins")]
    #[case("1.31.4..1.30", "the range ends before it begins")]
    #[case("1.36.4..1.36.2", "the range ends before it begins")]
    #[case("1.30..1.4000", "there is no such minor")]
    fn invalid_selectors_are_reported(#[case] text: &str, #[case] reason: &str) {
        assert_eq!(text.parse::<Selector>().unwrap_err().reason, reason);
    }

    #[rstest]
    #[case("1.31", "1.31.9", true)]
    #[case("1.31.4", "1.31.9", false)]
    #[case("~1.31.4", "1.31.9", true)]
    #[case("~1.31.4", "1.31.3", false)]
    #[case("1.30..1.31", "1.31.9", true)]
    #[case("1.30..1.31", "1.32.0", false)]
    #[case("1.30..", "1.99.0", true)]
    #[case("1.30..", "1.29.9", false)]
    #[case("..1.31", "1.31.9", true)]
    #[case("..1.31.4", "1.31.9", false)]
    #[case("1.31.4..1.33", "1.31.3", false)]
    #[case("1.31.4..1.33", "1.33.9", true)]
    #[case("1.36.2..1.36.4", "1.36.4", true)]
    #[case("1.36.2..1.36", "1.36.9", true)]
    #[case("latest", "1.16.0", true)]
    fn selectors_match_releases(#[case] selector: &str, #[case] version: &str, #[case] picked: bool) {
        assert_eq!(selector.parse::<Selector>().unwrap().matches(version.parse().unwrap()), picked);
    }

    #[rstest]
    #[case("1.30..1.32", "1.30 1.31 1.32")]
    #[case("1.30..=1.31", "1.30 1.31")]
    #[case("1.36..", "1.36 1.37 1.38")]
    #[case("1.40..", "1.40")]
    #[case("..1.18", "1.16 1.17 1.18")]
    #[case("..1.9", "1.9")]
    #[case("1.36.2..1.37", "1.36.2..1.36 1.37")]
    #[case("1.35..1.36.2", "1.35 1.36..1.36.2")]
    #[case("1.36.2..1.36.4", "1.36.2 1.36.4")]
    #[case("1.31.1..1.31.2", "1.31.1..1.31.2")]
    #[case("installed", "1.36.1 1.36.2 1.36.4 1.38.0")]
    #[case("~1.31", "~1.31")]
    fn a_range_is_one_release_of_each_minor_or_all_patches(#[case] selector: &str, #[case] expected: &str) {
        let known = ["1.38.0", "1.36.4", "1.36.2", "1.36.4", "1.36.1"].map(|version| version.parse().unwrap());
        let singles = selector.parse::<Selector>().unwrap().singles(&known);
        assert_eq!(singles.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), expected);
    }

    #[rstest]
    #[case("1.31", Some("1.31"))]
    #[case("~1.31.4", Some("1.31.4"))]
    #[case("1.28..1.31", Some("1.28"))]
    #[case("..1.31", Some("1.16"))]
    #[case("latest", None)]
    fn the_lowest_release_is_known(#[case] selector: &str, #[case] lowest: Option<&str>) {
        let lowest = lowest.map(|version| version.parse().unwrap());
        assert_eq!(selector.parse::<Selector>().unwrap().lowest(), lowest);
    }

    #[rstest]
    fn the_pattern_of_files_agrees(
        #[values(
            "1.36",
            "v1.36.4",
            "~1.31",
            "latest",
            "1.30..1.37",
            "1.30..",
            "..=1.31.4",
            "installed",
            "1.x",
            "1.36-rc",
            "a..b"
        )]
        text: &str,
    ) {
        let valid = regex::Regex::new(PATTERN).unwrap().is_match(text);
        assert_eq!(text.parse::<Selector>().is_ok(), valid);
    }
}
