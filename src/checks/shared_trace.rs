//! Shared parts of the checks of scenarios: reading a trace, comparing observations.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crdproof_schema::document::pointer;
use serde_json::Value;

use super::cause::FORM;
use super::shared_difference::{Kind, differences, field, severity_of_invention};
use super::{Evidence, Failure, Severity, Verdict};
use crate::evidence::{Action, Call, RetirementStep, ScenarioStep, Snapshot, Trace};
use crate::subject::field_map::declares_lost;

/// The reason for comparing two reads of an object.
pub(super) struct Occasion<'a> {
    /// The name of the occasion in fingerprints. It stays when the words change.
    pub(super) key: &'a str,
    /// The time of the second read, as in "is different after migration".
    pub(super) when: &'a str,
}

/// Collects the failures of a judge.
#[derive(Default)]
pub(super) struct Found {
    pub(super) examined: usize,
    failures: Vec<Failure>,
}

impl Found {
    /// Adds a failure.
    pub(super) fn add(&mut self, failure: Failure) {
        self.failures.push(failure);
    }

    /// Adds a failure; the key distinguishes it from others of the same check and version.
    pub(super) fn failure(&mut self, version: &str, message: String, key: String) {
        let failure = Failure::new(message).key(key);
        self.failures.push(if version.is_empty() { failure } else { failure.version(version) });
    }

    /// Adds a failure because of the response to a request. The same complaint about other objects, or at another
    /// version, is the same failure.
    pub(super) fn refused(&mut self, call: &Call, message: String) {
        let failure = Failure::new(message).version(&call.version).key(format!("{} failed", call.action));
        self.failures.push(Failure { path: call.refused_field(), ..failure.complaint(&call.message()) });
    }

    /// Adds a failure at a field of an object, with evidence.
    pub(super) fn place(&mut self, version: &str, message: String, path: String, evidence: String) {
        let failure = Failure::new(message).version(version).evidence(evidence);
        self.failures.push(Failure { path: Some(path), ..failure });
    }

    /// Compares two reads of an object. Ignores metadata that changes with every write, and declared losses.
    pub(super) fn compare(
        &mut self,
        evidence: &Evidence<'_>,
        version: &str,
        (was, now): (&Value, &Value),
        occasion: &Occasion<'_>,
    ) {
        let Occasion { key, when } = occasion;
        self.examined += 1;
        let (mut before, mut after) = (content(was), content(now));
        drop_stashes(evidence, &mut before, &mut after);
        let name = was["metadata"]["name"].as_str().unwrap_or_default();
        let shown = |value: &Value| evidence.redact(Some(version), value);
        let schema = evidence.crd.version(version).and_then(|version| version.schema.as_ref());
        for difference in differences(&before, &after) {
            let kind = difference.kind(schema);
            let path = field(&difference.pointer);
            let is_omitted_zero = kind == Kind::Representation && difference.now.is_none();
            if is_omitted_zero && evidence.subject.file.omitted_zeros.is_some() {
                continue;
            }
            if (kind.is_loss() || kind == Kind::Representation) && is_declared(evidence, version, &path) {
                continue;
            }
            let message = format!("{path} of {name} is different at {version} {when}");
            let failure = Failure::new(message).version(version).key(*key);
            let failure = failure.evidence(format!("before: {}\nafter:  {}", shown(&before), shown(&after)));
            let annotation = difference.pointer.strip_prefix("/metadata/annotations/").map(pointer::unescape);
            let is_stash = annotation.is_some_and(|annotation| is_of_converter(evidence, &annotation));
            let failure = match (kind, difference.now) {
                (Kind::Representation, _) => failure
                    .severity(Severity::Warning)
                    .together(format!("{FORM} {key}"), format!("change in form, not in meaning, {when}")),
                // What it holds for another version is compared there.
                _ if is_stash => failure
                    .severity(Severity::Warning)
                    .together(format!("stash {key}"), format!("that the converter adds are different {when}")),
                (Kind::Invented, Some(now)) => failure
                    .severity(severity_of_invention(now))
                    .together(format!("added {key}"), format!("come from nowhere {when}")),
                _ => failure.together(format!("different {key}"), format!("are different {when}")),
            };
            self.failures.push(Failure { path: Some(path), ..failure });
        }
    }
}

/// Removes annotations of the converter that only one of two reads has: converters use them for fields that a version
/// lacks.
fn drop_stashes(evidence: &Evidence<'_>, before: &mut Value, after: &mut Value) {
    let keys = |object: &Value| -> BTreeSet<String> {
        object["metadata"]["annotations"].as_object().into_iter().flat_map(|map| map.keys().cloned()).collect()
    };
    let only_one = keys(before).symmetric_difference(&keys(after)).cloned().collect::<BTreeSet<_>>();
    let stashes: Vec<_> = only_one.into_iter().filter(|key| is_of_converter(evidence, key)).collect();
    for object in [before, after] {
        let Some(Value::Object(metadata)) = object.get_mut("metadata") else { continue };
        let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else { continue };
        annotations.retain(|key, _| !stashes.contains(key));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

/// Returns true if no client wrote an annotation, so that the converter made it.
fn is_of_converter(evidence: &Evidence<'_>, annotation: &str) -> bool {
    let mut calls = evidence.trace.into_iter().flat_map(Trace::all_calls);
    // Other requests send back objects that were read before.
    !calls.any(|call| {
        matches!(call.action, Action::Create | Action::Apply)
            && call.sent["metadata"]["annotations"].get(annotation).is_some()
    })
}

/// Returns true if the loss of a field of this version through another and back is declared.
pub(super) fn is_declared(evidence: &Evidence<'_>, version: &str, field: &str) -> bool {
    if evidence.subject.declares_loss(evidence.crd, field) {
        return true;
    }
    let maps: Vec<_> = evidence.subject.field_maps_of(evidence.crd).map(|(_, map)| map).collect();
    let mut others = evidence.crd.versions.iter().map(|other| other.name.as_str());
    !maps.is_empty() && others.any(|other| other != version && declares_lost(&maps, &[version, other, version], field))
}

/// Judges the trace; of several failures with one key, version and path, or with one complaint, keeps the first.
pub(super) fn judged(evidence: &Evidence<'_>, judge: impl Fn(&Trace, &mut Found)) -> Verdict {
    let Some(trace) = evidence.trace else {
        return Verdict::Inconclusive("the scenario did not run".into());
    };
    let mut found = Found::default();
    judge(trace, &mut found);
    let (mut seen, mut complaints) = (BTreeSet::new(), BTreeSet::new());
    found.failures.retain(|failure| {
        let is_new = seen.insert((failure.key.clone(), failure.version.clone(), failure.path.clone()));
        is_new && failure.complaint.as_ref().is_none_or(|complaint| complaints.insert(complaint.clone()))
    });
    Verdict::from_failures(found.failures, found.examined)
}

/// An object without fields of the server.
pub(super) fn content(object: &Value) -> Value {
    let mut content = object.clone();
    if let Some(Value::Object(metadata)) = content.get_mut("metadata") {
        metadata.retain(|name, _| matches!(name.as_str(), "name" | "namespace" | "uid" | "labels" | "annotations"));
    }
    content
}

/// Compares all objects in two steps, at each version.
pub(super) fn alike(
    evidence: &Evidence<'_>,
    trace: &Trace,
    steps: (impl Into<ScenarioStep>, impl Into<ScenarioStep>),
    when: &str,
    found: &mut Found,
) {
    let (first, second) = (steps.0.into(), steps.1.into());
    let key = format!("{first} {second}");
    let occasion = Occasion { key: &key, when };
    for before in trace.snapshots(first) {
        let Some(after) = trace.snapshots(second).find(|after| after.version == before.version) else { continue };
        for (name, was) in &before.objects {
            match after.objects.get(name) {
                Some(now) => found.compare(evidence, &before.version, (was, now), &occasion),
                None => {
                    found.failure(&before.version, format!("{name} is gone at {} {when}", before.version), key.clone());
                }
            }
        }
    }
}

/// The names of the objects of a snapshot, sorted.
pub(super) fn listed(snapshot: &Snapshot) -> Vec<String> {
    let names = snapshot.objects.values().filter_map(|object| object["metadata"]["name"].as_str());
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

/// `status.storedVersions` of a definition.
pub(super) fn stored_versions(definition: &Value) -> Vec<String> {
    let versions = definition["status"]["storedVersions"].as_array().into_iter().flatten();
    versions.filter_map(|version| version.as_str().map(str::to_owned)).collect()
}

/// The versions that a CRD had at the start of the retirement scenario, and lacks at the end.
pub(super) fn retired_versions(trace: &Trace) -> BTreeSet<String> {
    let versions = |step| {
        let versions = trace.definition(step).and_then(|crd| crd["spec"]["versions"].as_array());
        let names = versions.into_iter().flatten().filter_map(|version| version["name"].as_str().map(str::to_owned));
        names.collect::<BTreeSet<String>>()
    };
    versions(RetirementStep::Install).difference(&versions(RetirementStep::After)).cloned().collect()
}

/// Returns the owned fields: manager, version, path. Items of lists are `[*]`, whatever their key.
pub(super) fn owned(object: &Value) -> Vec<(String, String, Vec<String>)> {
    let mut owned = Vec::new();
    for entry in object["metadata"]["managedFields"].as_array().into_iter().flatten() {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let version = text("apiVersion").rsplit('/').next().unwrap_or_default().to_owned();
        let mut paths = Vec::new();
        collect(&entry["fieldsV1"], &mut Vec::new(), &mut paths);
        // Metadata is not part of the schema.
        let paths = paths.into_iter().filter(|path| path.first().is_some_and(|first| first != "metadata"));
        owned.extend(paths.map(|path| (text("manager"), version.clone(), path)));
    }
    owned
}

fn collect(fields: &Value, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    for (name, value) in fields.as_object().into_iter().flatten() {
        let part = match name.split_once(':') {
            Some(("f", field)) => field.to_owned(),
            Some(("k" | "v" | "i", _)) => "[*]".to_owned(),
            _ => continue,
        };
        path.push(part);
        if !paths.contains(path) {
            paths.push(path.clone());
        }
        collect(value, path, paths);
        path.pop();
    }
}

/// Compares the owned fields in two steps, at each version.
pub(super) fn same_owners(
    trace: &Trace,
    steps: (impl Into<ScenarioStep>, impl Into<ScenarioStep>),
    how: &str,
    found: &mut Found,
) {
    let (first, second) = (steps.0.into(), steps.1.into());
    for before in trace.snapshots(first) {
        let Some(after) = trace.snapshots(second).find(|after| after.version == before.version) else { continue };
        for (name, was) in &before.objects {
            let Some(now) = after.objects.get(name) else { continue };
            found.examined += 1;
            let (was, now): (BTreeSet<_>, BTreeSet<_>) =
                (owned(was).into_iter().collect(), owned(now).into_iter().collect());
            // The deepest path is the field; those above it are its parents.
            let lost = was.difference(&now).min_by_key(|(.., path)| Reverse(path.len())).map(|owned| (owned, "loses"));
            let won = || now.difference(&was).min_by_key(|(.., path)| Reverse(path.len())).map(|owned| (owned, "gets"));
            if let Some(((manager, version, path), what)) = lost.or_else(won) {
                let path = format!(".{}", path.join(".")).replace(".[", "[");
                let message = format!("{manager} {what} {path} of {name} at {version} {how}");
                // The version is that of the entry: an object has the same entries at every version.
                let failure = Failure::new(message).version(version).key(format!("{manager} {what}"));
                // A new owner blocks others that want the field; a lost owner has lost it.
                let severity = if what == "gets" { Severity::Warning } else { Severity::Error };
                let failure = failure.severity(severity).together("owners", format!("change hands {how}"));
                found.add(Failure { path: Some(path), ..failure });
            }
        }
    }
}
