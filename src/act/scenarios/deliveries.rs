//! Delivers a source, changes objects behind its author's back, corrects them, and withdraws some.

use serde_json::{Value, json};

use super::apply::{bare, display_path, scalars, set};
use super::deliver::Deliverer;
use super::session::{Request, Session};
use super::source::{Source, StatusParts};
use crate::evidence::{Action, ApplyStep, DeliveryOutcome, Listing, Names, Observation};
use crate::subject::objects::Planned;
use crdproof_envtest::api::{PatchKind, Query};
use crdproof_envtest::retry;
use crdproof_envtest::{ClusterError, Server};

/// Number of delivered objects of each version.
const OBJECTS: usize = 3;
/// Maximum number of fields that are tried, until the server accepts an edit.
const TRIES: usize = 8;
/// A label of another client, which a delivery must not remove.
const FOREIGN_LABEL: &str = "crdproof.dev/stranger";

/// Delivers the CRD, its namespace and its objects at every version, from one source.
pub(super) async fn run(session: &mut Session<'_>) -> Result<(), ClusterError> {
    if matches!(session.server, Server::Existing(_)) {
        // Applying would take over existing objects, and their owner is not known.
        return Ok(());
    }
    // The CRD must be installed together with its objects.
    if let Some(why) = session.clear().await? {
        session.see(Observation::Stopped(why));
        return Ok(());
    }
    let objects = chosen(session);
    let definition = session.definition(|_| {});
    let mut ground = vec![namespace(session), definition.clone()];
    let mut source = source(session, &ground, &objects)?;
    let mut deliverer = Deliverer::new(session.api.clone(), "deliverer");
    session.step(ApplyStep::DeliverFirst);
    let seen = deliverer.deliver(&source, retry::TIMEOUT).await?;
    let is_refused = |seen: &Observation| matches!(seen, Observation::Delivered(line) if line.became == DeliveryOutcome::Refused && line.name.starts_with("CustomResource"));
    let refused = seen.iter().any(is_refused);
    session.see_all(seen);
    if refused {
        // Old servers refuse to apply fields that they do not know, but drop them in a create: so create the CRD, and
        // deliver the objects.
        session.install(&definition).await?;
        ground.pop();
        source = self::source(session, &ground, &objects)?;
        let seen = deliverer.deliver(&source, retry::TIMEOUT).await?;
        session.see_all(seen);
    }
    let served = session.served();
    ready(session, &mut deliverer, (&source, &definition), &objects).await?;
    session.step(ApplyStep::DeliverFirst);
    session.snapshot(&served, &Query::new()).await?;
    session.step(ApplyStep::DeliverAgain);
    let seen = deliverer.deliver(&source, retry::TIMEOUT).await?;
    session.see_all(seen);
    session.snapshot(&served, &Query::new()).await?;

    drift(session, &objects).await?;
    session.step(ApplyStep::DeliverDetect);
    let seen = deliverer.detect(&source).await?;
    session.see_all(seen);
    session.step(ApplyStep::DeliverCorrect);
    let seen = deliverer.deliver(&source, retry::TIMEOUT).await?;
    session.see_all(seen);
    session.snapshot(&served, &Query::new()).await?;
    session.step(ApplyStep::DeliverCorrected);
    let seen = deliverer.detect(&source).await?;
    session.see_all(seen);

    session.step(ApplyStep::DeliverWithdraw);
    let (kept, gone): (Vec<Planned>, Vec<Planned>) =
        objects.into_iter().partition(|planned| !planned.name.ends_with("-0"));
    let names = gone.into_iter().map(|planned| planned.name).collect();
    session.see(Observation::Names(Names { what: Listing::Withdrawn, versions: Vec::new(), names }));
    let less = Source::new(kept.iter().map(|planned| planned.object.clone()).chain(ground))?;
    let seen = deliverer.deliver(&less, retry::TIMEOUT).await?;
    session.see_all(seen);
    session.snapshot(&served, &Query::new()).await
}

/// The first objects of each version.
fn chosen(session: &Session<'_>) -> Vec<Planned> {
    let mut chosen: Vec<Planned> = Vec::new();
    for planned in session.planned() {
        if chosen.iter().filter(|other| other.version == planned.version).count() < OBJECTS {
            chosen.push(planned);
        }
    }
    chosen
}

fn namespace(session: &Session<'_>) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": session.namespace}})
}

/// Everything in one source, in an order in which it cannot be applied. It contains a built-in kind.
fn source(session: &Session<'_>, ground: &[Value], objects: &[Planned]) -> Result<Source, ClusterError> {
    let companion = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "companion", "namespace": session.namespace}, "data": {"key": "value"}});
    let objects = objects.iter().map(|planned| planned.object.clone());
    Ok(Source::new(objects.chain([companion]).chain(ground.iter().cloned()))?)
}

/// Writes conditions if the schema has them: a controller reports at the storage version that an object is not ready,
/// and then that it is. Nobody else writes a status here.
async fn ready(
    session: &mut Session<'_>,
    deliverer: &mut Deliverer,
    (source, definition): (&Source, &Value),
    objects: &[Planned],
) -> Result<(), ClusterError> {
    session.step(ApplyStep::DeliverReady);
    let stored =
        session.crd.versions.iter().find(|version| version.storage && version.served && version.status.is_some());
    let mut written = false;
    if let Some(version) = stored {
        let promised = StatusParts::by(Some(definition), &version.name);
        for status in ["False", "True"] {
            for planned in objects.iter().filter(|_| promised != StatusParts::default()) {
                let request = Request::new(
                    if status == "True" { Action::Ready } else { Action::NotReady },
                    &version.name,
                    &planned.name,
                );
                written |= write_status(session, request, promised, status).await?;
            }
            let seen = deliverer.look(source).await?;
            session.see_all(seen);
        }
    }
    // Without a controller nothing will change, so read once.
    let seen =
        if written { deliverer.wait(source, retry::TIMEOUT / 10).await? } else { deliverer.look(source).await? };
    session.see_all(seen);
    Ok(())
}

async fn write_status(
    session: &mut Session<'_>,
    request: Request<'_>,
    promised: StatusParts,
    status: &str,
) -> Result<bool, ClusterError> {
    let live = session.api.get(&session.path(request.version, request.name)).await?.json();
    let mut said = json!({});
    if promised.conditions {
        said["conditions"] = json!([{"type": "Ready", "status": status, "reason": "Scenario", "message": "as told",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
    }
    if promised.observed {
        said["observedGeneration"] = live["metadata"]["generation"].clone();
    }
    let part = session.kind.at(request.version).part_of(request.name, "status");
    let path = Query::new().manager("controller").on(part);
    let answer = session.api.patch(&path, PatchKind::Merge, &json!({"status": said})).await?;
    session.note(&request, Value::Null, &answer, if answer.is_success() { Value::Null } else { answer.json() });
    Ok(answer.is_success())
}

/// Another client edits objects at another version than they were applied at, deletes one, and adds one.
async fn drift(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    session.step(ApplyStep::DeliverDrift);
    let served = session.served();
    for planned in objects.iter().filter(|planned| planned.name.ends_with("-0") || planned.name.ends_with("-1")) {
        let other = served.iter().find(|version| **version != planned.version);
        let version = other.copied().unwrap_or(planned.version.as_str());
        let content = bare(&session.api.get(&session.path(version, &planned.name)).await?.json());
        let mut fields = scalars(&content);
        if planned.name.ends_with("-1") {
            // Do not choose the same field of every object.
            fields.reverse();
        }
        for (pointer, value) in fields.into_iter().take(TRIES) {
            let mut edit = json!({"metadata": {"labels": {FOREIGN_LABEL: "kept"}}});
            set(&mut edit, &pointer, value);
            let action = Action::Edit(display_path(&pointer));
            let request = Request::new(action, version, &planned.name);
            let query = Query::new().manager("mallory");
            if session.patch(request, PatchKind::Merge, &query, &edit).await?.is_success() {
                break;
            }
        }
    }
    if let Some(last) = objects.last() {
        session.delete(Request::new(Action::Deleted, &last.version, &last.name)).await?;
        let mut own = last.object.clone();
        own["metadata"]["name"] = json!("stranger");
        session
            .create(Request::new(Action::Created, &last.version, "stranger"), &Query::new().manager("mallory"), &own)
            .await?;
    }
    session.snapshot(&served, &Query::new()).await
}
