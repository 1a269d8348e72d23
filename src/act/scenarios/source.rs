//! A source: related documents, in an order in which a server accepts them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::evidence::State;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Resource, definitions};

/// Documents that are applied together: CRDs, namespaces and objects.
#[derive(Debug, Clone, Default)]
pub struct Source {
    documents: Vec<Document>,
}

/// One document of a source.
#[derive(Debug, Clone)]
pub struct Document {
    /// `Kind/Namespace/Name`; `Kind/Name` without a namespace.
    pub name: String,
    /// The document.
    pub object: Value,
    rank: Rank,
}

/// The order in which objects are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Kind,
    Namespace,
    Object,
}

/// An error in a document that no server can accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} {why}")]
pub struct DocumentError {
    /// The document.
    pub name: String,
    /// The problem.
    pub why: String,
    /// The remedy.
    pub help: String,
}

impl DocumentError {
    fn new(name: &str, why: impl Into<String>, help: impl Into<String>) -> Self {
        Self { name: name.to_owned(), why: why.into(), help: help.into() }
    }
}

impl From<DocumentError> for ClusterError {
    fn from(unfit: DocumentError) -> Self {
        Self::NotAllowed { why: unfit.to_string(), help: unfit.help }
    }
}

impl Document {
    fn read(object: Value) -> Result<Self, DocumentError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
        let namespace = text(&object["metadata"]["namespace"]);
        let parts = [kind.as_str(), &namespace, &name].into_iter().filter(|part| !part.is_empty());
        let shown = parts.collect::<Vec<_>>().join("/");
        if kind.is_empty() || text(&object["apiVersion"]).is_empty() {
            return Err(DocumentError::new(&shown, "has no apiVersion or no kind", "set both"));
        }
        if name.is_empty() {
            return Err(DocumentError::new(&shown, "has no name", "set metadata.name; generateName cannot be applied"));
        }
        let (group, _) = Self::split(&object);
        let rank = match (group.as_str(), kind.as_str()) {
            ("apiextensions.k8s.io", "CustomResourceDefinition") => Rank::Kind,
            ("", "Namespace") => Rank::Namespace,
            _ => Rank::Object,
        };
        Ok(Self { name: shown, object, rank })
    }

    fn split(object: &Value) -> (String, String) {
        let text = object["apiVersion"].as_str().unwrap_or_default();
        let (group, version) = text.split_once('/').unwrap_or(("", text));
        (group.to_owned(), version.to_owned())
    }

    /// Group and version.
    pub fn group_version(&self) -> (String, String) {
        Self::split(&self.object)
    }

    pub(super) fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }

    pub(super) fn object_name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    pub(super) fn rank(&self) -> Rank {
        self.rank
    }

    fn identity(&self) -> (String, String) {
        (self.group_version().0, self.name.clone())
    }

    /// Returns its resource, by the plural and the scope of its kind. Refuses a namespaced object without a namespace:
    /// the server would answer with a misleading 404.
    pub(super) fn resource(&self, plural: &str, namespaced: bool) -> Result<Resource, DocumentError> {
        let (group, version) = self.group_version();
        let namespace = self.object["metadata"]["namespace"].as_str().filter(|name| !name.is_empty());
        match (namespaced, namespace) {
            (true, Some(namespace)) => Ok(Resource::namespaced(&group, &version, plural, namespace)),
            (false, None) => Ok(Resource::cluster_wide(&group, &version, plural)),
            (true, None) => Err(DocumentError::new(
                &self.name,
                "lives in a namespace and names none",
                "set metadata.namespace: applying takes it from nowhere else",
            )),
            (false, Some(_)) => Err(DocumentError::new(
                &self.name,
                "lives in no namespace and names one",
                "take metadata.namespace away: its kind has none",
            )),
        }
    }
}

impl Source {
    /// Sorts documents: CRDs, namespaces, then all others in their order.
    pub fn new(objects: impl IntoIterator<Item = Value>) -> Result<Self, DocumentError> {
        let mut documents = objects.into_iter().map(Document::read).collect::<Result<Vec<_>, _>>()?;
        let mut seen = BTreeSet::new();
        if let Some(twice) = documents.iter().find(|document| !seen.insert(document.identity())) {
            return Err(DocumentError::new(&twice.name, "is in the source twice", "keep one of them"));
        }
        documents.sort_by_key(|document| document.rank);
        let source = Self { documents };
        for document in &source.documents {
            source.defined(document)?;
        }
        Ok(source)
    }

    /// The documents, in the order in which they are applied.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The CRDs.
    pub(super) fn kinds(&self) -> Vec<Value> {
        let kinds = self.documents.iter().filter(|document| document.rank == Rank::Kind);
        kinds.map(|document| document.object.clone()).collect()
    }

    /// The CRD of a document's kind, if the source contains it.
    pub(super) fn definition(&self, document: &Document) -> Option<&Value> {
        let (group, _) = document.group_version();
        let mut kinds = self.documents.iter().filter(|other| other.rank == Rank::Kind).map(|other| &other.object);
        kinds.find(|crd| {
            crd["spec"]["group"] == group.as_str() && crd["spec"]["names"]["kind"] == document.object["kind"]
        })
    }

    /// Returns the resource of a document, if the source contains its CRD.
    pub(super) fn defined(&self, document: &Document) -> Result<Option<Resource>, DocumentError> {
        match document.rank {
            Rank::Kind => return Ok(Some(definitions())),
            Rank::Namespace => return document.resource("namespaces", false).map(Some),
            Rank::Object => {}
        }
        let Some(crd) = self.definition(document) else { return Ok(None) };
        let plural = crd["spec"]["names"]["plural"].as_str().unwrap_or_default();
        document.resource(plural, crd["spec"]["scope"] == "Namespaced").map(Some)
    }
}

/// The parts of the status that the schema of an object has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusParts {
    /// `status.conditions`.
    pub conditions: bool,
    /// `status.observedGeneration`.
    pub observed: bool,
}

impl StatusParts {
    /// Returns the parts of the status that a CRD has at a version.
    pub(super) fn by(definition: Option<&Value>, version: &str) -> Self {
        let versions = definition.and_then(|crd| crd["spec"]["versions"].as_array());
        let version = versions.into_iter().flatten().find(|candidate| candidate["name"] == version);
        let status = version
            .and_then(|version| version.pointer("/schema/openAPIV3Schema/properties/status/properties"))
            .unwrap_or(&Value::Null);
        Self {
            conditions: status["conditions"]["type"] == "array",
            observed: status["observedGeneration"]["type"] == "integer",
        }
    }
}

/// Returns the health of an object, by its status: parts that the schema has but the object lacks are in progress.
pub fn health(object: &Value, promised: StatusParts) -> (State, String) {
    let (metadata, status) = (&object["metadata"], &object["status"]);
    if metadata["deletionTimestamp"].is_string() {
        return (State::Terminating, "it is being deleted".into());
    }
    let observed = &status["observedGeneration"];
    if (promised.observed || observed.is_number()) && *observed != metadata["generation"] {
        return (State::InProgress, format!("generation {} is observed, of {}", observed, metadata["generation"]));
    }
    let conditions = || status["conditions"].as_array().into_iter().flatten();
    let is = |kind: &str, wanted: &str| {
        conditions().find(|condition| condition["type"] == kind && condition["status"] == wanted)
    };
    let said = |condition: &Value| {
        let text = |name: &str| condition[name].as_str().unwrap_or_default();
        let words = [text("type"), text("status"), text("message")];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    if let Some(condition) = is("Stalled", "True").or_else(|| is("NamesAccepted", "False")) {
        return (State::Failed, said(condition));
    }
    let waiting = [("Reconciling", "True"), ("Ready", "False"), ("Ready", "Unknown"), ("Established", "False")];
    if let Some(condition) = waiting.into_iter().find_map(|(kind, status)| is(kind, status)) {
        return (State::InProgress, said(condition));
    }
    let definition = object["kind"] == "CustomResourceDefinition";
    if definition && is("Established", "True").is_none() || promised.conditions && conditions().next().is_none() {
        return (State::InProgress, "there are no conditions yet".into());
    }
    (State::Current, String::new())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn widget(name: &str, namespace: Option<&str>) -> Value {
        let mut object = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}});
        if let Some(namespace) = namespace {
            object["metadata"]["namespace"] = json!(namespace);
        }
        object
    }

    fn crd(scope: &str) -> Value {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {"group": "example.com", "scope": scope, "names": {"kind": "Widget", "plural": "widgets"}}})
    }

    #[test]
    fn crds_come_first_then_namespaces_then_objects_in_order() {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "here"}});
        let documents = [widget("b", Some("here")), namespace, widget("a", Some("here")), crd("Namespaced")];
        let source = Source::new(documents).unwrap();
        let names: Vec<&str> = source.documents().iter().map(|document| document.name.as_str()).collect();
        let wanted =
            ["CustomResourceDefinition/widgets.example.com", "Namespace/here", "Widget/here/b", "Widget/here/a"];
        assert_eq!(names, wanted);
        let path = source.defined(&source.documents()[3]).unwrap().unwrap().path_of("a");
        assert_eq!(path, "/apis/example.com/v1/namespaces/here/widgets/a");
    }

    #[test]
    fn documents_that_cannot_be_applied_are_refused_with_a_remedy() {
        let refused = |documents: Vec<Value>| Source::new(documents).unwrap_err();
        let homeless = refused(vec![widget("a", None), crd("Namespaced")]);
        assert_eq!(homeless.to_string(), "Widget/a lives in a namespace and names none");
        assert!(homeless.help.starts_with("set metadata.namespace"), "{}", homeless.help);
        let homely = refused(vec![widget("a", Some("here")), crd("Cluster")]);
        assert!(homely.help.starts_with("take metadata.namespace away"), "{}", homely.help);
        let twice = refused(vec![widget("a", Some("here")), widget("a", Some("here"))]);
        assert_eq!(twice.to_string(), "Widget/here/a is in the source twice");
        assert_eq!(refused(vec![widget("", Some("here"))]).to_string(), "Widget/here has no name");
        assert_eq!(refused(vec![json!({"metadata": {"name": "a"}})]).to_string(), "a has no apiVersion or no kind");
        assert_eq!(refused(vec![json!(7)]).to_string(), " has no apiVersion or no kind");
    }

    #[test]
    fn health_depends_on_conditions_and_the_observed_generation() {
        let status = |status: Value| json!({"metadata": {"generation": 2}, "status": status});
        let state = |object: &Value, promised| health(object, promised).0;
        let (nothing, all) = (StatusParts::default(), StatusParts { conditions: true, observed: true });
        assert_eq!(state(&status(json!({})), nothing), State::Current);
        assert_eq!(state(&status(json!({})), all), State::InProgress);
        assert_eq!(state(&status(json!({"observedGeneration": 1})), nothing), State::InProgress);
        let ready = |word: &str| json!({"observedGeneration": 2, "conditions": [{"type": "Ready", "status": word}]});
        assert_eq!(state(&status(ready("True")), all), State::Current);
        assert_eq!(state(&status(ready("Unknown")), all), State::InProgress);
        let stalled = json!({"conditions": [{"type": "Stalled", "status": "True", "message": "no quota"}]});
        assert_eq!(health(&status(stalled), nothing), (State::Failed, "Stalled True no quota".into()));
        assert_eq!(state(&json!({"kind": "CustomResourceDefinition"}), nothing), State::InProgress);
        let going = json!({"metadata": {"deletionTimestamp": "2026-11-16T00:00:00Z"}});
        assert_eq!(state(&going, nothing), State::Terminating);
    }
}
