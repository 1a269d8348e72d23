//! Objects of kinds that are installed on an existing cluster: found by the label of the run, and removed by it.

use serde_json::Value;

use super::{Existing, remove};
use crate::ClusterError;
use crate::api::{Api, Permission, Query, Resource, definitions};
use crate::run_id::{LABEL, RunId};

impl Existing {
    /// Labels an object that the caller creates, of a kind that was passed to [`Existing::adopt_objects`].
    pub fn label_object(&self, object: &mut Value) {
        self.label(object);
    }

    /// The label selector for everything of this run.
    pub fn selector(&self) -> String {
        format!("{LABEL}={}", self.run)
    }

    /// Removes the labelled objects of a kind at the end. The kind names the version that objects are stored at, because a
    /// deletion at that version needs no conversion, and works if the webhook does not.
    pub fn adopt_objects(&self, kind: &Resource) {
        let mut kinds = self.kinds.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }

    /// Removes the objects of this run of one kind, and waits until they are gone.
    pub async fn remove_objects(&self, kind: &Resource) -> Result<(), ClusterError> {
        let listed = self.api.get(&Query::new().labels(&self.selector()).on(kind.path())).await?;
        if listed.status == 404 {
            // The CRD is gone, and its objects with it.
            return Ok(());
        }
        let mut left = Vec::new();
        for (path, uid) in items(kind, &listed.ok()?.json()) {
            if let Err(why) = remove(&self.api, &path, &uid).await {
                left.push(format!("{path} ({why})"));
            }
        }
        if left.is_empty() { Ok(()) } else { Err(ClusterError::Left { what: left, run: self.run.to_string() }) }
    }

    /// Refuses a permission that the user lacks.
    pub async fn check_allowed(&self, permissions: &[Permission]) -> Result<(), ClusterError> {
        let mut missing = Vec::new();
        for permission in permissions {
            match self.api.is_allowed(permission).await {
                // A server that refuses to tell shows it when the request is made.
                Ok(true) | Err(ClusterError::Refused { .. }) => {}
                Ok(false) => missing.push(permission.to_string()),
                Err(error) => return Err(error),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(ClusterError::NotAllowed {
            why: format!("the user of context {:?} may not {}", self.context.name, missing.join(", ")),
            help: "grant these permissions, or use a context of a user who has them".into(),
        })
    }
}

/// The path and uid of each object of a list.
fn items(kind: &Resource, list: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = list["items"].as_array().into_iter().flatten();
    let of = |item: &Value| {
        let meta = &item["metadata"];
        let kind = meta["namespace"].as_str().map_or_else(|| kind.clone(), |namespace| kind.within(namespace));
        (kind.path_of(&text(&meta["name"])), text(&meta["uid"]))
    };
    items.map(of).collect()
}

/// An object of a run that ended.
pub(super) struct Orphan {
    pub(super) path: String,
    pub(super) uid: String,
    pub(super) run: Option<RunId>,
}

/// Statuses of lists of kinds that the user may not list, or that are no longer served.
const NOT_OURS: [u16; 3] = [403, 404, 405];

/// Finds labelled objects of all kinds that CRDs define, each at its storage version. Also returns the kinds that cannot
/// be listed, each with the reason. Skips those that the user may not list.
pub(super) async fn labelled(api: &Api) -> Result<(Vec<Orphan>, Vec<String>), ClusterError> {
    let definitions = api.get(&definitions().path()).await?.ok()?.json();
    let (mut found, mut unsearched) = (Vec::new(), Vec::new());
    for definition in definitions["items"].as_array().into_iter().flatten() {
        let spec = &definition["spec"];
        let versions = spec["versions"].as_array().into_iter().flatten();
        let stored = versions.filter(|version| version["storage"] == true).find_map(|version| version["name"].as_str());
        let (Some(version), Some(group), Some(plural)) =
            (stored, spec["group"].as_str(), spec["names"]["plural"].as_str())
        else {
            continue;
        };
        let kind = Resource::cluster_wide(group, version, plural);
        let listed = api.get(&Query::new().labels(LABEL).on(kind.path())).await?;
        if !listed.is_success() {
            if !NOT_OURS.contains(&listed.status) {
                unsearched.push(format!("{plural}.{group} (cannot be searched: {})", listed.message()));
            }
            continue;
        }
        let listed = listed.json();
        let runs = listed["items"].as_array().into_iter().flatten();
        let runs = runs.map(|item| item["metadata"]["labels"][LABEL].as_str().and_then(RunId::parse));
        let orphans = items(&kind, &listed).into_iter().zip(runs);
        found.extend(orphans.map(|((path, uid), run)| Orphan { path, uid, run }));
    }
    Ok((found, unsearched))
}
