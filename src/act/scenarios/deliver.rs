//! Delivers a source as tools do that apply from git: everything in order by server-side apply, what was withdrawn is
//! pruned, what has drifted is seen by a dry run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::source::{Document, Promised, Rank, Source, Unfit, health};
use crate::checks::differences;
use crate::evidence::{Action, Became, Call, Delivered, Differs, Health, Observation, State};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, Api, PatchKind, Query, Resource};
use crdproof_envtest::retry;

/// The interval at which the health of what is not ready is read.
const PAUSE: Duration = Duration::from_millis(25);

/// Delivers sources to one server, one after the other, and knows what it delivered.
pub struct Deliverer {
    api: Api,
    manager: String,
    /// What it applied and did not remove, in that order. Nothing else is ever removed.
    inventory: Vec<InventoryItem>,
    /// Plural and scope of kinds that the server was asked for, by group, version and kind.
    kinds: BTreeMap<(String, String, String), (String, bool)>,
    health: BTreeMap<String, (State, String)>,
}

/// An object that was applied.
struct InventoryItem {
    name: String,
    version: String,
    path: String,
    uid: String,
}

/// A document and its place on the server.
type Placed<'s> = (&'s Document, Resource);

impl Deliverer {
    /// Applies as this manager.
    pub fn new(api: Api, manager: &str) -> Self {
        let (manager, inventory) = (manager.to_owned(), Vec::new());
        Self { api, manager, inventory, kinds: BTreeMap::new(), health: BTreeMap::new() }
    }

    /// Applies a source: kinds, which must answer before anything else is applied, then namespaces, then objects. What
    /// the last source had and this one has not is removed, unless something was refused.
    pub async fn deliver(&mut self, source: &Source, timeout: Duration) -> Result<Vec<Observation>, ClusterError> {
        // Before anything is applied: half a source is worse than none.
        let placed = self.placed(source).await?;
        let mut seen = Vec::new();
        let kinds: Vec<&Placed<'_>> = placed.iter().filter(|(document, _)| document.rank() == Rank::Kind).collect();
        for (document, resource) in &kinds {
            self.apply(document, resource, &mut seen).await?;
        }
        if refused(&seen) {
            return Ok(seen);
        }
        if !kinds.is_empty() {
            let defined = Source::new(source.kinds())?;
            seen.extend(self.wait(&defined, timeout).await?);
            // What is established is not yet served: only a real answer says so.
            self.api.until_served(&source.kinds()).await?;
        }
        for (document, resource) in placed.iter().filter(|(document, _)| document.rank() != Rank::Kind) {
            self.apply(document, resource, &mut seen).await?;
        }
        if !refused(&seen) {
            self.prune(source, timeout, &mut seen).await?;
        }
        Ok(seen)
    }

    /// Says what applying would change, and changes nothing.
    pub async fn detect(&mut self, source: &Source) -> Result<Vec<Observation>, ClusterError> {
        let mut seen = Vec::new();
        for (document, resource) in self.placed(source).await? {
            let path = resource.path_of(document.object_name());
            let before = self.get(&path).await?;
            let mut line = delivered(document, Became::Unchanged);
            if before.status == 404 {
                line.became = Became::Drifted;
                line.why = "it is not there".into();
                line.differences = vec![Differs { at: String::new(), live: None, wanted: None }];
            } else {
                let query = Query::new().manager(&self.manager).force().dry_run();
                let path = query.on(&path);
                let answer = retry::while_unready(|| self.api.patch(&path, PatchKind::Apply, &document.object)).await?;
                if answer.is_success() {
                    line.differences = compared(document, &before.ok()?.json(), &answer.json());
                    line.became = if line.differences.is_empty() { Became::Unchanged } else { Became::Drifted };
                } else {
                    line.became = Became::Refused;
                    line.why = answer.message();
                }
            }
            seen.push(Observation::Delivered(line));
        }
        Ok(seen)
    }

    /// Looks at everything in a source once, and tells whose health has changed.
    pub async fn look(&mut self, source: &Source) -> Result<Vec<Observation>, ClusterError> {
        let mut seen = Vec::new();
        for (document, resource) in self.placed(source).await? {
            let answer = self.get(&resource.path_of(document.object_name())).await?;
            let (_, version) = document.group_version();
            let promised = Promised::by(source.definition(document), &version);
            let now = match answer.status {
                404 => (State::NotFound, String::new()),
                _ if answer.is_success() => health(&answer.json(), promised),
                _ => (State::InProgress, answer.message()),
            };
            seen.extend(self.turned(&document.name, &version, now));
        }
        Ok(seen)
    }

    /// Looks until everything in a source is ready or has failed, or the time is over; tells each change.
    pub async fn wait(&mut self, source: &Source, timeout: Duration) -> Result<Vec<Observation>, ClusterError> {
        let end = Instant::now() + timeout;
        let mut seen = Vec::new();
        loop {
            seen.extend(self.look(source).await?);
            let settled = |document: &Document| {
                self.health
                    .get(&document.name)
                    .is_some_and(|(state, _)| matches!(state, State::Current | State::Failed))
            };
            if source.documents().iter().all(settled) || Instant::now() >= end {
                return Ok(seen);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Returns what is told of an object's health: only what has changed.
    fn turned(&mut self, name: &str, version: &str, now: (State, String)) -> Option<Observation> {
        if self.health.get(name) == Some(&now) {
            return None;
        }
        self.health.insert(name.to_owned(), now.clone());
        let (state, why) = now;
        Some(Observation::Health(Health { name: name.to_owned(), version: version.to_owned(), state, why }))
    }

    async fn apply(
        &mut self,
        document: &Document,
        resource: &Resource,
        seen: &mut Vec<Observation>,
    ) -> Result<(), ClusterError> {
        let path = resource.path_of(document.object_name());
        let before = self.get(&path).await?;
        let query = Query::new().manager(&self.manager).force();
        let applied = query.on(&path);
        let answer = retry::while_unready(|| self.api.patch(&applied, PatchKind::Apply, &document.object)).await?;
        seen.push(Observation::Call(call(document, &answer)));
        let mut line = delivered(document, Became::Refused);
        if answer.is_success() {
            let now = answer.json();
            // By content: servers before 1.31 may write again although nothing has changed.
            line.became = if before.status == 404 {
                Became::Created
            } else {
                line.differences = compared(document, &before.ok()?.json(), &now);
                if line.differences.is_empty() { Became::Unchanged } else { Became::Configured }
            };
            let uid = now["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
            if let Some(held) = self.inventory.iter_mut().find(|held| held.path == path) {
                held.uid = uid;
            } else {
                let (name, version) = (line.name.clone(), line.version.clone());
                self.inventory.push(InventoryItem { name, version, path, uid });
            }
        } else {
            line.why = answer.message();
        }
        seen.push(Observation::Delivered(line));
        Ok(())
    }

    /// Removes what was delivered and is in the source no more, the last first, and waits until it is gone.
    async fn prune(
        &mut self,
        source: &Source,
        timeout: Duration,
        seen: &mut Vec<Observation>,
    ) -> Result<(), ClusterError> {
        let kept = |held: &InventoryItem| source.documents().iter().any(|document| document.name == held.name);
        let (kept, withdrawn): (Vec<InventoryItem>, Vec<InventoryItem>) =
            std::mem::take(&mut self.inventory).into_iter().partition(kept);
        self.inventory = kept;
        for held in withdrawn.into_iter().rev() {
            // Somebody may have put another one in its place, which is not ours.
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
                                 "preconditions": {"uid": held.uid}});
            let answer = retry::while_unready(|| self.api.delete_with(&held.path, &options)).await?;
            let mut line = Delivered {
                name: held.name.clone(),
                version: held.version.clone(),
                became: Became::Deleted,
                differences: Vec::new(),
                why: String::new(),
            };
            if !answer.is_success() && answer.status != 404 {
                line.became = Became::Refused;
                line.why = answer.message();
            } else if !self.until_gone(&held.path, timeout).await? {
                line.became = Became::Refused;
                line.why = format!("it is still there after {} s", timeout.as_secs());
            }
            let gone = line.became == Became::Deleted;
            seen.push(Observation::Delivered(line));
            if gone {
                seen.extend(self.turned(&held.name, &held.version, (State::NotFound, String::new())));
            } else {
                self.inventory.push(held);
            }
        }
        Ok(())
    }

    async fn until_gone(&self, path: &str, timeout: Duration) -> Result<bool, ClusterError> {
        let (gone, _) = retry::until(timeout, PAUSE, || self.get(path), |answer| answer.status == 404).await?;
        Ok(gone)
    }

    /// Returns where everything in a source is: by the source's own definitions, else by what the server says of its
    /// kinds.
    async fn placed<'s>(&mut self, source: &'s Source) -> Result<Vec<Placed<'s>>, ClusterError> {
        let mut placed = Vec::new();
        for document in source.documents() {
            let resource = match source.defined(document)? {
                Some(resource) => resource,
                None => self.discovered(document).await?,
            };
            placed.push((document, resource));
        }
        Ok(placed)
    }

    async fn discovered(&mut self, document: &Document) -> Result<Resource, ClusterError> {
        let (group, version) = document.group_version();
        let key = (group.clone(), version.clone(), document.kind().to_owned());
        if !self.kinds.contains_key(&key) {
            let Some(found) = self.api.discover(&group, &version, document.kind()).await? else {
                return Err(ClusterError::from(Unfit {
                    name: document.name.clone(),
                    why: format!("is of a kind that the server does not have at {group}/{version}"),
                    help: "add the definition of its kind to the source".into(),
                }));
            };
            self.kinds.insert(key.clone(), found);
        }
        let (plural, namespaced) = &self.kinds[&key];
        Ok(document.resource(plural, *namespaced)?)
    }

    async fn get(&self, path: &str) -> Result<Answer, ClusterError> {
        retry::while_unready(|| self.api.get(path)).await
    }
}

impl std::fmt::Debug for Deliverer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deliverer").field("manager", &self.manager).finish_non_exhaustive()
    }
}

fn refused(seen: &[Observation]) -> bool {
    seen.iter().any(|seen| matches!(seen, Observation::Delivered(line) if line.became == Became::Refused))
}

fn delivered(document: &Document, became: Became) -> Delivered {
    let (_, version) = document.group_version();
    Delivered { name: document.name.clone(), version, became, differences: Vec::new(), why: String::new() }
}

/// The call as it is recorded. Definitions are in the subject, and what objects have become is seen as a whole.
fn call(document: &Document, answer: &Answer) -> Call {
    Call {
        action: Action::Apply,
        version: document.group_version().1,
        name: document.name.clone(),
        sent: if document.rank() == Rank::Object { document.object.clone() } else { Value::Null },
        status: answer.status,
        warnings: answer.warnings(),
        answered: if answer.is_success() { Value::Null } else { answer.json() },
    }
}

/// Returns where two states of an object differ in what the source can want of it.
fn compared(document: &Document, live: &Value, wanted: &Value) -> Vec<Differs> {
    let (live, wanted) = (wantable(document, live), wantable(document, wanted));
    let differs = |difference: crate::checks::Difference<'_>| Differs {
        live: difference.was.cloned(),
        wanted: difference.now.cloned(),
        at: difference.pointer,
    };
    differences(&live, &wanted).into_iter().map(differs).collect()
}

/// An object without what a source does not want: what the server keeps for itself, and the status, which is a
/// controller's, unless the source has one.
fn wantable(document: &Document, object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut().filter(|_| document.object["status"].is_null()) {
        fields.remove("status");
    }
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.retain(|name, _| matches!(name.as_str(), "labels" | "annotations"));
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_source_wants_is_compared() {
        let own = json!({"apiVersion": "a.b/v1", "kind": "W", "metadata": {"name": "n"}, "spec": {"size": 1}});
        let source = Source::new([own]).unwrap();
        let document = &source.documents()[0];
        let live = json!({"metadata": {"uid": "u", "resourceVersion": "1", "labels": {"a": "b"}},
                          "spec": {"size": 2}, "status": {"seen": 1}});
        let wanted = json!({"metadata": {"uid": "u", "resourceVersion": "2", "labels": {"a": "b"}},
                            "spec": {"size": 1}, "status": {"seen": 2}});
        let found = compared(document, &live, &wanted);
        assert_eq!(found, [Differs { at: "/spec/size".into(), live: Some(json!(2)), wanted: Some(json!(1)) }]);
        let told = Delivered { differences: found, ..delivered(document, Became::Drifted) };
        assert_eq!(told.to_string(), "W/n drifted");
        assert_eq!(compared(document, &live, &live), []);
    }
}
