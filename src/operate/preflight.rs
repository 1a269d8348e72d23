//! Inspects a server before anything runs there: its release, known defects by table and by probe, the features that a
//! subject needs, and our permissions.

use serde::Serialize;

use super::probe::{self, ProbeResult};
use crate::checks::preflight::{NeededFeature, Probed, RuleResult, judge_rule, needed_features};
use crate::subject::Subject;
use crdproof_envtest::{ClusterError, Server, api};
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
    let permissions = permissions(server, subject).await?;
    let hindrance = hindrance(may_change, &permissions);
    if let (Server::Existing(cluster), None, true) = (server, hindrance, probing) {
        // Whoever has one of them is told before the first probe runs.
        let names: Vec<String> = probe::PROBES.iter().map(probe::Probe::crd_name).collect();
        cluster.check_absent(&names.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    }
    let mut rules = Vec::new();
    for rule in RULES.iter() {
        let mut probes = Vec::new();
        for probe in rule.probes.iter().filter_map(|name| probe::find(name)).filter(|_| probing) {
            let result = if let Some(why) = probe.hindrance(server, hindrance) {
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
    Ok(Preflight { git_version, server: version, rules, features, permissions })
}

/// Returns why no probe may change an existing cluster, where that is so. Most probes have a CRD of their own.
fn hindrance(may_change: bool, permissions: &[Permission]) -> Option<&'static str> {
    let is_forbidden = |permission: &Permission| {
        !permission.allowed && permission.what.ends_with(" customresourcedefinitions.apiextensions.k8s.io")
    };
    match may_change {
        false => Some("it changes the cluster: add --allow-changes"),
        true if permissions.iter().any(is_forbidden) => Some("no permission to create and delete CRDs"),
        true => None,
    }
}

async fn permissions(server: &Server, subject: Option<&Subject>) -> Result<Vec<Permission>, ClusterError> {
    let of_crds = |verb| api::Permission::new(verb, "apiextensions.k8s.io", "customresourcedefinitions");
    let mut wanted = vec![
        of_crds("create"),
        of_crds("delete"),
        of_crds("update").on_part("status"),
        api::Permission::new("create", "", "namespaces"),
    ];
    for crd in subject.map(|subject| subject.crds.as_slice()).unwrap_or_default() {
        for verb in ["create", "list", "patch", "delete"] {
            wanted.push(api::Permission::new(verb, &crd.group, &crd.names.plural));
        }
    }
    let (api, mut permissions) = (server.api(), Vec::new());
    for permission in wanted {
        let allowed = api.is_allowed(&permission).await?;
        permissions.push(Permission { what: permission.to_string(), allowed });
    }
    Ok(permissions)
}
