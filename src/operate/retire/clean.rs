//! Cleaning: replaces entries of a version in `metadata.managedFields` by entries of another, object by object.

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::claims::{Owner, Probe};
use super::entries::{Rewritten, Views, names, probes, rewrite};
use crate::operate::migrate::{MOST, Pace, Pages, backoff, pause};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::object_key;
use crdproof_envtest::api::{Answer, Api, PatchKind, Query, Resource};

/// The entries to clean, and their replacements.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The kind at the remaining version.
    pub(super) kind: Resource,
    /// The retired version.
    pub(super) gone: String,
    /// True if the retired version is still served, so that objects can be read at it.
    pub(super) served: bool,
    /// The definition of the remaining version: its schema and its subresources.
    pub(super) version: Value,
}

/// The result of cleaning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Objects that were read.
    pub seen: u64,
    /// Objects whose entries were rewritten.
    pub rewritten: u64,
    /// Fields without an owner, because their new place is unknown; the first ones.
    pub lost: Vec<String>,
    /// Their number.
    pub losses: u64,
    /// Objects that could not be written, and why; the first ones.
    pub failed: Vec<(String, String)>,
    /// Their number.
    pub failures: u64,
}

/// The result for one object.
enum Outcome {
    Rewritten(Vec<String>),
    /// Deleted, or cleaned by another client.
    Overtaken,
    Failed(String),
}

/// Processes all objects once.
pub(super) async fn clean(api: &Api, target: &Target, pace: Pace) -> Result<Cleaned, ClusterError> {
    let mut cleaned = Cleaned::default();
    let gone = target.api_version(&target.gone);
    let mut pages = Pages::of(api, &target.kind, pace);
    while let Some(items) = pages.next().await? {
        cleaned.seen += items.len() as u64;
        let named = items.iter().filter(|item| names(item, &gone)).map(|item| one(api, target, item, pace.tries));
        let outcomes: Vec<(String, Outcome)> =
            futures::stream::iter(named).buffer_unordered(pace.together).collect().await;
        for (name, outcome) in outcomes {
            match outcome {
                Outcome::Overtaken => {}
                Outcome::Rewritten(lost) => {
                    cleaned.rewritten += 1;
                    cleaned.losses += lost.len() as u64;
                    let room = MOST.saturating_sub(cleaned.lost.len());
                    cleaned.lost.extend(lost.into_iter().take(room).map(|field| format!("{name}: {field}")));
                }
                Outcome::Failed(why) => {
                    cleaned.failures += 1;
                    if cleaned.failed.len() < MOST {
                        cleaned.failed.push((name, why));
                    }
                }
            }
        }
    }
    cleaned.failed.sort();
    cleaned.lost.sort();
    Ok(cleaned)
}

impl Target {
    pub(super) fn api_version(&self, version: &str) -> String {
        format!("{}/{version}", self.kind.group)
    }
}

async fn one(api: &Api, target: &Target, item: &Value, tries: u32) -> (String, Outcome) {
    let text = |name: &str| item["metadata"][name].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    let kind = if namespace.is_empty() { target.kind.clone() } else { target.kind.within(&namespace) };
    let mut attempt = 0;
    let outcome = loop {
        attempt += 1;
        let answer = match attempt_once(api, target, &kind, &name).await {
            Ok(Attempt::Nothing) => break Outcome::Overtaken,
            Ok(Attempt::Written(answer, lost)) if answer.is_success() => break Outcome::Rewritten(lost),
            Ok(Attempt::Written(answer, _) | Attempt::Unread(answer)) => answer,
            Ok(Attempt::Moved) if attempt < tries => continue,
            Ok(Attempt::Moved) => break Outcome::Failed("other clients keep writing to it".into()),
            Err(_) if attempt < tries => {
                tokio::time::sleep(backoff(attempt)).await;
                continue;
            }
            Err(error) => break Outcome::Failed(error.to_string()),
        };
        match (answer.status, pause(&answer, attempt)) {
            (404, _) => break Outcome::Overtaken,
            // Another client wrote meanwhile; its version counts.
            (409, _) if attempt < tries => {}
            (_, Some(pause)) if attempt < tries => tokio::time::sleep(pause).await,
            (status, _) => break Outcome::Failed(format!("{status} {}", answer.message())),
        }
    };
    (object_key(item), outcome)
}

/// The outcome of one attempt.
enum Attempt {
    /// There is nothing to clean.
    Nothing,
    /// The two reads are of different states.
    Moved,
    Unread(Answer),
    /// The response to the write, and the fields without an owner.
    Written(Answer, Vec<String>),
}

async fn attempt_once(api: &Api, target: &Target, kind: &Resource, name: &str) -> Result<Attempt, ClusterError> {
    let (gone, left) = (target.api_version(&target.gone), target.api_version(&kind.version));
    let answer = api.get(&kind.path_of(name)).await?;
    if !answer.is_success() {
        return Ok(Attempt::Unread(answer));
    }
    let new = answer.json();
    if !names(&new, &gone) {
        return Ok(Attempt::Nothing);
    }
    let mut old = None;
    if target.served {
        let answer = api.get(&kind.at(&target.gone).path_of(name)).await?;
        match answer.status {
            // No longer served: use only the paths.
            404 => {}
            _ if !answer.is_success() => return Ok(Attempt::Unread(answer)),
            _ => old = Some(answer.json()),
        }
    }
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    if old.as_ref().is_some_and(|old| version(old) != version(&new)) {
        return Ok(Attempt::Moved);
    }
    let schema = &target.version["schema"]["openAPIV3Schema"];
    let views = Views { old: old.as_ref(), new: &new, schema };
    let mut owned = Vec::new();
    for probe in probes(views, &gone) {
        let owners = owners(api, target, kind, &new, &probe).await?;
        owned.push((probe, owners));
    }
    let Rewritten { mut entries, lost } = rewrite(views, &gone, &left, &owned);
    if entries.is_empty() {
        // This tells servers that nothing is owned; they ignore an empty list.
        entries.push(json!({}));
    }
    let changes = json!({"metadata": {
        "uid": new["metadata"]["uid"], "resourceVersion": version(&new), "managedFields": entries}});
    let path = Query::new().manager("crdproof").on(kind.path_of(name));
    Ok(Attempt::Written(api.patch(&path, PatchKind::Merge, &changes).await?, lost))
}

/// Returns the owners of a field, as named in the conflict when another manager applies another value in a dry run.
async fn owners(
    api: &Api,
    target: &Target,
    kind: &Resource,
    object: &Value,
    probe: &Probe,
) -> Result<Vec<Owner>, ClusterError> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let by_itself = probe.root() == "status" && target.version["subresources"]["status"].is_object();
    let path = if by_itself { kind.part_of(name, "status") } else { kind.path_of(name) };
    let stranger = Query::new().manager("crdproof-stranger").dry_run().on(path);
    let answer = api.patch(&stranger, PatchKind::Apply, &probe.intent(object)).await?;
    Ok(if answer.status == 409 { Owner::all(&answer.json()) } else { Vec::new() })
}
