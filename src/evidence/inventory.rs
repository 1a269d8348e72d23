//! What a cluster holds: its CRDs, and which versions their objects name. Nothing of an object's content is kept, and what is
//! kept does not grow with the number of objects.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The annotation in which `kubectl apply` keeps the manifest that it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Objects beyond these are only counted.
const NAMED: usize = 5;

/// Managers beyond these are counted together: some give themselves a new name with every start.
const MANAGERS: usize = 40;

/// What stands for all managers beyond those.
const OTHERS: &str = "(others)";

/// One CRD and its objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holding {
    /// `metadata.name`.
    pub name: String,
    /// `spec.group`.
    pub group: String,
    /// `spec.names.kind`.
    pub kind: String,
    /// `spec.names.plural`.
    pub plural: String,
    /// `spec.versions`, in their order.
    pub versions: Vec<Offer>,
    /// `status.storedVersions`.
    pub stored: Vec<String>,
    /// `spec.conversion.webhook`, where that is the strategy.
    pub webhook: Option<Webhook>,
    /// `status.conditions`.
    pub conditions: Vec<Condition>,
    /// What the objects say.
    pub objects: Tally,
    /// Why they were not looked at, where they were not.
    pub unseen: Option<Unseen>,
    /// Objects of any kind that name an object of this one as their owner, by its version.
    pub owners: BTreeMap<String, Count>,
}

/// A version of a CRD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// Whether it is served.
    pub served: bool,
    /// Whether objects are stored at it.
    pub storage: bool,
}

/// How a conversion webhook is called.
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

/// Why objects were not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unseen {
    /// We may not list them.
    Forbidden(String),
    /// The server could not list them, which it cannot for others either.
    Broken(String),
    /// Nobody asked, or there was nothing to ask.
    Elsewhere(String),
}

/// Objects that have something in common.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many.
    pub objects: u64,
    /// The first of them.
    pub first: Vec<String>,
}

impl Count {
    fn add(&mut self, name: &str) {
        self.objects += 1;
        if self.first.len() < NAMED {
            self.first.push(name.to_owned());
        }
    }
}

/// What the objects of a kind say about versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there are.
    pub seen: u64,
    /// How many of them have no managedFields at all.
    pub bare: u64,
    /// By version and manager: objects with such an entry of managedFields.
    pub entries: BTreeMap<(String, String), Count>,
    /// By version: objects that `kubectl apply` wrote at it last.
    pub applied: BTreeMap<String, Count>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// `namespace/name`, or the name alone.
pub fn shown(object: &Value) -> String {
    let meta = &object["metadata"];
    match meta["namespace"].as_str().filter(|namespace| !namespace.is_empty()) {
        Some(namespace) => format!("{namespace}/{}", text(&meta["name"])),
        None => text(&meta["name"]),
    }
}

impl Holding {
    /// Reads a CRD as a server gives it. Tolerant: what is missing is empty.
    pub fn read(definition: &Value) -> Self {
        let (spec, status) = (&definition["spec"], &definition["status"]);
        let offer = |version: &Value| Offer {
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

    /// The version by this name, where the CRD has it.
    pub fn version(&self, name: &str) -> Option<&Offer> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The version that objects are stored at.
    pub fn storage(&self) -> Option<&Offer> {
        self.versions.iter().find(|version| version.storage)
    }

    /// The version to read objects through: the storage version where it is served, since that needs no conversion.
    pub fn through(&self) -> Option<&Offer> {
        let served = |version: &&Offer| version.served;
        self.storage().filter(served).or_else(|| self.versions.iter().find(served))
    }

    /// Counts what an object of this kind says.
    pub fn add(&mut self, object: &Value) {
        let (tally, name, meta) = (&mut self.objects, shown(object), &object["metadata"]);
        tally.seen += 1;
        let mut entries: Vec<(String, String)> = list(&meta["managedFields"])
            .map(|entry| (version_of(entry["apiVersion"].as_str(), &self.group), text(&entry["manager"])))
            .collect();
        tally.bare += u64::from(entries.is_empty());
        // One manager may have several entries at a version: by operation, and by subresource.
        entries.sort();
        entries.dedup();
        for (version, manager) in entries {
            let known = tally.entries.contains_key(&(version.clone(), manager.clone()));
            let many = tally.entries.keys().filter(|(each, _)| *each == version).count() >= MANAGERS;
            let manager = if known || !many { manager } else { OTHERS.to_owned() };
            tally.entries.entry((version, manager)).or_default().add(&name);
        }
        if let Some(applied) = meta["annotations"][LAST_APPLIED].as_str()
            && let Ok(applied) = serde_json::from_str::<Value>(applied)
            && let Some(version) = applied["apiVersion"].as_str()
        {
            tally.applied.entry(version_of(Some(version), &self.group)).or_default().add(&name);
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

/// The version of an `apiVersion` of the group; all of it where the group is another.
fn version_of(api_version: Option<&str>, group: &str) -> String {
    let whole = api_version.unwrap_or_default();
    whole.strip_prefix(group).and_then(|rest| rest.strip_prefix('/')).unwrap_or(whole).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn widgets() -> Holding {
        Holding::read(&json!({"metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"}, "versions": [
                {"name": "v1", "served": true, "storage": false}, {"name": "v2", "served": false, "storage": true}]}}))
    }

    #[test]
    fn objects_are_read_through_the_storage_version_or_a_served_one() {
        let mut holding = widgets();
        assert_eq!(holding.through().map(|version| version.name.as_str()), Some("v1"));
        holding.versions[1].served = true;
        assert_eq!(holding.through().map(|version| version.name.as_str()), Some("v2"));
        assert_eq!(Holding::read(&json!([1])).through(), None);
    }

    #[test]
    fn each_object_counts_once_for_a_manager_at_a_version() {
        let mut holding = widgets();
        let entry = |version: &str, part: &str| json!({"apiVersion": version, "manager": "alice", "subresource": part});
        holding.add(&json!({"metadata": {"name": "a", "namespace": "n", "managedFields": [
            entry("example.com/v1", ""), entry("example.com/v1", "status"), entry("other.io/v1", "")]}}));
        holding.add(
            &json!({"metadata": {"name": "b", "annotations": {LAST_APPLIED: "{\"apiVersion\":\"example.com/v0\"}"}}}),
        );
        holding.add(&json!({"metadata": {"name": "c", "annotations": {LAST_APPLIED: "no JSON"}}}));
        let keys: Vec<_> = holding.objects.entries.keys().map(|(version, _)| version.as_str()).collect();
        assert_eq!(keys, ["other.io/v1", "v1"]);
        let count = &holding.objects.entries[&("v1".to_owned(), "alice".to_owned())];
        assert_eq!((count.objects, count.first.as_slice()), (1, ["n/a".to_owned()].as_slice()));
        assert_eq!((holding.objects.seen, holding.objects.bare), (3, 2));
        assert_eq!(holding.objects.applied.keys().collect::<Vec<_>>(), ["v0"]);
    }

    #[test]
    fn memory_does_not_grow_with_managers_or_objects() {
        let mut holding = widgets();
        for number in 0..1000 {
            holding.add(&json!({"metadata": {"name": format!("o-{number}"), "managedFields": [
                {"apiVersion": "example.com/v1", "manager": format!("m-{number}")}]}}));
        }
        assert_eq!(holding.objects.entries.len(), MANAGERS + 1);
        let others = &holding.objects.entries[&("v1".to_owned(), OTHERS.to_owned())];
        assert_eq!((others.objects, others.first.len()), (960, NAMED));
    }

    #[test]
    fn owners_are_known_by_group_and_kind() {
        let mut holding = widgets();
        let owner = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind, "name": "x"});
        holding.add_owned("pods", &json!({"metadata": {"name": "p", "ownerReferences": [
            owner("example.com/v1", "Widget"), owner("example.com/v1", "Gadget"), owner("example.com.au/v1", "Widget")]}}));
        assert_eq!(holding.owners.keys().collect::<Vec<_>>(), ["v1"]);
        assert_eq!(holding.owners["v1"].first, ["pods p"]);
    }
}
