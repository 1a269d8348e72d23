//! Identity and features of a server: the version and groups that it reports, and features found by dry runs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Api, FieldValidation, PatchKind, Query};
use crate::ClusterError;
use crdproof_schema::kubernetes::{KubeVersion, ServerVersion};

/// The identity that a server reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The release.
    pub version: KubeVersion,
    /// The full version string of the server, with a vendor's suffix.
    pub git_version: String,
    /// The release that the server emulates, if any: major and minor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulates: Option<String>,
    /// The oldest release that the server can be compatible with: major and minor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatible_with: Option<String>,
    /// Each group with its versions, the preferred one first.
    pub groups: BTreeMap<String, Vec<String>>,
}

impl Identity {
    /// Returns true if a group is served at a version.
    pub fn serves(&self, group: &str, version: &str) -> bool {
        self.groups.get(group).is_some_and(|versions| versions.iter().any(|served| served == version))
    }
}

/// The features of a server, found by requests that store nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is the answer to a question of its own")]
pub struct Features {
    /// Server-side apply.
    pub apply: bool,
    /// The server can refuse unknown fields on request.
    pub strict_validation: bool,
    /// `OpenAPI` v3 documents per group and version.
    pub openapi_v3: bool,
    /// All groups in one discovery document.
    pub aggregated_discovery: bool,
}

impl Api {
    /// Reads release and groups.
    pub async fn identity(&self) -> Result<Identity, ClusterError> {
        let (git_version, server) = self.server_version().await?;
        let mut groups = BTreeMap::new();
        let listed = self.get("/apis").await?.ok()?.json();
        for group in listed["groups"].as_array().into_iter().flatten() {
            let name = group["name"].as_str().unwrap_or_default().to_owned();
            let versions = group["versions"].as_array().into_iter().flatten();
            let version = |each: &Value| each["version"].as_str().unwrap_or_default().to_owned();
            groups.insert(name, versions.map(version).collect());
        }
        let shown = |release: Option<KubeVersion>| release.map(|release| release.to_string());
        let (emulates, compatible_with) = (shown(server.emulates), shown(server.compatible_with));
        Ok(Identity { version: server.release, git_version, emulates, compatible_with, groups })
    }

    /// Reads only the version: the server's own string, and the parsed one.
    pub async fn server_version(&self) -> Result<(String, ServerVersion), ClusterError> {
        let answer = self.get("/version").await?.ok()?;
        let said = answer.json();
        let read = ServerVersion::read(&said).map_err(|_| ClusterError::NotKubernetes {
            call: answer.call.clone(),
            said: String::from_utf8_lossy(&answer.body).chars().take(200).collect(),
        })?;
        Ok((said["gitVersion"].as_str().unwrap_or_default().to_owned(), read))
    }

    /// Tries features that depend on the release, by dry runs on a config map that is never stored.
    pub async fn features(&self) -> Result<Features, ClusterError> {
        let object = |extra: bool| {
            let mut object =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "crdproof-probe"}, "data": {}});
            if extra {
                object["crdproof"] = json!(true);
            }
            object
        };
        let maps = "/api/v1/namespaces/default/configmaps";
        let apply = Query::new().dry_run().manager("crdproof").on(format!("{maps}/crdproof-probe"));
        let strict = Query::new().dry_run().validation(FieldValidation::Strict).on(maps);
        let discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                         application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
        Ok(Features {
            apply: self.patch(&apply, PatchKind::Apply, &object(false)).await?.is_success(),
            strict_validation: self.post(&strict, &object(true)).await?.status == 400,
            openapi_v3: self.get("/openapi/v3").await?.is_success(),
            aggregated_discovery: self.get_as("/apis", discovery).await?.json()["kind"] == "APIGroupDiscoveryList",
        })
    }
}
