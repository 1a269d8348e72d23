//! A look at a server before anything runs there: what it is, which defects it has by table and by probe, whether
//! it has what a subject needs, and what we may do.

use serde::Serialize;
use serde_json::json;

pub use super::probe::Sight;

use super::probe;
use crate::subject::{Subject, Used, features_of};
use crdproof_envtest::{ClusterError, Server};
use crdproof_schema::kubernetes::{RULES, ServerRule, ServerVersion, Standing, Weight};

/// Everything that was seen.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// The release in the server's own words.
    pub git_version: String,
    /// The same, read.
    pub server: ServerVersion,
    /// Known defects.
    pub rules: Vec<Ruled>,
    /// What the subject needs.
    pub features: Vec<Needed>,
    /// What we may do.
    pub permissions: Vec<Permission>,
}

/// One rule and where the server stands with it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ruled {
    /// The rule's id.
    pub id: &'static str,
    /// `server/…`.
    pub name: String,
    /// The guarantee.
    pub title: &'static str,
    /// How bad it is to be without it.
    pub severity: Weight,
    /// What the table says.
    pub table: Standing,
    /// What probes saw, by name.
    pub probes: Vec<Probed>,
    /// Why there is no probe, where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untested: Option<&'static str>,
    /// Both together.
    pub verdict: Outcome,
}

/// An probe and what came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Probed {
    /// Its name.
    pub name: &'static str,
    /// What it showed; `Err` says why it was not made.
    #[serde(flatten)]
    pub sight: Sight,
}

/// What table and probes say together. An probe overrules the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The server does right.
    Good,
    /// The server does right although its version says otherwise: somebody mended it.
    Backported,
    /// The server has the defect.
    Bad,
    /// The server has the defect although its version says otherwise.
    Regressed,
    /// Nobody can tell.
    Unclear,
}

impl Outcome {
    /// Whether the defect is there.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Bad | Self::Regressed)
    }
}

/// A feature that the subject uses.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Needed {
    /// What it is.
    pub what: String,
    /// The release from which it can be relied on.
    pub since: String,
    /// Where it is used.
    pub place: String,
    /// Whether the server has it.
    pub there: bool,
    /// What the server does without it.
    pub otherwise: &'static str,
    /// Whether objects keep their meaning without it.
    pub harmless: bool,
}

/// Something that we would do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// Verb and resource.
    pub what: String,
    /// Whether we may.
    pub allowed: bool,
}

impl Preflight {
    /// Whether anything is wrong that loses or blocks.
    pub fn is_bad(&self) -> bool {
        self.rules.iter().any(|rule| rule.verdict.is_bad() && rule.severity == Weight::Error)
            || self.features.iter().any(|feature| !feature.there && !feature.harmless)
            || self.permissions.iter().any(|permission| !permission.allowed)
    }
}

/// Looks. Probes are made where `probing` says so; those that change something need `may_change` on a cluster that
/// was there before us.
pub async fn look(
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
            let sight = if let Some(why) = probe.hindrance(server, may_change) {
                Sight::Unclear(why.to_owned())
            } else {
                progress(probe.name);
                probe.run(server).await?
            };
            probes.push(Probed { name: probe.name, sight });
        }
        rules.push(ruled(rule, &version, probes));
    }
    let features = subject.map(|subject| needed(subject, &version)).unwrap_or_default();
    let permissions = permissions(server, subject).await?;
    Ok(Preflight { git_version, server: version, rules, features, permissions })
}

fn ruled(rule: &'static ServerRule, version: &ServerVersion, probes: Vec<Probed>) -> Ruled {
    let table = rule.judge(version);
    let verdict = verdict(&table, &probes);
    Ruled {
        id: &rule.id,
        name: format!("server/{}", rule.name),
        title: &rule.title,
        severity: rule.severity,
        table,
        probes,
        untested: rule.untested.as_deref(),
        verdict,
    }
}

fn verdict(table: &Standing, probes: &[Probed]) -> Outcome {
    let bad = probes.iter().any(|probe| matches!(probe.sight, Sight::Bad(_)));
    let good = probes.iter().any(|probe| matches!(probe.sight, Sight::Good(_)));
    match (table, bad, good) {
        (Standing::Good, true, _) => Outcome::Regressed,
        (_, true, _) | (Standing::Bad { .. }, false, false) => Outcome::Bad,
        (Standing::Bad { .. }, false, true) => Outcome::Backported,
        (Standing::Good, false, _) | (Standing::Unclear { .. }, false, true) => Outcome::Good,
        (Standing::Unclear { .. }, false, false) => Outcome::Unclear,
    }
}

fn needed(subject: &Subject, version: &ServerVersion) -> Vec<Needed> {
    let mut needed = Vec::new();
    for crd in &subject.crds {
        for Used { feature, since, span } in features_of(crd) {
            needed.push(Needed {
                what: feature.what.clone(),
                since: since.to_string(),
                place: subject.sources.place(span).to_string(),
                there: version.behaves_as().minor >= since.minor,
                otherwise: feature.on(version.behaves_as()).does(),
                harmless: feature.harmless,
            });
        }
    }
    needed
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn bad() -> Standing {
        Standing::Bad { mended: None }
    }

    fn unclear() -> Standing {
        Standing::Unclear { why: String::new() }
    }

    #[rstest]
    #[case(Standing::Good, None, Outcome::Good)]
    #[case(Standing::Good, Some(Sight::Bad(String::new())), Outcome::Regressed)]
    #[case(bad(), None, Outcome::Bad)]
    #[case(bad(), Some(Sight::Bad(String::new())), Outcome::Bad)]
    #[case(bad(), Some(Sight::Good(String::new())), Outcome::Backported)]
    #[case(bad(), Some(Sight::Unclear(String::new())), Outcome::Bad)]
    #[case(unclear(), None, Outcome::Unclear)]
    #[case(unclear(), Some(Sight::Good(String::new())), Outcome::Good)]
    #[case(unclear(), Some(Sight::Bad(String::new())), Outcome::Bad)]
    fn a_probe_overrules_the_table(#[case] table: Standing, #[case] sight: Option<Sight>, #[case] expected: Outcome) {
        let probes: Vec<Probed> = sight.into_iter().map(|sight| Probed { name: "x", sight }).collect();
        assert_eq!(verdict(&table, &probes), expected);
    }
}
