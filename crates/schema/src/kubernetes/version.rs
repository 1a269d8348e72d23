//! Versions of API servers, which are not semantic versions: vendors append their own suffixes.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Kubernetes release: `1.31` or `1.31.4`. Suffixes such as `-eks-7f9249a` or `+k3s1` name a vendor's build of that
/// release and are ignored in comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = r"^v?1\.\d+(\.\d+)?"))]
pub struct KubeVersion {
    /// The `31` of 1.31.4.
    pub minor: u32,
    /// The `4` of 1.31.4, if it was given.
    pub patch: Option<u32>,
}

/// An error for a text that is not a Kubernetes release.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a Kubernetes version; write it as 1.31 or 1.31.4")]
pub struct VersionError(String);

impl KubeVersion {
    /// The newest minor that our tables describe.
    pub const NEWEST: Self = Self::minor(37);

    /// The oldest release that serves `apiextensions.k8s.io/v1`.
    pub const OLDEST: Self = Self::minor(16);

    /// A minor release, whatever its patch.
    pub const fn minor(minor: u32) -> Self {
        Self { minor, patch: None }
    }

    /// Returns true if this release has the given minor or a later one.
    pub fn at_least(self, minor: u32) -> bool {
        self.minor >= minor
    }
}

impl FromStr for KubeVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let error = || VersionError(text.to_owned());
        let rest = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.").ok_or_else(error)?;
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let end = digits(rest);
        let minor = rest[..end].parse().map_err(|_| error())?;
        let patch = match rest[end..].strip_prefix('.') {
            Some(patch) => Some(patch[..digits(patch)].parse().map_err(|_| error())?),
            None => None,
        };
        let suffix_valid = match rest[end..].bytes().next() {
            None | Some(b'.' | b'+' | b'-') => true,
            Some(_) => false,
        };
        if suffix_valid { Ok(Self { minor, patch }) } else { Err(error()) }
    }
}

impl TryFrom<String> for KubeVersion {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<KubeVersion> for String {
    fn from(version: KubeVersion) -> Self {
        version.to_string()
    }
}

impl fmt::Display for KubeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)?;
        match self.patch {
            Some(patch) => write!(f, ".{patch}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1.31", "1.31")]
    #[case("v1.31.4-eks-7f9249a", "1.31.4")]
    #[case("1.33+", "1.33")]
    #[case("v1.30.2+k3s1", "1.30.2")]
    #[case("1.37.0-rc.1", "1.37.0")]
    fn versions_of_vendors_are_read(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(text.parse::<KubeVersion>().unwrap().to_string(), expected);
    }

    #[rstest]
    #[case("")]
    #[case("2.1")]
    #[case("1.x")]
    #[case("1.31x")]
    #[case("1.31.")]
    fn other_texts_are_not_versions(#[case] text: &str) {
        assert!(text.parse::<KubeVersion>().is_err());
    }
}
