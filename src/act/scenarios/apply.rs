//! Several managers apply at several versions.

use serde_json::{Value, json};

use super::session::{Request, Session};
use crate::converter::proxy::ConversionProxy;
use crate::evidence::{Action, ApplyStep, Observation};
use crate::subject::Scale;
use crate::subject::objects::Planned;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{PatchKind, Query};
use crdproof_schema::structural::{Schema, means_absent};

/// The scenario.
pub(super) async fn run(session: &mut Session<'_>) -> Result<(), ClusterError> {
    session.step(ApplyStep::Install);
    // Other scenarios make reviews fail on purpose, through the same proxy.
    let reviews_before = session.proxy.as_ref().map_or(0, ConversionProxy::count);
    let definition = session.definition(|_| {});
    session.install(&definition).await?;
    let served = session.served();
    let objects = session.planned();
    for planned in &objects {
        let name = planned.name.as_str();
        let apply = |manager: &str| Query::new().manager(manager);
        let request = |action| Request::new(action, &planned.version, name);
        session.step(ApplyStep::Apply);
        let applied = session.patch(request(Action::Apply), PatchKind::Apply, &apply("alice"), &planned.object).await?;
        if !applied.is_success() {
            continue;
        }
        session.step(ApplyStep::Reapply);
        session.patch(request(Action::Reapply), PatchKind::Apply, &apply("alice"), &planned.object).await?;
        // The same manager applies the same content, as each other version shows it.
        for version in served.iter().filter(|version| **version != planned.version) {
            let read = session.api.get(&session.path(version, name)).await?.json();
            let content = bare(&read);
            // Before alice has entries at this version, so that only conversion can show that she owns the field.
            session.step(ApplyStep::Conflict);
            let schema = session.crd.version(version).and_then(|version| version.schema.as_ref());
            let hers = |pointer: &[String]| {
                !is_filled_in(schema, &content, &planned.object, pointer)
                    && is_applied(&planned.object, &content, pointer)
            };
            let fields = scalars(&content).into_iter().filter(|(pointer, _)| hers(pointer));
            for (pointer, other) in fields.take(MAX_FIELDS) {
                let mut theirs = skeleton(&content);
                set(&mut theirs, &pointer, other);
                let action = Action::ConflictOver(display_path(&pointer));
                session.patch(Request::new(action, version, name), PatchKind::Apply, &apply("bob"), &theirs).await?;
            }
            session.step(ApplyStep::Follow);
            session
                .patch(Request::new(Action::SameContent, version, name), PatchKind::Apply, &apply("alice"), &content)
                .await?;
        }
        session.step(ApplyStep::Back);
        session.patch(request(Action::Back), PatchKind::Apply, &apply("alice"), &planned.object).await?;
    }
    session.step(ApplyStep::Owners);
    session.snapshot(&served, &Query::new()).await?;
    subresources(session, &objects).await?;
    withdraw(session, &objects).await?;
    // Withdrawing makes the server convert partial objects, so record which reviews the converter receives.
    session.step(ApplyStep::Reviews);
    if let Some(proxy) = &session.proxy {
        let seen = proxy.since(reviews_before);
        session.see(Observation::Reviews(seen));
    }
    // It applies the CRD, too.
    if session.deployed.is_some() { Ok(()) } else { super::deliveries::run(session).await }
}

/// Writes status and scale through another version than the one that alice applied at.
async fn subresources(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    let served = session.served();
    for planned in objects {
        let name = planned.name.as_str();
        let path = session.path(&planned.version, name);
        let writer = |manager: &str| Query::new().manager(manager);
        for version in session.crd.versions.iter().filter(|version| served.contains(&version.name.as_str())) {
            let request = |action| Request::new(action, &version.name, name);
            if let (Some(status), true) = (&planned.status, version.status.is_some() && version.name != planned.version)
            {
                session.step(ApplyStep::StatusOwners);
                session.get(Request::new(Action::Before, &planned.version, name)).await?;
                // Behave like a client that sends back the whole object that it read.
                let mut whole = bare(&session.api.get(&session.path(&version.name, name)).await?.json());
                whole["status"] = status.clone();
                let part = writer("controller").on(session.kind.at(&version.name).part_of(name, "status"));
                let answer = session.api.patch(&part, PatchKind::Merge, &whole).await?;
                session.note(&request(Action::Status), Value::Null, &answer, Value::Null);
                session.get(Request::new(Action::After, &planned.version, name)).await?;
            }
            if version.scale.is_some() {
                session.step(ApplyStep::ScaleOwners);
                let part = session.kind.at(&version.name).part_of(name, "scale");
                let read = session.api.get(&part).await?;
                if !read.is_success() {
                    continue;
                }
                let mut scale = read.json();
                scale["spec"]["replicas"] = json!(if scale["spec"]["replicas"] == 4 { 5 } else { 4 });
                let answer = session.api.put(&writer("scaler").on(&part), &scale).await?;
                session.note(&request(Action::Scale), scale, &answer, Value::Null);
                let answer = session.api.get(&path).await?;
                session.note(&request(Action::Scaled), Value::Null, &answer, answer.json());
            }
        }
    }
    Ok(())
}

/// Withdraws fields at one version that were applied at another, field by field.
async fn withdraw(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    session.step(ApplyStep::Withdraw);
    let served = session.served();
    for (number, planned) in objects.iter().enumerate() {
        let others: Vec<&str> = served.iter().copied().filter(|version| *version != planned.version).collect();
        let Some(version) = others.get(number % others.len().max(1)) else { continue };
        let read = session.api.get(&session.path(version, &planned.name)).await?.json();
        let content = bare(&read);
        let schema = session.crd.version(version).and_then(|version| version.schema.as_ref());
        let can_go = |pointer: &[String]| {
            is_free(schema, pointer)
                && !is_scaled(session, pointer)
                && has_siblings(&content, pointer)
                && is_applied(&planned.object, &content, pointer)
        };
        let free = scalars(&content).into_iter().find(|(pointer, _)| can_go(pointer));
        let Some((pointer, _)) = free else { continue };
        let mut without = content.clone();
        unset(&mut without, &pointer);
        let action = Action::Withdraw(display_path(&pointer));
        let alice = Query::new().manager("alice");
        session.patch(Request::new(action, version, &planned.name), PatchKind::Apply, &alice, &without).await?;
    }
    Ok(())
}

/// Returns true if a field is the replicas of a scale subresource, which have another owner by now.
fn is_scaled(session: &Session<'_>, path: &[String]) -> bool {
    let mut scales = session.crd.versions.iter().filter_map(|version| version.scale.as_ref().and_then(Scale::paths));
    let path = display_path(path);
    scales.any(|scale| scale.spec_replicas == path)
}

/// Returns true if a field at another version comes from the applied object: it has the same path, or its value is
/// elsewhere in it. Values that a converter derives or invents have no owner.
fn is_applied(applied: &Value, view: &Value, path: &[String]) -> bool {
    fn has(value: &Value, wanted: &Value) -> bool {
        match value {
            Value::Object(map) => map.values().any(|value| has(value, wanted)),
            Value::Array(items) => items.iter().any(|value| has(value, wanted)),
            value => value == wanted,
        }
    }
    let Some(shown) = at(view, path) else { return false };
    at(applied, path).is_some() || has(&applied["spec"], shown)
}

/// The value at a path.
fn at<'v>(object: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(object, |value, name| value.get(name))
}

/// Returns true if a field can be removed, and stays absent.
fn is_free(schema: Option<&Schema>, path: &[String]) -> bool {
    let Some((last, parents)) = path.split_last() else { return false };
    let parent = parents.iter().try_fold(schema, |schema, name| schema.map(|schema| schema.child(name)));
    let Some(Some(parent)) = parent else { return false };
    let required = parent.required.iter().any(|name| name == last);
    !required && parent.child(last).is_some_and(|child| child.default.is_none())
}

/// Returns true if a field has siblings. Servers turn a map into null when its last field is withdrawn, and refuse
/// that, whatever the converter does.
fn has_siblings(object: &Value, path: &[String]) -> bool {
    let parents = path.split_last().map_or(path, |(_, parents)| parents);
    at(object, parents).and_then(Value::as_object).is_some_and(|fields| fields.len() > 1)
}

/// A path for messages.
pub(super) fn display_path(path: &[String]) -> String {
    format!(".{}", path.join("."))
}

/// An object as a manager applies it: type, name, labels and content.
pub(super) fn bare(object: &Value) -> Value {
    let mut bare = object.clone();
    if let Some(fields) = bare.as_object_mut() {
        fields.remove("status");
    }
    if let Some(Value::Object(metadata)) = bare.get_mut("metadata") {
        metadata.retain(|name, _| matches!(name.as_str(), "name" | "namespace" | "labels" | "annotations"));
    }
    bare
}

/// The same object without content.
pub(super) fn skeleton(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let mut own = json!({"name": metadata["name"]});
    if metadata["namespace"].is_string() {
        own["namespace"] = metadata["namespace"].clone();
    }
    json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": own})
}

/// Maximum number of contested fields of an object.
pub(super) const MAX_FIELDS: usize = 4;

/// The scalars of the content, outside lists, each with another value. Skips zeros: a converter may omit them, and an
/// absent field has no owner.
pub(super) fn scalars(object: &Value) -> Vec<(Vec<String>, Value)> {
    fn collect(value: &Value, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, Value)>) {
        let other = match value {
            Value::Object(map) => {
                for (name, value) in map {
                    path.push(name.clone());
                    collect(value, path, found);
                    path.pop();
                }
                return;
            }
            Value::String(text) => json!(text.chars().rev().chain(['x']).collect::<String>()),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => json!(if whole.abs() == 1 { 2 * whole } else { whole - whole.signum() }),
                None => return,
            },
            // The other value of a boolean is a zero, or the boolean itself is one.
            Value::Null | Value::Bool(_) | Value::Array(_) => return,
        };
        if means_absent(None, value) {
            return;
        }
        found.push((path.clone(), other));
    }
    let mut found = Vec::new();
    collect(&object["spec"], &mut vec!["spec".to_owned()], &mut found);
    found
}

/// Returns true if the server defaulted a field, so that it has no owner: it has its default, and was not applied under
/// this name.
fn is_filled_in(schema: Option<&Schema>, content: &Value, applied: &Value, path: &[String]) -> bool {
    let (mut schema, mut there, mut sent) = (schema, Some(content), Some(applied));
    path.iter().any(|name| {
        schema = schema.and_then(|schema| schema.child(name));
        there = there.and_then(|value| value.get(name));
        sent = sent.and_then(|value| value.get(name));
        sent.is_none() && schema.is_some_and(|schema| schema.default.is_some() && schema.default.as_ref() == there)
    })
}

fn unset(object: &mut Value, path: &[String]) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = object;
    for name in parents {
        at = &mut at[name.as_str()];
    }
    if let Some(fields) = at.as_object_mut() {
        fields.remove(last);
    }
}

pub(super) fn set(object: &mut Value, path: &[String], value: Value) {
    let mut at = object;
    for name in path {
        at = &mut at[name.as_str()];
    }
    *at = value;
}
