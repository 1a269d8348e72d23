//! Inventory of a cluster: its CRDs, and the versions that their objects name. Keeps no content of objects, and its
//! size does not depend on their number.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The annotation in which `kubectl apply` keeps the last applied manifest.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Maximum number of objects that are named; others are only counted.
const MAX_NAMED_OBJECTS: usize = 5;

/// Maximum number of managers; others are counted together, because some managers change their name with every start.
const MAX_MANAGERS: usize = 40;

/// The name for all other managers.
const OTHERS: &str = "(others)";

/// One CRD and its objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrdInventory {
    /// `metadata.name`.
    pub name: String,
    /// `spec.group`.
    pub group: String,
    /// `spec.names.kind`.
    pub kind: String,
    /// `spec.names.plural`.
    pub plural: String,
    /// `spec.versions`, in their order.
    pub versions: Vec<CrdVersion>,
    /// `status.storedVersions`.
    pub stored: Vec<String>,
    /// `spec.conversion.webhook`, if that is the strategy.
    pub webhook: Option<Webhook>,
    /// `status.conditions`.
    pub conditions: Vec<Condition>,
    /// The versions that its objects name.
    pub objects: ObjectCounts,
    /// The reason why its objects were not read, if they were not.
    pub not_read: Option<NotRead>,
    /// Objects of any kind that name an object of this kind as their owner, by version.
    pub owners: BTreeMap<String, Count>,
}

/// A version of a CRD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrdVersion {
    /// Its name.
    pub name: String,
    /// True if it is served.
    pub served: bool,
    /// True if it is the storage version.
    pub storage: bool,
}

/// The address of a conversion webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Webhook {
    /// `clientConfig.url`.
    pub url: Option<String>,
    /// `clientConfig.service`, as `namespace/name`.
    pub service: Option<String>,
    /// `clientConfig.caBundle`, still in base64.
    pub bundle: Option<String>,
    /// `conversionReviewVersions`.
    pub reviews: Vec<String>,
}

/// A condition of a CRD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    /// `type`.
    pub name: String,
    /// `status`.
    pub status: String,
    /// `reason` and `message`.
    pub why: String,
}

/// The reason why objects were not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRead {
    /// Listing them is forbidden.
    Forbidden(String),
    /// The server failed to list them, as it would for any client.
    Broken(String),
    /// They were not requested, or cannot be served.
    Unavailable(String),
}

/// Objects with a common property.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The number.
    pub objects: u64,
    /// The names of the first ones.
    pub first: Vec<String>,
}

impl Count {
    fn add(&mut self, name: &str) {
        self.objects += 1;
        if self.first.len() < MAX_NAMED_OBJECTS {
            self.first.push(name.to_owned());
        }
    }
}

/// The versions that the objects of a kind name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectCounts {
    /// The number of objects.
    pub seen: u64,
    /// The number of objects without managedFields.
    pub bare: u64,
    /// The number of objects with a managedFields entry, by version and manager.
    pub entries: BTreeMap<(String, String), Count>,
    /// The number of objects that `kubectl apply` wrote last, by version.
    pub applied: BTreeMap<String, Count>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// `namespace/name`, or only the name.
pub fn shown(object: &Value) -> String {
    let meta = &object["metadata"];
    match meta["namespace"].as_str().filter(|namespace| !namespace.is_empty()) {
        Some(namespace) => format!("{namespace}/{}", text(&meta["name"])),
        None => text(&meta["name"]),
    }
}

impl CrdInventory {
    /// Reads a CRD as a server returns it. Missing fields are empty.
    pub fn read(definition: &Value) -> Self {
        let (spec, status) = (&definition["spec"], &definition["status"]);
        let offer = |version: &Value| CrdVersion {
            name: text(&version["name"]),
            served: version["served"] == true,
            storage: version["storage"] == true,
        };
        let condition = |each: &Value| {
            let why = [text(&each["reason"]), text(&each["message"])];
            let why = why.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
            Condition { name: text(&each["type"]), status: text(&each["status"]), why }
        };
        let conversion = &spec["conversion"];
        Self {
            name: text(&definition["metadata"]["name"]),
            group: text(&spec["group"]),
            kind: text(&spec["names"]["kind"]),
            plural: text(&spec["names"]["plural"]),
            versions: list(&spec["versions"]).map(offer).collect(),
            stored: list(&status["storedVersions"]).map(text).collect(),
            webhook: (conversion["strategy"] == "Webhook").then(|| Webhook::read(&conversion["webhook"])),
            conditions: list(&status["conditions"]).map(condition).collect(),
            ..Self::default()
        }
    }

    /// The version of this name, if the CRD has it.
    pub fn version(&self, name: &str) -> Option<&CrdVersion> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The storage version.
    pub fn storage(&self) -> Option<&CrdVersion> {
        self.versions.iter().find(|version| version.storage)
    }

    /// The version for reading objects: the storage version if it is served, because that needs no conversion.
    pub fn through(&self) -> Option<&CrdVersion> {
        let served = |version: &&CrdVersion| version.served;
        self.storage().filter(served).or_else(|| self.versions.iter().find(served))
    }

    /// Counts the versions that an object of this kind names.
    pub fn add(&mut self, object: &Value) {
        let (counts, name, meta) = (&mut self.objects, shown(object), &object["metadata"]);
        counts.seen += 1;
        let mut entries: Vec<(String, String)> = list(&meta["managedFields"])
            .map(|entry| (version_of(entry["apiVersion"].as_str(), &self.group), text(&entry["manager"])))
            .collect();
        counts.bare += u64::from(entries.is_empty());
        // A manager may have several entries at a version: by operation, and by subresource.
        entries.sort();
        entries.dedup();
        for (version, manager) in entries {
            let known = counts.entries.contains_key(&(version.clone(), manager.clone()));
            let many = counts.entries.keys().filter(|(each, _)| *each == version).count() >= MAX_MANAGERS;
            let manager = if known || !many { manager } else { OTHERS.to_owned() };
            counts.entries.entry((version, manager)).or_default().add(&name);
        }
        if let Some(applied) = meta["annotations"][LAST_APPLIED].as_str()
            && let Ok(applied) = serde_json::from_str::<Value>(applied)
            && let Some(version) = applied["apiVersion"].as_str()
        {
            counts.applied.entry(version_of(Some(version), &self.group)).or_default().add(&name);
        }
    }

    /// Counts an object of any kind that names one of this kind as its owner.
    pub fn add_owned(&mut self, plural: &str, object: &Value) {
        let mut versions: Vec<String> = list(&object["metadata"]["ownerReferences"])
            .filter(|owner| owner["kind"] == self.kind.as_str())
            .filter_map(|owner| owner["apiVersion"].as_str()?.strip_prefix(&self.group)?.strip_prefix('/'))
            .map(str::to_owned)
            .collect();
        versions.sort();
        versions.dedup();
        for version in versions {
            self.owners.entry(version).or_default().add(&format!("{plural} {}", shown(object)));
        }
    }
}

impl Webhook {
    fn read(webhook: &Value) -> Self {
        let client = &webhook["clientConfig"];
        let service = client["service"].as_object().map(|service| {
            let part = |name: &str| service.get(name).map(text).unwrap_or_default();
            format!("{}/{}", part("namespace"), part("name"))
        });
        Self {
            url: client["url"].as_str().map(str::to_owned),
            service,
            bundle: client["caBundle"].as_str().map(str::to_owned),
            reviews: list(&webhook["conversionReviewVersions"]).map(text).collect(),
        }
    }
}

/// The version of an `apiVersion` of the group; the whole value for another group.
fn version_of(api_version: Option<&str>, group: &str) -> String {
    let whole = api_version.unwrap_or_default();
    whole.strip_prefix(group).and_then(|rest| rest.strip_prefix('/')).unwrap_or(whole).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn widgets() -> CrdInventory {
        CrdInventory::read(&json!({"metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"}, "versions": [
                {"name": "v1", "served": true, "storage": false}, {"name": "v2", "served": false, "storage": true}]}}))
    }

    #[test]
    fn objects_are_read_through_the_storage_version_or_a_served_one() {
        let mut inventory = widgets();
        assert_eq!(inventory.through().map(|version| version.name.as_str()), Some("v1"));
        inventory.versions[1].served = true;
        assert_eq!(inventory.through().map(|version| version.name.as_str()), Some("v2"));
        assert_eq!(CrdInventory::read(&json!([1])).through(), None);
    }

    #[test]
    fn each_object_counts_once_for_a_manager_at_a_version() {
        let mut inventory = widgets();
        let entry = |version: &str, part: &str| json!({"apiVersion": version, "manager": "alice", "subresource": part});
        inventory.add(&json!({"metadata": {"name": "a", "namespace": "n", "managedFields": [
            entry("example.com/v1", ""), entry("example.com/v1", "status"), entry("other.io/v1", "")]}}));
        inventory.add(
            &json!({"metadata": {"name": "b", "annotations": {LAST_APPLIED: "{\"apiVersion\":\"example.com/v0\"}"}}}),
        );
        inventory.add(&json!({"metadata": {"name": "c", "annotations": {LAST_APPLIED: "no JSON"}}}));
        let keys: Vec<_> = inventory.objects.entries.keys().map(|(version, _)| version.as_str()).collect();
        assert_eq!(keys, ["other.io/v1", "v1"]);
        let count = &inventory.objects.entries[&("v1".to_owned(), "alice".to_owned())];
        assert_eq!((count.objects, count.first.as_slice()), (1, ["n/a".to_owned()].as_slice()));
        assert_eq!((inventory.objects.seen, inventory.objects.bare), (3, 2));
        assert_eq!(inventory.objects.applied.keys().collect::<Vec<_>>(), ["v0"]);
    }

    #[test]
    fn memory_does_not_grow_with_managers_or_objects() {
        let mut inventory = widgets();
        for number in 0..1000 {
            inventory.add(&json!({"metadata": {"name": format!("o-{number}"), "managedFields": [
                {"apiVersion": "example.com/v1", "manager": format!("m-{number}")}]}}));
        }
        assert_eq!(inventory.objects.entries.len(), MAX_MANAGERS + 1);
        let others = &inventory.objects.entries[&("v1".to_owned(), OTHERS.to_owned())];
        assert_eq!((others.objects, others.first.len()), (960, MAX_NAMED_OBJECTS));
    }

    #[test]
    fn owners_are_known_by_group_and_kind() {
        let mut inventory = widgets();
        let owner = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind, "name": "x"});
        inventory.add_owned("pods", &json!({"metadata": {"name": "p", "ownerReferences": [
            owner("example.com/v1", "Widget"), owner("example.com/v1", "Gadget"), owner("example.com.au/v1", "Widget")]}}));
        assert_eq!(inventory.owners.keys().collect::<Vec<_>>(), ["v1"]);
        assert_eq!(inventory.owners["v1"].first, ["pods p"]);
    }
}
