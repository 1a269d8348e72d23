//! The steps of a scenario in a report: counted and named, without the objects themselves.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evidence::{Observation, Trace};

/// Maximum number of names; others are only counted.
const MAX_NAMES: usize = 12;

/// One step of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepInfo {
    /// Its name, such as `storage/flip`.
    pub step: String,
    /// The requests to the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestInfo>,
    /// The reviews that the converter received.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversions: Vec<ReviewInfo>,
    /// The objects that were stored at each version at the end of the step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stored: BTreeMap<String, Vec<String>>,
    /// The owners of fields at the end of the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<OwnerInfo>,
    /// Other observations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Requests of one kind at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestInfo {
    /// Their purpose.
    pub action: String,
    /// The version in the path; empty for the CRD itself.
    pub version: String,
    /// The number of them.
    pub count: usize,
    /// The number of them that the server refused.
    pub refused: usize,
}

/// Reviews that the converter received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewInfo {
    /// The version of the objects, or several.
    pub from: String,
    /// The desired version.
    pub to: String,
    /// The number of reviews.
    pub reviews: usize,
    /// The number of objects in them.
    pub objects: usize,
    /// The number of reviews without a successful response.
    pub failed: usize,
}

/// A manager of fields of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnerInfo {
    /// The object's name.
    pub object: String,
    /// The manager, with the subresource that it wrote.
    pub manager: String,
    /// The version of the entry in managedFields.
    pub version: String,
    /// Its fields; only the first ones.
    pub fields: Vec<String>,
}

impl StepInfo {
    /// Returns the steps of a trace, in order.
    pub fn all(trace: &Trace) -> Vec<Self> {
        let mut steps: Vec<Self> = Vec::new();
        for record in &trace.records {
            let name = record.step.to_string();
            if steps.last().is_none_or(|last| last.step != name) {
                steps.push(Self { step: name, ..Self::default() });
            }
            if let Some(step) = steps.last_mut() {
                step.add(&record.seen);
            }
        }
        steps
    }

    fn add(&mut self, seen: &Observation) {
        match seen {
            Observation::Call(call) => {
                let action = call.action.to_string();
                let same = |one: &&mut RequestInfo| one.action == action && one.version == call.version;
                let refused = usize::from(!call.is_success());
                if let Some(one) = self.requests.iter_mut().find(same) {
                    (one.count, one.refused) = (one.count + 1, one.refused + refused);
                } else {
                    let version = call.version.clone();
                    self.requests.push(RequestInfo { action, version, count: 1, refused });
                }
                self.own(&call.answered);
            }
            Observation::Snapshot(snapshot) => snapshot.objects.values().for_each(|object| self.own(object)),
            Observation::Stored(stored) => self.store(stored),
            Observation::Reviews(reviews) => {
                for review in reviews {
                    let mut from = review.from.clone();
                    from.sort();
                    from.dedup();
                    self.review(&from.join(", "), &review.to, review.uids.len(), review.answered);
                }
            }
            other => {
                // Skip repeated observations.
                let note = note(other).filter(|note| self.notes.last() != Some(note));
                self.notes.extend(note);
            }
        }
    }

    fn review(&mut self, from: &str, to: &str, objects: usize, answered: bool) {
        let same = |one: &&mut ReviewInfo| one.from == from && one.to == to;
        let failed = usize::from(!answered);
        if let Some(one) = self.conversions.iter_mut().find(same) {
            (one.reviews, one.objects, one.failed) = (one.reviews + 1, one.objects + objects, one.failed + failed);
        } else {
            let (from, to) = (from.to_owned(), to.to_owned());
            self.conversions.push(ReviewInfo { from, to, reviews: 1, objects, failed });
        }
    }

    fn store(&mut self, stored: &BTreeMap<String, String>) {
        self.stored.clear();
        for (object, version) in stored {
            // Namespaces differ between runs.
            let name = object.rsplit('/').next().unwrap_or(object);
            self.stored.entry(version.clone()).or_default().push(name.to_owned());
        }
        self.stored.values_mut().for_each(shorten);
    }

    /// Records the owners of an object's fields; the latest response counts.
    fn own(&mut self, object: &Value) {
        let (name, entries) = (&object["metadata"]["name"], &object["metadata"]["managedFields"]);
        let (Some(name), Some(entries)) = (name.as_str(), entries.as_array()) else { return };
        self.owners.retain(|owner| owner.object != name);
        if self.owners.len() >= MAX_NAMES {
            return;
        }
        for entry in entries {
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            let mut manager = text("manager");
            if let Some(part) = entry["subresource"].as_str().filter(|part| !part.is_empty()) {
                manager.push_str(&format!(" ({part})"));
            }
            let mut fields = Vec::new();
            collect(&entry["fieldsV1"], "", &mut fields);
            shorten(&mut fields);
            let version = text("apiVersion").rsplit('/').next().unwrap_or_default().to_owned();
            self.owners.push(OwnerInfo { object: name.to_owned(), manager, version, fields });
        }
    }
}

/// Collects the fields of an entry of managedFields.
fn collect(fields: &Value, path: &str, found: &mut Vec<String>) {
    let Some(fields) = fields.as_object() else { return };
    let below: Vec<(String, &Value)> = fields
        .iter()
        .filter_map(|(key, value)| match key.split_once(':') {
            Some(("f", name)) => Some((format!("{path}.{name}"), value)),
            // Keys of list items are values of fields, which may be secret.
            Some(_) => Some((format!("{path}[*]"), value)),
            None => None,
        })
        .collect();
    if below.is_empty() && !path.is_empty() && !found.iter().any(|known| known == path) {
        found.push(path.to_owned());
    }
    for (path, value) in below {
        collect(value, &path, found);
    }
}

fn shorten(names: &mut Vec<String>) {
    if names.len() > MAX_NAMES {
        let more = names.len() - MAX_NAMES;
        names.truncate(MAX_NAMES);
        names.push(format!("and {more} more"));
    }
}

/// Returns other observations as a sentence.
fn note(seen: &Observation) -> Option<String> {
    Some(match seen {
        Observation::Definition(crd) => {
            let versions = crd["spec"]["versions"].as_array()?;
            let storage = versions.iter().find(|version| version["storage"] == true)?["name"].as_str()?;
            let stored = crd["status"]["storedVersions"].as_array()?;
            let stored: Vec<&str> = stored.iter().filter_map(Value::as_str).collect();
            format!("the storage version is {storage}; storedVersions is [{}]", stored.join(", "))
        }
        Observation::Settled(settled) => format!(
            "{} writes were still stored at the previous version, then {} in a row at the new one",
            settled.late, settled.in_a_row
        ),
        Observation::Pass(pass) => format!(
            "a pass of the migration saw {} objects and stored {} anew; {} failed",
            pass.seen, pass.rewritten, pass.failed
        ),
        Observation::RefusedWrites(count) => format!("{count} writes were refused"),
        Observation::RulesKept(kept) => format!("transition rules are {}", if *kept { "kept" } else { "not kept" }),
        Observation::Cleaned(cleaned) => {
            format!(
                "managedFields of {} objects were rewritten; {} fields lost their owner",
                cleaned.rewritten, cleaned.losses
            )
        }
        Observation::Driven(driven) => {
            format!("the migration says that it is {}", if driven.done { "done" } else { "not done" })
        }
        Observation::Watch(log) => format!("a watch at {} reported {} events", log.version, log.events.len()),
        Observation::LeftOut(one) => format!("{} was left out: {}", one.name, one.why),
        Observation::Stopped(why) => format!("stopped: {why}"),
        Observation::Delivered(delivered) => delivered.to_string(),
        Observation::Health(health) => health.to_string(),
        Observation::Names(names) => {
            let at =
                if names.versions.is_empty() { String::new() } else { format!(" at {}", names.versions.join(", ")) };
            format!("{}{at}: {} names", names.what, names.names.len())
        }
        Observation::Admission(_)
        | Observation::Call(_)
        | Observation::Snapshot(_)
        | Observation::Stored(_)
        | Observation::Reviews(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_named_without_the_keys_of_items() {
        let fields =
            json!({"f:spec": {"f:ports": {"k:{\"token\":\"secret\"}": {".": {}, "f:port": {}}}, "f:size": {}}});
        let mut found = Vec::new();
        collect(&fields, "", &mut found);
        assert_eq!(found, [".spec.ports[*].port", ".spec.size"]);
    }

    #[test]
    fn a_step_keeps_the_last_owners_and_places() {
        let mut step = StepInfo::default();
        let object = |manager: &str| {
            json!({"metadata": {"name": "a", "managedFields": [
            {"manager": manager, "apiVersion": "example.com/v1", "fieldsV1": {"f:spec": {"f:size": {}}}}]}})
        };
        step.own(&object("one"));
        step.own(&object("two"));
        assert_eq!(step.owners.len(), 1);
        assert_eq!((step.owners[0].manager.as_str(), step.owners[0].version.as_str()), ("two", "v1"));
        step.store(&BTreeMap::from([("ns-7/a".to_owned(), "v1".to_owned())]));
        step.store(&BTreeMap::from([("ns-7/a".to_owned(), "v2".to_owned())]));
        assert_eq!(step.stored, BTreeMap::from([("v2".to_owned(), vec!["a".to_owned()])]));
        step.review("v1", "v2", 3, true);
        step.review("v1", "v2", 1, false);
        let expected = ReviewInfo { from: "v1".into(), to: "v2".into(), reviews: 2, objects: 4, failed: 1 };
        assert_eq!(step.conversions, [expected]);
    }
}
