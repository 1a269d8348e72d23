//! Inspects a server before anything runs there: its release, known defects by table and by probe, the features that a
//! subject needs, and our permissions.

use serde::Serialize;
use serde_json::json;

use super::probe::{self, ProbeResult};
use crate::checks::preflight::{NeededFeature, Probed, RuleResult, judge_rule, needed_features};
use crate::subject::Subject;
use crdproof_envtest::{ClusterError, Server};
use crdproof_schema::kubernetes::{RULES, ServerVersion, Weight};

/// The result of an inspection.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// The release as the server names it.
    pub git_version: String,
    /// The same, parsed.
    pub server: ServerVersion,
    /// Known defects.
    pub rules: Vec<RuleResult>,
    /// Features that the subject uses.
    pub features: Vec<NeededFeature>,
    /// The actions of suites, and our permissions.
    pub permissions: Vec<Permission>,
}

/// An action of suites.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// Verb and resource.
    pub what: String,
    /// True if it is allowed.
    pub allowed: bool,
}

impl Preflight {
    /// Returns true if the server has a severe defect, lacks a feature that changes objects, or forbids an action.
    pub fn is_bad(&self) -> bool {
        self.rules.iter().any(|rule| rule.verdict.is_bad() && rule.severity == Weight::Error)
            || self.features.iter().any(|feature| !feature.available && !feature.harmless)
            || self.permissions.iter().any(|permission| !permission.allowed)
    }
}

/// Inspects a server. Probes run if `probing` is set; on an existing cluster, probes that change something also need
/// `may_change`.
pub async fn inspect(
    server: &Server,
    subject: Option<&Subject>,
    probing: bool,
    may_change: bool,
    progress: &mut (dyn FnMut(&str) + Send),
) -> Result<Preflight, ClusterError> {
    let (git_version, version) = server.api().server_version().await?;
    let mut rules = Vec::new();
    for rule in RULES.iter() {
        let mut probes = Vec::new();
        for probe in rule.probes.iter().filter_map(|name| probe::find(name)).filter(|_| probing) {
            let result = if let Some(why) = probe.hindrance(server, may_change) {
                ProbeResult::Unclear(why.to_owned())
            } else {
                progress(probe.name);
                probe.run(server).await?
            };
            probes.push(Probed { name: probe.name, result });
        }
        rules.push(judge_rule(rule, &version, probes));
    }
    let features = subject.map(|subject| needed_features(subject, &version)).unwrap_or_default();
    let permissions = permissions(server, subject).await?;
    Ok(Preflight { git_version, server: version, rules, features, permissions })
}

async fn permissions(server: &Server, subject: Option<&Subject>) -> Result<Vec<Permission>, ClusterError> {
    let group = "apiextensions.k8s.io";
    let mut wanted: Vec<(&str, &str, &str, &str)> = vec![
        ("create", group, "customresourcedefinitions", ""),
        ("delete", group, "customresourcedefinitions", ""),
        ("update", group, "customresourcedefinitions", "status"),
        ("create", "", "namespaces", ""),
    ];
    for crd in subject.map(|subject| subject.crds.as_slice()).unwrap_or_default() {
        for verb in ["create", "list", "patch", "delete"] {
            wanted.push((verb, &crd.group, &crd.names.plural, ""));
        }
    }
    let mut permissions = Vec::new();
    for (verb, group, resource, part) in wanted {
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
            "resourceAttributes": {"verb": verb, "group": group, "resource": resource, "subresource": part}}});
        let answer =
            server.api().post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review).await?.ok()?;
        let name = [resource, part].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        let name = if group.is_empty() { name } else { format!("{name}.{group}") };
        let allowed = answer.json()["status"]["allowed"] == json!(true);
        permissions.push(Permission { what: format!("{verb} {name}"), allowed });
    }
    Ok(permissions)
}
