//! The response of `/version`: the release, the vendor, and the emulated release.

use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use super::{KubeVersion, VersionError};

/// The version that a server reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerVersion {
    /// The release of its code. Defects are looked up by it.
    pub release: KubeVersion,
    /// `alpha.1`, `beta.0` or `rc.1`: before the release, so that its fixes may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_release: Option<String>,
    /// The distribution, if the version names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<&'static str>,
    /// The release that it emulates, if it is stated (from 1.33 on). Features are looked up by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulates: Option<KubeVersion>,
    /// The oldest release that it must be compatible with. Formats and CEL libraries are looked up by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatible_with: Option<KubeVersion>,
}

/// Marks of vendors in a version, and the vendors. Longer ones first.
const MARKS: [(&str, &str); 15] = [
    ("-eks-", "EKS"),
    ("-gke.", "GKE"),
    ("-aks", "AKS"),
    ("+rke2", "RKE2"),
    ("-rancher", "RKE"),
    ("+k3s", "k3s"),
    ("+k0s", "k0s"),
    ("-tke.", "TKE"),
    ("-aliyun", "ACK"),
    ("+vmware", "VMware"),
    ("-mirantis", "Mirantis"),
    ("+IKS", "IKS"),
    ("-vke", "VKE"),
    ("-cce", "CCE"),
    ("-r0-CCE", "CCE"),
];

impl FromStr for ServerVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let release = text.parse()?;
        let pre = text.split('+').next().unwrap_or_default().split_once('-').map(|(_, rest)| rest);
        let staged = |rest: &&str| ["alpha.", "beta.", "rc."].iter().any(|stage| rest.starts_with(stage));
        let pre_release = pre.filter(staged).map(|rest| rest.split('.').take(2).collect::<Vec<_>>().join("."));
        let marked = MARKS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, vendor)| *vendor);
        let vendor = marked.or_else(|| is_openshift(text).then_some("OpenShift"));
        Ok(Self { release, pre_release, vendor, emulates: None, compatible_with: None })
    }
}

/// `OpenShift` appends only a short commit.
fn is_openshift(text: &str) -> bool {
    let Some((head, build)) = text.split_once('+') else { return false };
    let is_commit = build.len() == 7 && build.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit && !head.contains('-')
}

impl ServerVersion {
    /// Reads the response of `/version`. `Err` says what it is instead.
    pub fn read(said: &Value) -> Result<Self, VersionError> {
        let text = said["gitVersion"].as_str().unwrap_or_default();
        // A build without its version still names the minor.
        let stated: Result<Self, VersionError> = text.parse();
        let version = match stated {
            Ok(version) => version,
            Err(error) => match minor(said, "major", "minor") {
                Some(release) if text.starts_with("v0.0.0") => {
                    Self { release, pre_release: None, vendor: None, emulates: None, compatible_with: None }
                }
                _ => return Err(error),
            },
        };
        Ok(Self {
            emulates: minor(said, "emulationMajor", "emulationMinor"),
            compatible_with: minor(said, "minCompatibilityMajor", "minCompatibilityMinor"),
            ..version
        })
    }

    /// The release whose features it has.
    pub fn behaves_as(&self) -> KubeVersion {
        self.emulates.unwrap_or(self.release)
    }
}

/// Reads the minor; vendors write `33+` if they changed something.
fn minor(said: &Value, major: &str, minor: &str) -> Option<KubeVersion> {
    let text = |name: &str| said[name].as_str().map(|text| text.trim_end_matches('+'));
    (text(major)? == "1").then_some(())?;
    text(minor)?.parse().ok().map(KubeVersion::minor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("v1.31.4-eks-7f9249a", "1.31.4", None, Some("EKS"))]
    #[case("v1.20.7-eks-d88609", "1.20.7", None, Some("EKS"))]
    #[case("v1.33.1-eks-595af52", "1.33.1", None, Some("EKS"))]
    #[case("v1.16.15-eks-e1a842", "1.16.15", None, Some("EKS"))]
    #[case("v1.27.3-gke.100", "1.27.3", None, Some("GKE"))]
    #[case("v1.30.5-gke.1014001", "1.30.5", None, Some("GKE"))]
    #[case("v1.33.2-gke.1240000", "1.33.2", None, Some("GKE"))]
    #[case("v1.18.20-gke.901", "1.18.20", None, Some("GKE"))]
    #[case("v1.29.2", "1.29.2", None, None)]
    #[case("v1.30.0-aks-1", "1.30.0", None, Some("AKS"))]
    #[case("v1.30.2+k3s1", "1.30.2", None, Some("k3s"))]
    #[case("v1.28.5+k3s1", "1.28.5", None, Some("k3s"))]
    #[case("v1.27.4-rc1+k3s1", "1.27.4", None, Some("k3s"))]
    #[case("v1.36.4+k3s2", "1.36.4", None, Some("k3s"))]
    #[case("v1.26.9+rke2r1", "1.26.9", None, Some("RKE2"))]
    #[case("v1.28.3+rke2r2", "1.28.3", None, Some("RKE2"))]
    #[case("v1.31.13+rke2r1", "1.31.13", None, Some("RKE2"))]
    #[case("v1.24.17-rancher1-1", "1.24.17", None, Some("RKE"))]
    #[case("v1.29.1+k0s.0", "1.29.1", None, Some("k0s"))]
    #[case("v1.34.1+k0s", "1.34.1", None, Some("k0s"))]
    #[case("v1.27.6+f67aeb3", "1.27.6", None, Some("OpenShift"))]
    #[case("v1.31.6+ea5a1a0", "1.31.6", None, Some("OpenShift"))]
    #[case("v1.18.3+2fbd7c7", "1.18.3", None, Some("OpenShift"))]
    #[case("v1.16.2+295f6e6", "1.16.2", None, Some("OpenShift"))]
    #[case("v1.22.5-tke.18", "1.22.5", None, Some("TKE"))]
    #[case("v1.26.1-tke.3", "1.26.1", None, Some("TKE"))]
    #[case("v1.24.6-aliyun.1", "1.24.6", None, Some("ACK"))]
    #[case("v1.32.1-aliyun.1", "1.32.1", None, Some("ACK"))]
    #[case("v1.23.8+vmware.2", "1.23.8", None, Some("VMware"))]
    #[case("v1.29.7+vmware.1", "1.29.7", None, Some("VMware"))]
    #[case("v1.27.7-mirantis-1", "1.27.7", None, Some("Mirantis"))]
    #[case("v1.30.8+IKS", "1.30.8", None, Some("IKS"))]
    #[case("v1.28.2-vke.4", "1.28.2", None, Some("VKE"))]
    #[case("v1.25.3-r0-CCE22.12.1", "1.25.3", None, Some("CCE"))]
    #[case("v1.37.0-alpha.1", "1.37.0", Some("alpha.1"), None)]
    #[case("v1.37.0-alpha.2.145+7a4e0bd1f2c3d4", "1.37.0", Some("alpha.2"), None)]
    #[case("v1.37.0-beta.0", "1.37.0", Some("beta.0"), None)]
    #[case("v1.37.0-rc.1", "1.37.0", Some("rc.1"), None)]
    #[case("v1.19.0-rc.4", "1.19.0", Some("rc.4"), None)]
    #[case("v1.36.4", "1.36.4", None, None)]
    #[case("v1.16.15", "1.16.15", None, None)]
    #[case("v1.35.0", "1.35.0", None, None)]
    #[case("v1.31.0+", "1.31.0", None, None)]
    #[case("v1.26.0-dirty", "1.26.0", None, None)]
    #[case("v1.30.14-1+0c8a5a7b6f0d13", "1.30.14", None, None)]
    #[case("1.31.4", "1.31.4", None, None)]
    #[case("v1.33.0-eks-pre", "1.33.0", None, Some("EKS"))]
    #[case("v1.21.14-gke.18800", "1.21.14", None, Some("GKE"))]
    #[case("v1.19.16+k3s1", "1.19.16", None, Some("k3s"))]
    #[case("v1.23.17-eks-c12679a", "1.23.17", None, Some("EKS"))]
    #[case("v1.17.17-gke.9100", "1.17.17", None, Some("GKE"))]
    fn versions_of_the_real_world(
        #[case] text: &str,
        #[case] release: &str,
        #[case] pre_release: Option<&str>,
        #[case] vendor: Option<&str>,
    ) {
        let read = ServerVersion::read(&json!({"major": "1", "gitVersion": text})).unwrap();
        assert_eq!(read.release.to_string(), release);
        assert_eq!((read.pre_release.as_deref(), read.vendor), (pre_release, vendor));
        assert_eq!(read.behaves_as(), read.release);
    }

    #[test]
    fn an_emulating_server_names_three_releases() {
        let said = json!({"major": "1", "minor": "36+", "gitVersion": "v1.36.4", "emulationMajor": "1",
            "emulationMinor": "34", "minCompatibilityMajor": "1", "minCompatibilityMinor": "33+"});
        let read = ServerVersion::read(&said).unwrap();
        assert_eq!(read.release.to_string(), "1.36.4");
        assert_eq!(read.behaves_as(), KubeVersion::minor(34));
        assert_eq!(read.compatible_with, Some(KubeVersion::minor(33)));
    }

    #[test]
    fn a_build_without_a_version_names_its_minor() {
        let said = json!({"major": "1", "minor": "37+", "gitVersion": "v0.0.0-master+$Format:%H$"});
        assert_eq!(ServerVersion::read(&said).unwrap().release, KubeVersion::minor(37));
    }

    #[rstest]
    #[case(json!(null))]
    #[case(json!({"gitVersion": "nginx/1.27"}))]
    #[case(json!({"major": "2", "minor": "1", "gitVersion": "v0.0.0"}))]
    fn other_responses_are_refused(#[case] said: Value) {
        assert!(ServerVersion::read(&said).is_err());
    }

    proptest! {
        #[test]
        fn no_version_panics(text in "\\PC*", minor in "\\PC{0,6}") {
            let _ = ServerVersion::read(&json!({"major": "1", "minor": minor, "gitVersion": text}));
        }

        #[test]
        fn whatever_is_appended_the_release_is_read(minor in 0_u32..99, patch in 0_u32..99, rest in "([-+][a-zA-Z0-9.+-]*)?") {
            let read: ServerVersion = format!("v1.{minor}.{patch}{rest}").parse().unwrap();
            prop_assert_eq!(read.release, KubeVersion { minor, patch: Some(patch) });
        }
    }
}
