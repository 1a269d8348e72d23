//! CRDs that are installed on an existing cluster: scenarios write objects of their own through the webhook that is there, and
//! change nothing of the CRD.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::session::{Request, Session};
use crate::converter::installed::definition;
use crate::evidence::{Action, Observation, ServingStep};
use crate::subject::objects::{Planned, planned};
use crate::subject::{Crd, Subject};
use crdproof_envtest::api::{Permission, Resource, object_key};
use crdproof_envtest::existing::Existing;
use crdproof_envtest::{ClusterError, Server};
use crdproof_schema::kubernetes::KubeVersion;

/// The verbs on objects, and on their subresources.
const OBJECT_VERBS: [&str; 7] = ["create", "get", "list", "watch", "update", "patch", "delete"];
const PART_VERBS: [&str; 3] = ["get", "update", "patch"];

/// The stored version of an object that does not show it.
const UNKNOWN: &str = "unknown";

/// The objects of a run of a kind that is there.
pub(super) struct Deployed<'a> {
    guest: &'a Existing,
    /// The kind, at the version that objects are stored at.
    stored: Resource,
    /// The prefix of names where others may have objects beside ours.
    prefix: String,
}

/// Creates a namespace for the objects of a session, and prepares for a CRD that is deployed.
pub(super) async fn prepare<'a>(
    server: &'a Server,
    crd: &Crd,
    is_deployed: bool,
) -> Result<(String, Option<Deployed<'a>>), ClusterError> {
    let guest = if let (Server::Existing(guest), true) = (server, is_deployed) { Some(&**guest) } else { None };
    // Objects without a namespace need none of ours.
    let namespace = match guest {
        Some(_) if !crd.is_namespaced() => String::new(),
        _ => server.create_namespace().await?,
    };
    let deployed = guest.map(|guest| Deployed::new(guest, crd, &namespace));
    Ok((namespace, deployed))
}

impl<'a> Deployed<'a> {
    fn new(guest: &'a Existing, crd: &Crd, namespace: &str) -> Self {
        let version = crd.storage().map(|version| version.name.clone()).unwrap_or_default();
        let stored = crd.resource(namespace).at(&version);
        // Removed also if the run is interrupted.
        guest.adopt_objects(&stored);
        let prefix = if crd.is_namespaced() { String::new() } else { format!("{}-", guest.run().name()) };
        Self { guest, stored, prefix }
    }

    pub(super) fn selector(&self) -> String {
        self.guest.selector()
    }

    pub(super) fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Gives objects the names and the label of the run.
    pub(super) fn own(&self, objects: &mut [Planned]) {
        for planned in objects {
            planned.name = self.name(&planned.name);
            planned.object["metadata"]["name"] = json!(planned.name);
            self.guest.label_object(&mut planned.object);
        }
    }

    pub(super) async fn remove_objects(&self) -> Result<(), ClusterError> {
        self.guest.remove_objects(&self.stored).await
    }
}

/// Returns the permissions that scenarios need with CRDs that are there.
pub fn deployed_permissions<'c>(crds: impl IntoIterator<Item = &'c Crd>) -> Vec<Permission> {
    let mut needed = vec![Permission::new("get", "apiextensions.k8s.io", "customresourcedefinitions")];
    let mut with_namespace = false;
    for crd in crds {
        with_namespace |= crd.is_namespaced();
        let on = |verb: &str| Permission::new(verb, &crd.group, &crd.names.plural);
        needed.extend(OBJECT_VERBS.map(on));
        let has = |part: &str| {
            crd.versions
                .iter()
                .any(|version| if part == "status" { version.status.is_some() } else { version.scale.is_some() })
        };
        for part in ["status", "scale"].into_iter().filter(|part| has(part)) {
            needed.extend(PART_VERBS.map(|verb| on(verb).on_part(part)));
        }
    }
    if with_namespace {
        needed.extend(["get", "create", "delete"].map(|verb| Permission::new(verb, "", "namespaces")));
    }
    needed
}

/// Returns the paths of what scenarios create where the CRDs of a subject are installed, in order. `RUN` stands for the name
/// of the run.
pub fn deployed_objects(subject: &Subject, seed: u64) -> Vec<String> {
    let namespace = "crdproof-RUN";
    let mut paths = Vec::new();
    if subject.crds.iter().any(Crd::is_namespaced) {
        paths.push(Resource::cluster_wide("", "v1", "namespaces").path_of(namespace));
    }
    for crd in &subject.crds {
        let kind = crd.resource(namespace);
        let planned = planned(subject, crd, KubeVersion::NEWEST, namespace, seed);
        let has_objects = |version: &str| planned.iter().any(|planned| planned.version == version);
        let served = crd.versions.iter().filter(|version| version.served).map(|version| version.name.as_str());
        let watched = served.enumerate().filter(|(_, version)| has_objects(version));
        let watched = watched.map(|(number, version)| (version.to_owned(), format!("watched-{number}")));
        let named = planned.iter().map(|planned| (planned.version.clone(), planned.name.clone()));
        paths.extend(named.chain(watched).map(|(version, name)| {
            let name = if crd.is_namespaced() { name } else { format!("{namespace}-{name}") };
            kind.at(&version).path_of(&name)
        }));
    }
    paths
}

/// Checks, before anything is created, that the CRDs are those of the subject, and that the user may do what scenarios do.
pub async fn check_deployed(guest: &Existing, crds: &[&Crd]) -> Result<(), ClusterError> {
    guest.check_allowed(&deployed_permissions(crds.iter().copied())).await?;
    for crd in crds {
        let there = definition(guest, crd).await?;
        let (ours, theirs) = (outline(&crd.node.to_value()), outline(&there));
        if ours != theirs {
            return Err(ClusterError::NotAllowed {
                why: format!(
                    "the CRD {} in {} is another one: {theirs} there, {ours} in the subject",
                    crd.name,
                    guest.shown()
                ),
                help: format!("test what is there: kubectl get crd {} -o yaml > crd.yaml", crd.name),
            });
        }
    }
    Ok(())
}

/// Describes the parts of a CRD on which scenarios depend.
fn outline(crd: &Value) -> String {
    let spec = &crd["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array().into_iter().flatten().map(|version| {
        let marks = [(&version["storage"], "storage"), (&version["served"], "served")];
        let marks: Vec<&str> = marks.into_iter().filter(|(is, _)| **is == true).map(|(_, mark)| mark).collect();
        format!("{} ({})", text(&version["name"]), marks.join(", "))
    });
    let mut versions: Vec<String> = versions.collect();
    versions.sort();
    let (scope, kind) = (text(&spec["scope"]), text(&spec["names"]["kind"]));
    let strategy = spec["conversion"]["strategy"].as_str().unwrap_or("None");
    format!("{scope} {kind}, conversion {strategy}, versions {}", versions.join(", "))
}

/// Infers the stored version of each object. A write that changes nothing leaves the resource version as it was only if the
/// object is stored at the storage version already.
pub(super) async fn infer_storage(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    let storage = session.crd.storage().map(|version| version.name.clone());
    let (Some(_), Some(storage)) = (&session.deployed, storage) else { return Ok(()) };
    if !session.served().contains(&storage.as_str()) {
        return Ok(());
    }
    session.step(ServingStep::StoredInferred);
    let mut stored = BTreeMap::new();
    for planned in objects {
        let read = session.api.get(&session.path(&storage, &planned.name)).await?;
        if !read.is_success() {
            continue;
        }
        let before = read.json();
        let written = session.put(Request::new(Action::Rewrite, &storage, &planned.name), "", &before).await?;
        let kept = written.is_success()
            && written.json()["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"];
        let version = if kept { storage.clone() } else { UNKNOWN.to_owned() };
        stored.insert(object_key(&before), version);
    }
    session.see(Observation::Stored(stored));
    Ok(())
}
