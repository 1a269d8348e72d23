//! Objects of any kind whose `ownerReferences` name a version: garbage collection no longer finds their owner when that
//! version is removed.

use serde_json::Value;

use crate::operate::migrate::{MOST, Pace, Pages};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::object_key;
use crdproof_envtest::api::{Api, Resource, definitions};

/// The dependents of a version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependents {
    /// The number of objects.
    pub count: u64,
    /// The first ones.
    pub named: Vec<String>,
    /// Kinds that could not be read.
    pub unread: Vec<String>,
}

/// Searches all kinds that can be listed.
pub async fn dependents(api: &Api, crd: &str, version: &str, pace: Pace) -> Result<Dependents, ClusterError> {
    let definition = api.get(&definitions().path_of(crd)).await?.ok()?.json();
    let owner = (
        format!("{}/{version}", definition["spec"]["group"].as_str().unwrap_or_default()),
        definition["spec"]["names"]["kind"].as_str().unwrap_or_default().to_owned(),
    );
    let mut found = Dependents::default();
    for kind in kinds(api, &mut found.unread).await? {
        let mut pages = Pages::of(api, &kind, pace);
        loop {
            match pages.next().await {
                Ok(Some(items)) => items.iter().filter(|item| is_owned(item, &owner)).for_each(|item| {
                    found.count += 1;
                    if found.named.len() < MOST {
                        found.named.push(display_name(&kind, item));
                    }
                }),
                Ok(None) => break,
                // Missing permissions, or an unavailable extension server.
                Err(ClusterError::Refused { .. }) => {
                    found.unread.push(kind.plural.clone());
                    break;
                }
                Err(error) => return Err(error),
            }
        }
    }
    found.unread.sort();
    Ok(found)
}

/// Every kind that can be listed, at the preferred version of its group; adds groups that could not be read to
/// `unread`.
pub(crate) async fn kinds(api: &Api, unread: &mut Vec<String>) -> Result<Vec<Resource>, ClusterError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let groups = api.get("/apis").await?.ok()?.json();
    let groups = groups["groups"].as_array().into_iter().flatten();
    let groups = groups.map(|group| (text(&group["name"]), text(&group["preferredVersion"]["version"])));
    let mut kinds = Vec::new();
    for (group, version) in std::iter::once((String::new(), "v1".to_owned())).chain(groups) {
        let path = if group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{group}/{version}") };
        let answer = api.get(&path).await?;
        if !answer.is_success() {
            unread.push(format!("all of {group}"));
            continue;
        }
        for resource in answer.json()["resources"].as_array().into_iter().flatten() {
            let name = text(&resource["name"]);
            let mut verbs = resource["verbs"].as_array().into_iter().flatten();
            if !name.contains('/') && verbs.any(|verb| verb == "list") {
                kinds.push(Resource::cluster_wide(&group, &version, &name));
            }
        }
    }
    Ok(kinds)
}

fn is_owned(item: &Value, (api_version, kind): &(String, String)) -> bool {
    let mut owners = item["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    owners.any(|owner| owner["apiVersion"] == api_version.as_str() && owner["kind"] == kind.as_str())
}

fn display_name(kind: &Resource, item: &Value) -> String {
    format!("{} {}", kind.plural, object_key(item))
}
