//! A source is delivered, changed behind its author's back, corrected, and withdrawn in part.

use serde_json::{Value, json};

use super::apply::{bare, scalars, set, shown};
use super::deliver::Deliverer;
use super::source::{Promised, Source};
use super::stage::{Ask, Stage};
use crate::evidence::{Became, Names, Seen};
use crate::subject::objects::Planned;
use crdproof_envtest::api::{PatchKind, Query};
use crdproof_envtest::retry;
use crdproof_envtest::{ClusterError, Server};

/// So many objects of each version are delivered.
const OBJECTS: usize = 3;
/// So many fields are tried, until the server takes an edit.
const TRIES: usize = 8;
/// A label of somebody else, which is nobody's to take away.
const STRANGER: &str = "crdproof.dev/stranger";

/// The deliveries: the kind, its namespace and its objects at every version, from one source.
pub(super) async fn travel(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    if matches!(stage.server, Server::Existing(_)) {
        // Applying takes over what is there, and whose it is cannot be asked in the same breath.
        return Ok(());
    }
    // The kind must come with its objects.
    stage.clear().await?;
    let objects = chosen(stage);
    let definition = stage.definition(|_| {});
    let mut ground = vec![namespace(stage), definition.clone()];
    let mut source = source(stage, &ground, &objects)?;
    let mut deliverer = Deliverer::new(stage.api.clone(), "deliverer");
    stage.step("deliver/first");
    let seen = deliverer.deliver(&source, retry::TIMEOUT).await?;
    let is_refused = |seen: &Seen| matches!(seen, Seen::Delivered(line) if line.became == Became::Refused && line.name.starts_with("CustomResource"));
    let refused = seen.iter().any(is_refused);
    stage.see_all(seen);
    if refused {
        // Old servers refuse to apply fields that they do not know, and drop them where they are told to create: the
        // objects can be delivered all the same.
        stage.install(&definition).await?;
        ground.pop();
        source = self::source(stage, &ground, &objects)?;
        let seen = deliverer.deliver(&source, retry::TIMEOUT).await?;
        stage.see_all(seen);
    }
    let served = stage.served();
    ready(stage, &mut deliverer, (&source, &definition), &objects).await?;
    stage.step("deliver/first");
    stage.snapshot(&served, &Query::new()).await?;
    stage.step("deliver/again");
    let seen = deliverer.deliver(&source, retry::TIMEOUT).await?;
    stage.see_all(seen);
    stage.snapshot(&served, &Query::new()).await?;

    drift(stage, &objects).await?;
    stage.step("deliver/detect");
    let seen = deliverer.detect(&source).await?;
    stage.see_all(seen);
    stage.step("deliver/correct");
    let seen = deliverer.deliver(&source, retry::TIMEOUT).await?;
    stage.see_all(seen);
    stage.snapshot(&served, &Query::new()).await?;
    stage.step("deliver/corrected");
    let seen = deliverer.detect(&source).await?;
    stage.see_all(seen);

    stage.step("deliver/withdraw");
    let (kept, gone): (Vec<Planned>, Vec<Planned>) =
        objects.into_iter().partition(|planned| !planned.name.ends_with("-0"));
    let names = gone.into_iter().map(|planned| planned.name).collect();
    stage.see(Seen::Names(Names { what: "withdrawn".into(), versions: Vec::new(), names }));
    let less = Source::new(kept.iter().map(|planned| planned.object.clone()).chain(ground))?;
    let seen = deliverer.deliver(&less, retry::TIMEOUT).await?;
    stage.see_all(seen);
    stage.snapshot(&served, &Query::new()).await
}

/// The first objects of each version.
fn chosen(stage: &Stage<'_>) -> Vec<Planned> {
    let mut chosen: Vec<Planned> = Vec::new();
    for planned in stage.planned() {
        if chosen.iter().filter(|other| other.version == planned.version).count() < OBJECTS {
            chosen.push(planned);
        }
    }
    chosen
}

fn namespace(stage: &Stage<'_>) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": stage.namespace()}})
}

/// Everything in one source, in an order in which it cannot be applied. A kind of the server itself is among it.
fn source(stage: &Stage<'_>, ground: &[Value], objects: &[Planned]) -> Result<Source, ClusterError> {
    let companion = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "companion", "namespace": stage.namespace()}, "data": {"key": "value"}});
    let objects = objects.iter().map(|planned| planned.object.clone());
    Ok(Source::new(objects.chain([companion]).chain(ground.iter().cloned()))?)
}

/// Where the schema promises conditions, a controller says at the stored version first that an object is not ready, and
/// then that it is. Nobody else writes a status here.
async fn ready(
    stage: &mut Stage<'_>,
    deliverer: &mut Deliverer,
    (source, definition): (&Source, &Value),
    objects: &[Planned],
) -> Result<(), ClusterError> {
    stage.step("deliver/ready");
    let stored =
        stage.crd.versions.iter().find(|version| version.storage && version.served && version.status.is_some());
    let mut written = false;
    if let Some(version) = stored {
        let promised = Promised::by(Some(definition), &version.name);
        for status in ["False", "True"] {
            for planned in objects.iter().filter(|_| promised != Promised::default()) {
                let ask = Ask::new(if status == "True" { "ready" } else { "not ready" }, &version.name, &planned.name);
                written |= told(stage, ask, promised, status).await?;
            }
            let seen = deliverer.look(source).await?;
            stage.see_all(seen);
        }
    }
    // Where no controller could speak, nobody will: looking once tells what there is.
    let seen =
        if written { deliverer.wait(source, retry::TIMEOUT / 10).await? } else { deliverer.look(source).await? };
    stage.see_all(seen);
    Ok(())
}

async fn told(stage: &mut Stage<'_>, ask: Ask<'_>, promised: Promised, status: &str) -> Result<bool, ClusterError> {
    let live = stage.api.get(&stage.path(ask.version, ask.name)).await?.json();
    let mut said = json!({});
    if promised.conditions {
        said["conditions"] = json!([{"type": "Ready", "status": status, "reason": "Journey", "message": "as told",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
    }
    if promised.observed {
        said["observedGeneration"] = live["metadata"]["generation"].clone();
    }
    let part = stage.kind.at(ask.version).part_of(ask.name, "status");
    let path = Query::new().manager("controller").on(part);
    let answer = stage.api.patch(&path, PatchKind::Merge, &json!({"status": said})).await?;
    stage.note(&ask, Value::Null, &answer, if answer.is_success() { Value::Null } else { answer.json() });
    Ok(answer.is_success())
}

/// Somebody edits objects at another version than they were applied at, deletes one, and adds one of their own.
async fn drift(stage: &mut Stage<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    stage.step("deliver/drift");
    let served = stage.served();
    for planned in objects.iter().filter(|planned| planned.name.ends_with("-0") || planned.name.ends_with("-1")) {
        let other = served.iter().find(|version| **version != planned.version);
        let version = other.copied().unwrap_or(planned.version.as_str());
        let content = bare(&stage.api.get(&stage.path(version, &planned.name)).await?.json());
        let mut fields = scalars(&content);
        if planned.name.ends_with("-1") {
            // Not the same field of every object.
            fields.reverse();
        }
        for (pointer, value) in fields.into_iter().take(TRIES) {
            let mut edit = json!({"metadata": {"labels": {STRANGER: "kept"}}});
            set(&mut edit, &pointer, value);
            let what = format!("edit {}", shown(&pointer));
            let ask = Ask::new(&what, version, &planned.name);
            let query = Query::new().manager("mallory");
            if stage.patch(ask, PatchKind::Merge, &query, &edit).await?.is_success() {
                break;
            }
        }
    }
    if let Some(last) = objects.last() {
        stage.delete(Ask::new("deleted", &last.version, &last.name)).await?;
        let mut own = last.object.clone();
        own["metadata"]["name"] = json!("stranger");
        stage.create(Ask::new("created", &last.version, "stranger"), &Query::new().manager("mallory"), &own).await?;
    }
    stage.snapshot(&served, &Query::new()).await
}
