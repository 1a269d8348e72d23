//! The session of scenarios: a server, a CRD on it, a namespace, and the trace.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::deployed::{self, Deployed};
use super::usable::{self, Unusable, usable};
use super::{Progress, Setup};
use crate::converter::endpoint::Endpoint;
use crate::converter::proxy::ConversionProxy;
use crate::evidence::{
    Action, Bodies, Body, Call, Listing, Names, Observation, Record, ScenarioStep, ServingStep, Snapshot, Trace,
    WatchLog,
};
use crate::subject::objects::{Planned, planned};
use crate::subject::{Crd, Subject};
use crdproof_envtest::api::{Answer, Api, PatchKind, Query, Resource, definitions, object_key};
use crdproof_envtest::retry;
use crdproof_envtest::{ClusterError, Server};

/// A server with a CRD on it.
pub(super) struct Session<'a> {
    pub(super) server: &'a Server,
    pub(super) api: Api,
    pub(super) crd: &'a Crd,
    pub(super) converter: Option<Arc<dyn Endpoint>>,
    pub(super) proxy: Option<ConversionProxy>,
    pub(super) kind: Resource,
    pub(super) namespace: String,
    pub(super) subject: &'a Subject,
    /// The objects that scenarios write.
    pub(super) objects: Vec<Planned>,
    /// Objects that scenarios leave out, until the server has been asked about them.
    pub(super) left_out: Vec<Unusable>,
    trace: Trace,
    /// All observed objects, each once.
    bodies: Bodies,
    step: ScenarioStep,
    /// True if the server refused the CRD.
    pub(super) refused: bool,
    /// True if the control plane migrates, too.
    pub(super) in_tree: bool,
    progress: Option<&'a Progress<'a>>,
    /// The access to a CRD that is installed there and must not be changed.
    pub(super) deployed: Option<Deployed<'a>>,
}

/// One request to the server.
pub(super) struct Request<'q> {
    pub(super) action: Action,
    pub(super) version: &'q str,
    pub(super) name: &'q str,
}

impl<'q> Request<'q> {
    pub(super) fn new(action: Action, version: &'q str, name: &'q str) -> Self {
        Self { action, version, name }
    }
}

impl<'a> Session<'a> {
    /// Prepares a namespace, and a proxy if there is a converter to call.
    pub(super) async fn open(server: &'a Server, setup: Setup<'a>) -> Result<Self, ClusterError> {
        let Setup { subject, crd, converter, seed, in_tree_migration: in_tree, deployed, progress } = setup;
        let api = server.api().counting();
        let (namespace, deployed) = deployed::prepare(server, crd, deployed).await?;
        let mut objects = planned(subject, crd, server.version(), &namespace, seed);
        if let Some(deployed) = &deployed {
            deployed.own(&mut objects);
        }
        let (objects, left_out) = usable(crd, Some(server.version()), converter.as_ref(), objects).await;
        let proxy = match (converter.clone(), server.host_access()) {
            (Some(converter), Some(access)) => Some(ConversionProxy::start(&access, converter).await?),
            _ => None,
        };
        let kind = crd.resource(&namespace);
        let trace = Trace {
            kubernetes: server.version(),
            recorded: jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string(),
            crd: crd.name.clone(),
            requests: 0,
            scenarios: Vec::new(),
            records: Vec::new(),
        };
        let (step, bodies) = (ScenarioStep::Serving(ServingStep::Install), Bodies::default());
        let refused = false;
        Ok(Self {
            server,
            api,
            crd,
            converter,
            proxy,
            kind,
            namespace,
            subject,
            objects,
            left_out,
            trace,
            bodies,
            step,
            refused,
            in_tree,
            progress,
            deployed,
        })
    }

    /// Returns the trace.
    pub(super) async fn close(mut self) -> Trace {
        self.trace.requests = self.api.requests();
        if let Some(proxy) = self.proxy {
            proxy.stop().await;
        }
        self.trace
    }

    /// Starts a step, to which later observations belong.
    pub(super) fn step(&mut self, step: impl Into<ScenarioStep>) {
        self.step = step.into();
        if let Some(progress) = self.progress {
            progress(self.step, self.api.requests());
        }
    }

    pub(super) fn see(&mut self, seen: Observation) {
        self.trace.records.push(Record { step: self.step, seen });
    }

    pub(super) fn see_all(&mut self, seen: Vec<Observation>) {
        for seen in seen {
            self.see(seen);
        }
    }

    pub(super) fn planned(&self) -> Vec<Planned> {
        self.objects.clone()
    }

    /// The served versions.
    pub(super) fn served(&self) -> Vec<&'a str> {
        self.crd.versions.iter().filter(|version| version.served).map(|version| version.name.as_str()).collect()
    }

    /// The path of an object at a version.
    pub(super) fn path(&self, version: &str, name: &str) -> String {
        self.kind.at(version).path_of(name)
    }

    /// The CRD as it is installed, with changes.
    pub(super) fn definition(&self, change: impl FnOnce(&mut Value)) -> Value {
        let mut definition = self.crd.node.to_value();
        if let Some(fields) = definition.as_object_mut() {
            fields.remove("status");
        }
        let mut definition = match &self.proxy {
            Some(proxy) => proxy.redirect(&definition),
            None => definition,
        };
        change(&mut definition);
        if let Server::Existing(guest) = self.server {
            guest.adopt(&mut definition);
        }
        definition
    }

    /// Installs the CRD unless it is deployed already, and waits until it answers.
    pub(super) async fn install(&mut self, definition: &Value) -> Result<(), ClusterError> {
        if self.deployed.is_none() {
            self.create_definition(definition).await?;
        }
        self.look_at_definition().await?;
        usable::settle_left_out(self).await
    }

    async fn create_definition(&mut self, definition: &Value) -> Result<(), ClusterError> {
        let answer = self.api.post(&definitions().path(), definition).await?;
        if answer.status == 409 {
            // Another CRD of this name says nothing about the CRD under test.
            return Err(ClusterError::Exists { what: definitions().path_of(&self.crd.name) });
        }
        let answered = if answer.is_success() { Value::Null } else { answer.json() };
        self.note(&Request::new(Action::Install, "", ""), Value::Null, &answer, answered);
        // The trace has the server's message; the scenario cannot continue.
        self.refused = !answer.is_success();
        answer.ok()?;
        self.api.until_served(std::slice::from_ref(definition)).await
    }

    /// Changes the installed CRD, and records it.
    pub(super) async fn redefine(&mut self, action: Action, definition: &Value) -> Result<Answer, ClusterError> {
        let path = definitions().path_of(&self.crd.name);
        let end = Instant::now() + retry::TIMEOUT;
        loop {
            let current = self.api.get(&path).await?.ok()?.json();
            let mut next = definition.clone();
            next["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
            let answer = self.api.put(&path, &next).await?;
            // Controllers of the server write to the status at the same time.
            if answer.status == 409 && Instant::now() < end {
                continue;
            }
            let answered = if answer.is_success() { Value::Null } else { answer.json() };
            self.note(&Request::new(action.clone(), "", ""), Value::Null, &answer, answered);
            self.look_at_definition().await?;
            return Ok(answer);
        }
    }

    pub(super) async fn look_at_definition(&mut self) -> Result<(), ClusterError> {
        let mut seen = self.api.get(&definitions().path_of(&self.crd.name)).await?.ok()?.json();
        // Schemas are in the subject, and the proxy's authority does not matter.
        if let Some(Value::Array(versions)) = seen.pointer_mut("/spec/versions") {
            versions.iter_mut().filter_map(Value::as_object_mut).for_each(|version| drop(version.remove("schema")));
        }
        if let Some(Value::Object(spec)) = seen.pointer_mut("/spec") {
            spec.remove("conversion");
        }
        if let Some(Value::Object(metadata)) = seen.pointer_mut("/metadata") {
            metadata.retain(|name, _| matches!(name.as_str(), "name" | "generation"));
        }
        self.see(Observation::Definition(seen));
        Ok(())
    }

    /// Records a response.
    pub(super) fn note(&mut self, request: &Request<'_>, sent: Value, answer: &Answer, answered: Value) {
        self.see(Observation::Call(Call {
            action: request.action.clone(),
            version: request.version.to_owned(),
            name: request.name.to_owned(),
            sent,
            status: answer.status,
            warnings: answer.warnings(),
            answered,
        }));
    }

    /// Creates an object, and records the response.
    pub(super) async fn create(
        &mut self,
        request: Request<'_>,
        query: &Query,
        object: &Value,
    ) -> Result<Answer, ClusterError> {
        let path = query.on(self.kind.at(request.version).path());
        let answer = retry::while_unready(|| self.api.post(&path, object)).await?;
        self.note(&request, object.clone(), &answer, answer.json());
        Ok(answer)
    }

    /// Reads an object, and records the response.
    pub(super) async fn get(&mut self, request: Request<'_>) -> Result<Answer, ClusterError> {
        let path = self.path(request.version, request.name);
        let answer = retry::while_unready(|| self.api.get(&path)).await?;
        self.note(&request, Value::Null, &answer, answer.json());
        Ok(answer)
    }

    /// Replaces an object or a part of it, and records the response.
    pub(super) async fn put(
        &mut self,
        request: Request<'_>,
        part: &str,
        object: &Value,
    ) -> Result<Answer, ClusterError> {
        let path = match part {
            "" => self.path(request.version, request.name),
            part => self.kind.at(request.version).part_of(request.name, part),
        };
        let answer = retry::while_unready(|| self.api.put(&path, object)).await?;
        self.note(&request, object.clone(), &answer, answer.json());
        Ok(answer)
    }

    /// Changes an object by a patch, and records the response.
    pub(super) async fn patch(
        &mut self,
        request: Request<'_>,
        kind: PatchKind,
        query: &Query,
        changes: &Value,
    ) -> Result<Answer, ClusterError> {
        let path = query.on(self.path(request.version, request.name));
        let answer = retry::while_unready(|| self.api.patch(&path, kind, changes)).await?;
        self.note(&request, changes.clone(), &answer, answer.json());
        Ok(answer)
    }

    /// Deletes an object, and records the response.
    pub(super) async fn delete(&mut self, request: Request<'_>) -> Result<Answer, ClusterError> {
        let path = self.path(request.version, request.name);
        let answer = retry::while_unready(|| self.api.delete(&path)).await?;
        self.note(&request, Value::Null, &answer, Value::Null);
        Ok(answer)
    }

    /// The query for our own objects, where others may have objects of this kind.
    pub(super) fn own(&self, query: Query) -> Query {
        match &self.deployed {
            Some(deployed) => query.labels(&deployed.selector()),
            None => query,
        }
    }

    /// The name of an object of ours, where others may have objects of this kind.
    pub(super) fn name(&self, name: &str) -> String {
        self.deployed.as_ref().map_or_else(|| name.to_owned(), |deployed| deployed.name(name))
    }

    /// All objects at a version.
    pub(super) async fn list(&self, version: &str, query: &Query) -> Result<Value, ClusterError> {
        let path = self.own(query.clone()).on(self.kind.at(version).path());
        Ok(retry::while_unready(|| self.api.get(&path)).await?.ok()?.json())
    }

    /// Records all objects at these versions.
    pub(super) async fn snapshot(&mut self, versions: &[&str], query: &Query) -> Result<(), ClusterError> {
        for version in versions {
            let list = self.list(version, query).await?;
            let items = list["items"].as_array().into_iter().flatten();
            let objects: BTreeMap<String, Body> =
                items.map(|item| (object_key(item), self.bodies.keep(item.clone()))).collect();
            self.see(Observation::Snapshot(Snapshot { version: (*version).to_owned(), objects }));
        }
        Ok(())
    }

    /// Records the names in a response.
    pub(super) fn see_names(&mut self, what: Listing, versions: &[&str], items: &Value) {
        let items = items.as_array().into_iter().flatten();
        let names = items.map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect();
        let versions = versions.iter().map(|version| (*version).to_owned()).collect();
        self.see(Observation::Names(Names { what, versions, names }));
    }

    pub(super) fn see_watch(&mut self, log: WatchLog) {
        self.see(Observation::Watch(log));
    }

    /// Repeats a request until the response is as wanted; returns the last response in any case.
    pub(super) async fn until(
        &self,
        path: &str,
        wanted: impl Fn(&Answer) -> bool,
    ) -> Result<(bool, Answer), ClusterError> {
        retry::get_until(&self.api, path, wanted).await
    }

    /// Removes the CRD with all its objects, or only our objects if the CRD was there. Returns the reason if the server cannot delete the objects, which is a
    /// problem of the subject.
    pub(super) async fn clear(&mut self) -> Result<Option<String>, ClusterError> {
        if let Some(deployed) = &self.deployed {
            deployed.remove_objects().await?;
            return Ok(None);
        }
        if let Some(proxy) = &self.proxy {
            proxy.fail(None);
        }
        let path = definitions().path_of(&self.crd.name);
        let there = self.api.get(&path).await?;
        if let (Server::Existing(guest), true) = (self.server, there.is_success())
            && !guest.is_ours(&there.json())
        {
            // On an existing cluster, remove only what we created.
            return Ok(None);
        }
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1",
                             "preconditions": {"uid": there.json()["metadata"]["uid"]}});
        let answer = if there.status == 404 { there } else { self.api.delete_with(&path, &options).await? };
        if answer.status != 404 {
            answer.ok()?;
        }
        let (gone, last) = self.until(&path, |answer| answer.status == 404).await?;
        if gone {
            return Ok(None);
        }
        let seconds = retry::TIMEOUT.as_secs();
        // An existing cluster would keep it.
        if !matches!(self.server, Server::Local(_)) {
            return Err(ClusterError::Deadline { call: format!("DELETE {path}"), seconds });
        }
        let last = last.json();
        let conditions = last["status"]["conditions"].as_array().into_iter().flatten();
        let mut terminating = conditions.filter(|condition| condition["type"] == "Terminating");
        let why =
            terminating.find_map(|condition| condition["message"].as_str()).unwrap_or("the server does not say why");
        Ok(Some(format!("{} was deleted and is still there after {seconds} s: {why}", self.crd.name)))
    }
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("crd", &self.crd.name).finish_non_exhaustive()
    }
}
