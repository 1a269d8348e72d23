//! Which releases are wanted.

use std::fmt;
use std::str::FromStr;

use crate::kubernetes::KubeVersion;

/// Which releases are wanted. One, except for ranges and what is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Selector {
    /// `1.36`: any patch of that minor, rather one that is here already.
    Minor(u32),
    /// `1.36.4`: this release and no other.
    Exact(KubeVersion),
    /// `~1.31` or `~1.31.4`: the newest patch of that minor that any source has, and none before the one named.
    Tilde(KubeVersion),
    /// `latest`: the newest release that any source has.
    Latest,
    /// `1.30..1.37`: one release of each minor, both ends included.
    Range(u32, u32),
    /// `installed`: everything in the cache.
    Installed,
}

/// A text that selects nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} selects no release: {reason}")]
pub struct SelectorError {
    /// What was written.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What every error about selectors ends with.
pub const SELECTOR_HELP: &str =
    "write 1.36 (any patch), 1.36.4, ~1.31 (its newest patch), 1.30..1.37 (each minor), latest or installed";

impl Selector {
    /// Whether a release is one of those that are wanted.
    pub fn matches(self, version: KubeVersion) -> bool {
        match self {
            Self::Minor(minor) => version.minor == minor,
            Self::Exact(wanted) => version == wanted,
            Self::Tilde(least) => version.minor == least.minor && version.patch >= least.patch,
            Self::Latest | Self::Installed => true,
            Self::Range(from, to) => (from..=to).contains(&version.minor),
        }
    }

    /// Whether a newer patch elsewhere is preferred to one that is here.
    pub fn wants_newest(self) -> bool {
        match self {
            Self::Tilde(_) | Self::Latest => true,
            Self::Minor(_) | Self::Exact(_) | Self::Range(..) | Self::Installed => false,
        }
    }

    /// The selectors of one release each that this one stands for; nothing for what is installed.
    pub fn singles(self) -> Vec<Self> {
        match self {
            Self::Range(from, to) => (from..=to).map(Self::Minor).collect(),
            Self::Installed => Vec::new(),
            Self::Minor(_) | Self::Exact(_) | Self::Tilde(_) | Self::Latest => vec![self],
        }
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
            let minor = |end: &str| match plain(end) {
                Some(KubeVersion { minor, patch: None }) => Ok(minor),
                Some(_) => Err(wrong("a range is between minor releases")),
                None => Err(wrong("both ends of a range are minor releases")),
            };
            let (from, to) = (minor(from)?, minor(to.strip_prefix('=').unwrap_or(to))?);
            return if from <= to { Ok(Self::Range(from, to)) } else { Err(wrong("the range ends before it begins")) };
        }
        if let Some(rest) = text.strip_prefix('~') {
            return plain(rest).map(Self::Tilde).ok_or_else(|| wrong("a tilde stands before a release"));
        }
        match plain(text) {
            Some(KubeVersion { minor, patch: None }) => Ok(Self::Minor(minor)),
            Some(version) => Ok(Self::Exact(version)),
            None => Err(wrong("it is no Kubernetes release")),
        }
    }
}

/// A release as the Kubernetes project names them, with nothing behind it.
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
            Self::Range(from, to) => write!(f, "1.{from}..1.{to}"),
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
    #[case("installed")]
    fn is_written_as_it_was_read(#[case] text: &str) {
        assert_eq!(text.parse::<Selector>().unwrap().to_string(), text);
    }

    #[rstest]
    #[case("", "it is no Kubernetes release")]
    #[case("2.0", "it is no Kubernetes release")]
    #[case("1.36.4-rc.1", "it is no Kubernetes release")]
    #[case("1.36.x", "it is no Kubernetes release")]
    #[case("~latest", "a tilde stands before a release")]
    #[case("1.30..", "both ends of a range are minor releases")]
    #[case("1.30.1..1.31", "a range is between minor releases")]
    #[case("1.31..1.30", "the range ends before it begins")]
    fn says_what_is_wrong(#[case] text: &str, #[case] reason: &str) {
        assert_eq!(text.parse::<Selector>().unwrap_err().reason, reason);
    }

    #[rstest]
    #[case("1.31", "1.31.9", true)]
    #[case("1.31.4", "1.31.9", false)]
    #[case("~1.31.4", "1.31.9", true)]
    #[case("~1.31.4", "1.31.3", false)]
    #[case("1.30..1.31", "1.31.9", true)]
    #[case("1.30..1.31", "1.32.0", false)]
    #[case("latest", "1.16.0", true)]
    fn picks_releases(#[case] selector: &str, #[case] version: &str, #[case] picked: bool) {
        assert_eq!(selector.parse::<Selector>().unwrap().matches(version.parse().unwrap()), picked);
    }

    #[test]
    fn a_range_is_one_release_of_each_minor() {
        let singles: Vec<_> = Selector::Range(30, 32).singles().iter().map(ToString::to_string).collect();
        assert_eq!(singles, ["1.30", "1.31", "1.32"]);
    }
}
