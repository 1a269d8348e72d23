//! Transition rules: forbids changes of a field of one version, and writes objects through all versions.

use std::time::Duration;

use serde_json::{Value, json};

use super::session::{Request, Session};
use crate::evidence::{Action, Observation, ServingStep};
use crate::subject::objects::Planned;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Query, definitions};
use crdproof_envtest::retry;
use crdproof_schema::document::pointer::escape;
use crdproof_schema::structural::Schema;

/// The timeout of a rule to take effect.
const EFFECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A field of a version, with another valid value.
struct Field {
    path: Vec<String>,
    other: Value,
}

/// Adds a rule about a field of each version, tries it, and removes it.
pub(super) async fn run(
    session: &mut Session<'_>,
    objects: &[Planned],
    definition: &Value,
) -> Result<(), ClusterError> {
    session.step(ServingStep::Rules);
    let mut guarded = false;
    for version in session.served() {
        let Some(planned) = objects.iter().find(|planned| planned.version == version) else { continue };
        let fields = choose(session, version, planned, objects).await?;
        if fields.is_empty() {
            continue;
        }
        guarded = true;
        guard(session, version, planned, &fields, definition).await?;
    }
    if guarded {
        session.redefine(Action::WithoutRules, definition).await?;
        session.api.until_served(std::slice::from_ref(definition)).await?;
    }
    Ok(())
}

/// Chooses fields that have another value in another object, and that can be changed to it: one that the storage
/// version does not have under this name, because it shows best if the old object was converted; and one that all
/// versions have, because it can be changed through them.
async fn choose(
    session: &Session<'_>,
    version: &str,
    planned: &Planned,
    objects: &[Planned],
) -> Result<Vec<Field>, ClusterError> {
    let schema = session.crd.version(version).and_then(|version| version.schema.as_ref());
    let stored = session.crd.storage().and_then(|version| version.schema.as_ref());
    let path = session.path(version, &planned.name);
    let read = session.api.get(&path).await?.json();
    let mut fields: Vec<Field> = Vec::new();
    scalars(&read["spec"], &mut vec!["spec".to_owned()], &mut |path, value| {
        let others = objects.iter().filter(|other| other.version == version);
        let mut others = others.filter_map(|other| at(&other.object, path));
        let alike = |other: &&Value| *other != value && std::mem::discriminant(*other) == std::mem::discriminant(value);
        if let Some(other) = others.find(alike).filter(|_| knows(schema, path)) {
            fields.push(Field { path: path.to_vec(), other: other.clone() });
        }
    });
    let everywhere = |field: &Field| {
        let mut served = session.crd.versions.iter().filter(|version| version.served);
        served.all(|version| knows(version.schema.as_ref(), &field.path))
    };
    fields.sort_by_key(|field| knows(stored, &field.path));
    let mut chosen: Vec<Field> = Vec::new();
    for field in fields {
        let wanted = chosen.is_empty() || chosen.len() == 1 && !everywhere(&chosen[0]) && everywhere(&field);
        let mut object = read.clone();
        set(&mut object, &field.path, &field.other);
        // It must be valid without the rule; otherwise the rule would not be the reason of a refusal.
        if wanted && session.api.put(&Query::new().dry_run().on(&path), &object).await?.is_success() {
            chosen.push(field);
        }
    }
    Ok(chosen)
}

/// Adds the rule, and writes: unchanged, changed, changed through other versions, and unchanged again.
async fn guard(
    session: &mut Session<'_>,
    version: &str,
    planned: &Planned,
    fields: &[Field],
    definition: &Value,
) -> Result<(), ClusterError> {
    let name = planned.name.as_str();
    let mut ruled = definition.clone();
    let rule = json!({"rule": "self == oldSelf", "message": MESSAGE});
    let added = fields.iter().filter(|field| add(&mut ruled, version, &field.path, &rule)).count();
    if added < fields.len() {
        return Ok(());
    }
    // Read before the rule is added, like a client that writes later.
    let read = session.api.get(&session.path(version, name)).await?.json();
    let answer = session.redefine(Action::WithARule, &ruled).await?;
    if !answer.is_success() {
        return Ok(());
    }
    let installed = session.api.get(&definitions().path_of(&session.crd.name)).await?.ok()?.json();
    let kept = installed.to_string().contains(MESSAGE);
    session.see(Observation::RulesKept(kept));
    if !kept {
        return Ok(());
    }
    for field in fields {
        let mut changed = read.clone();
        set(&mut changed, &field.path, &field.other);
        until_refused(session, version, name, &changed).await?;
        session.put(Request::new(Action::Changed, version, name), "", &changed).await?;
    }
    let mut unchanged = read.clone();
    unchanged["metadata"]["labels"]["crdproof.dev/ruled"] = json!(version);
    session.put(Request::new(Action::Unchanged, version, name), "", &unchanged).await?;
    for other in session.served().into_iter().filter(|other| *other != version) {
        let schema = session.crd.version(other).and_then(|version| version.schema.as_ref());
        let mut theirs = session.api.get(&session.path(other, name)).await?.json();
        let is_there = |field: &&Field| knows(schema, &field.path) && at(&theirs, &field.path).is_some();
        if let Some(field) = fields.iter().find(is_there) {
            set(&mut theirs, &field.path, &field.other);
            session.put(Request::new(Action::ChangedThroughAnotherVersion, other, name), "", &theirs).await?;
            let mut after = session.api.get(&session.path(version, name)).await?.json();
            after["metadata"]["labels"]["crdproof.dev/ruled"] = json!(other);
            session.put(Request::new(Action::UnchangedAfterwards, version, name), "", &after).await?;
        }
    }
    Ok(())
}

/// The message of the rule.
const MESSAGE: &str = "crdproof: this field may not change";

/// Waits until the change is refused, or until the timeout.
async fn until_refused(session: &Session<'_>, version: &str, name: &str, changed: &Value) -> Result<(), ClusterError> {
    let path = Query::new().dry_run().on(session.path(version, name));
    let ask = || session.api.put(&path, changed);
    retry::until(EFFECT_TIMEOUT, Duration::from_millis(50), ask, |answer| answer.status == 422).await?;
    Ok(())
}

/// Adds a rule to a field of a version; returns false if the version lacks the field.
fn add(definition: &mut Value, version: &str, path: &[String], rule: &Value) -> bool {
    let mut versions = definition["spec"]["versions"].as_array_mut().into_iter().flatten();
    let Some(own) = versions.find(|own| own["name"] == version) else { return false };
    let pointer: String = path.iter().map(|name| format!("/properties/{}", escape(name))).collect();
    let pointer = format!("/schema/openAPIV3Schema{pointer}");
    let Some(Value::Object(field)) = own.pointer_mut(&pointer) else { return false };
    let rules = field.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
    if let Value::Array(rules) = rules {
        rules.push(rule.clone());
    }
    true
}

/// Returns true if a schema has this field as a property.
fn knows(schema: Option<&Schema>, path: &[String]) -> bool {
    let found = path.iter().try_fold(schema, |schema, name| schema.map(|schema| schema.properties.get(name)));
    found.flatten().is_some()
}

/// Visits the scalars outside lists.
fn scalars(value: &Value, path: &mut Vec<String>, visit: &mut dyn FnMut(&[String], &Value)) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                path.push(name.clone());
                scalars(value, path, visit);
                path.pop();
            }
        }
        Value::String(_) | Value::Bool(_) | Value::Number(_) => visit(path, value),
        Value::Null | Value::Array(_) => {}
    }
}

fn at<'v>(object: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(object, |value, name| value.get(name))
}

fn set(object: &mut Value, path: &[String], value: &Value) {
    let mut at = object;
    for name in path {
        // An unstable converter may have put anything there.
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[name.as_str()];
    }
    *at = value.clone();
}
