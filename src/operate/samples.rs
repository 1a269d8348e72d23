//! Real objects of a kind, for samples. Only reads.

use serde_json::Value;

use super::audit::{not_kubernetes, page, refused};
use crate::evidence::inventory::CrdInventory;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Api, Query, Resource, definitions};

/// Objects per page.
const PAGE: usize = 50;

/// A CRD and its first objects, at the version that they are read through; `None` if there is no such CRD.
pub async fn take(api: &Api, crd: &str, count: usize) -> Result<Option<(Value, Vec<Value>)>, ClusterError> {
    let answer = api.get(&definitions().path_of(crd)).await?;
    if answer.status == 404 {
        return Ok(None);
    }
    if !answer.is_success() {
        return Err(refused(answer));
    }
    let definition = answer.json();
    let inventory = CrdInventory::read(&definition);
    let Some(version) = inventory.through() else {
        return Err(ClusterError::Missing {
            what: format!("a served version of {crd}"),
            why: "no version is served, so nothing can be read".into(),
            help: "serve a version first".into(),
        });
    };
    let kind = Resource::cluster_wide(&inventory.group, &version.name, &inventory.plural);
    let (mut found, mut token) = (Vec::new(), String::new());
    while found.len() < count {
        let size = u32::try_from(PAGE.min(count - found.len())).unwrap_or(1);
        let query = Query::new().limit(size);
        let query = if token.is_empty() { query } else { query.page(&token) };
        let answer = page(api, &query.on(kind.path()), "application/json").await?.ok()?;
        let mut listed = answer.json();
        let Value::Array(items) = listed["items"].take() else { return Err(not_kubernetes(&answer)) };
        found.extend(items);
        match listed["metadata"]["continue"].as_str().filter(|next| !next.is_empty() && *next != token) {
            Some(next) => next.clone_into(&mut token),
            None => break,
        }
    }
    found.truncate(count);
    Ok(Some((definition, found)))
}
