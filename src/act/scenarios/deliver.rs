//! Delivers a source like GitOps tools: applies everything in order by server-side apply, prunes withdrawn objects, and
//! detects drift by a dry run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::source::{Document, DocumentError, Rank, Source, StatusParts, health};
use crate::checks::differences;
use crate::evidence::{Action, Call, Delivered, DeliveryOutcome, FieldDifference, Health, Observation, State};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, Api, PatchKind, Query, Resource};
use crdproof_envtest::retry;

/// The interval for reading the health of objects that are not ready.
const PAUSE: Duration = Duration::from_millis(25);

/// Delivers sources to one server, one after the other, and tracks the delivered objects.
pub struct Deliverer {
    api: Api,
    manager: String,
    /// The applied objects that were not removed, in that order. Nothing else is ever removed.
    inventory: Vec<InventoryItem>,
    /// Plural and scope of discovered kinds, by group, version and kind.
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

    /// Applies a source: CRDs first, then, once these are served, namespaces, then objects. Removes objects that the
    /// last source had and this one lacks, unless something was refused.
    pub async fn deliver(&mut self, source: &Source, timeout: Duration) -> Result<Vec<Observation>, ClusterError> {
        // Locate everything before applying anything: half a source is worse than none.
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
            // An established CRD is not yet served: only a real response shows that.
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

    /// Returns what applying would change, and changes nothing.
    pub async fn detect(&mut self, source: &Source) -> Result<Vec<Observation>, ClusterError> {
        let mut seen = Vec::new();
        for (document, resource) in self.placed(source).await? {
            let path = resource.path_of(document.object_name());
            let before = self.get(&path).await?;
            let mut line = delivered(document, DeliveryOutcome::Unchanged);
            if before.status == 404 {
                line.became = DeliveryOutcome::Drifted;
                line.why = "it is not there".into();
                line.differences = vec![FieldDifference { at: String::new(), live: None, wanted: None }];
            } else {
                let query = Query::new().manager(&self.manager).force().dry_run();
                let path = query.on(&path);
                let answer = retry::while_unready(|| self.api.patch(&path, PatchKind::Apply, &document.object)).await?;
                if answer.is_success() {
                    line.differences = differences_between(document, &before.ok()?.json(), &answer.json());
                    line.became =
                        if line.differences.is_empty() { DeliveryOutcome::Unchanged } else { DeliveryOutcome::Drifted };
                } else {
                    line.became = DeliveryOutcome::Refused;
                    line.why = answer.message();
                }
            }
            seen.push(Observation::Delivered(line));
        }
        Ok(seen)
    }

    /// Reads everything in a source once, and returns changes of health.
    pub async fn look(&mut self, source: &Source) -> Result<Vec<Observation>, ClusterError> {
        let mut seen = Vec::new();
        for (document, resource) in self.placed(source).await? {
            let answer = self.get(&resource.path_of(document.object_name())).await?;
            let (_, version) = document.group_version();
            let promised = StatusParts::by(source.definition(document), &version);
            let now = match answer.status {
                404 => (State::NotFound, String::new()),
                _ if answer.is_success() => health(&answer.json(), promised),
                _ => (State::InProgress, answer.message()),
            };
            seen.extend(self.health_change(&document.name, &version, now));
        }
        Ok(seen)
    }

    /// Reads until everything in a source is ready or has failed, or the timeout is over; returns each change of
    /// health.
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

    /// Returns an observation if an object's health has changed.
    fn health_change(&mut self, name: &str, version: &str, now: (State, String)) -> Option<Observation> {
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
        let mut line = delivered(document, DeliveryOutcome::Refused);
        if answer.is_success() {
            let now = answer.json();
            // Compare the content: servers before 1.31 may write again although nothing has changed.
            line.became = if before.status == 404 {
                DeliveryOutcome::Created
            } else {
                line.differences = differences_between(document, &before.ok()?.json(), &now);
                if line.differences.is_empty() { DeliveryOutcome::Unchanged } else { DeliveryOutcome::Configured }
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

    /// Removes delivered objects that are no longer in the source, the last first, and waits until they are gone.
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
            // Another client may have replaced it; do not delete that one.
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
                                 "preconditions": {"uid": held.uid}});
            let answer = retry::while_unready(|| self.api.delete_with(&held.path, &options)).await?;
            let mut line = Delivered {
                name: held.name.clone(),
                version: held.version.clone(),
                became: DeliveryOutcome::Deleted,
                differences: Vec::new(),
                why: String::new(),
            };
            if !answer.is_success() && answer.status != 404 {
                line.became = DeliveryOutcome::Refused;
                line.why = answer.message();
            } else if !self.until_gone(&held.path, timeout).await? {
                line.became = DeliveryOutcome::Refused;
                line.why = format!("it is still there after {} s", timeout.as_secs());
            }
            let gone = line.became == DeliveryOutcome::Deleted;
            seen.push(Observation::Delivered(line));
            if gone {
                seen.extend(self.health_change(&held.name, &held.version, (State::NotFound, String::new())));
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

    /// Returns the resources of everything in a source: by the source's own CRDs, otherwise by discovery.
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
                return Err(ClusterError::from(DocumentError {
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
    seen.iter().any(|seen| matches!(seen, Observation::Delivered(line) if line.became == DeliveryOutcome::Refused))
}

fn delivered(document: &Document, became: DeliveryOutcome) -> Delivered {
    let (_, version) = document.group_version();
    Delivered { name: document.name.clone(), version, became, differences: Vec::new(), why: String::new() }
}

/// The call as it is recorded. CRDs are in the subject, and objects are recorded as a whole.
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

/// Returns the differences between two states of an object, in the parts that a source can set.
fn differences_between(document: &Document, live: &Value, wanted: &Value) -> Vec<FieldDifference> {
    let (live, wanted) = (source_fields(document, live), source_fields(document, wanted));
    let differs = |difference: crate::checks::Difference<'_>| FieldDifference {
        live: difference.was.cloned(),
        wanted: difference.now.cloned(),
        at: difference.pointer,
    };
    differences(&live, &wanted).into_iter().map(differs).collect()
}

/// An object without the parts that a source does not set: fields of the server, and the status, which belongs to a
/// controller, unless the source has one.
fn source_fields(document: &Document, object: &Value) -> Value {
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
    fn only_fields_of_a_source_are_compared() {
        let own = json!({"apiVersion": "a.b/v1", "kind": "W", "metadata": {"name": "n"}, "spec": {"size": 1}});
        let source = Source::new([own]).unwrap();
        let document = &source.documents()[0];
        let live = json!({"metadata": {"uid": "u", "resourceVersion": "1", "labels": {"a": "b"}},
                          "spec": {"size": 2}, "status": {"seen": 1}});
        let wanted = json!({"metadata": {"uid": "u", "resourceVersion": "2", "labels": {"a": "b"}},
                            "spec": {"size": 1}, "status": {"seen": 2}});
        let found = differences_between(document, &live, &wanted);
        assert_eq!(found, [FieldDifference { at: "/spec/size".into(), live: Some(json!(2)), wanted: Some(json!(1)) }]);
        let told = Delivered { differences: found, ..delivered(document, DeliveryOutcome::Drifted) };
        assert_eq!(told.to_string(), "W/n drifted");
        assert_eq!(differences_between(document, &live, &live), []);
    }
}
