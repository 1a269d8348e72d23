//! Objects of any kind, as manifests contain them.

use serde_json::{Value, json};

use super::{Api, PatchKind, Query, Resource, definitions};
use crate::ClusterError;

impl Api {
    /// Returns the plural of a kind, and true if it is namespaced, by discovery. `None` if the server does not have the
    /// kind.
    pub async fn discover(
        &self,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Result<Option<(String, bool)>, ClusterError> {
        let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
        let answer = self.get(&format!("{root}/{version}")).await?.json();
        let of_kind = answer["resources"].as_array().into_iter().flatten().filter(|found| found["kind"] == kind);
        // Subresources, such as `pods/eviction`, have kinds, too.
        let mut whole = of_kind.filter_map(|found| Some((found["name"].as_str()?, found["namespaced"] == true)));
        let found = whole.find(|(plural, _)| !plural.contains('/'));
        Ok(found.map(|(plural, namespaced)| (plural.to_owned(), namespaced)))
    }

    /// Creates or changes objects by server-side apply: CRDs first, then, once these are served, namespaces, then the
    /// others. Objects without a namespace go to `default`.
    pub async fn apply_objects(&self, objects: &[Value], manager: &str) -> Result<(), ClusterError> {
        let (crds, others): (Vec<&Value>, Vec<&Value>) =
            objects.iter().partition(|object| object["kind"] == "CustomResourceDefinition");
        for crd in &crds {
            self.apply_object(&definitions(), crd, manager).await?;
        }
        self.until_served(&crds.into_iter().cloned().collect::<Vec<_>>()).await?;
        let (namespaces, others): (Vec<&Value>, Vec<&Value>) =
            others.into_iter().partition(|object| object["kind"] == "Namespace" && object["apiVersion"] == "v1");
        for object in namespaces.into_iter().chain(others) {
            let resource = self.resource_of(object).await?;
            self.apply_object(&resource, object, manager).await?;
        }
        Ok(())
    }

    async fn resource_of(&self, object: &Value) -> Result<Resource, ClusterError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", &api_version));
        let Some((plural, namespaced)) = self.discover(group, version, &kind).await? else {
            return Err(ClusterError::UnknownKind { kind, api_version });
        };
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
        let resource = Resource::cluster_wide(group, version, &plural);
        Ok(if namespaced { resource.within(namespace) } else { resource })
    }

    async fn apply_object(&self, resource: &Resource, object: &Value, manager: &str) -> Result<(), ClusterError> {
        let path = resource.path_of(object["metadata"]["name"].as_str().unwrap_or_default());
        let mut object = object.clone();
        // Objects that were read from a server have managedFields, which apply refuses.
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        if let Some(namespace) = &resource.namespace {
            object["metadata"]["namespace"] = json!(namespace);
        }
        let query = Query::new().manager(manager).force();
        self.patch(&query.on(path), PatchKind::Apply, &object).await?.ok()?;
        Ok(())
    }
}
