//! Reads and writes at every version, as clients do.

use std::time::Duration;

use serde_json::{Value, json};

use super::session::{Request, Session};
use super::{admission, deployed, publish, rules};
use crate::evidence::{Action, Listing, ServingStep, WatchEvent, WatchLog};
use crate::subject::objects::{Planned, has};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{FieldValidation, METADATA_LIST, PatchKind, Query, TABLE};

/// The timeout of a watch for an expected event.
const WATCH_TIMEOUT: Duration = Duration::from_secs(10);

/// The scenario.
pub(super) async fn run(session: &mut Session<'_>) -> Result<(), ClusterError> {
    session.step(ServingStep::Install);
    let definition = session.definition(|_| {});
    session.install(&definition).await?;
    let objects = session.planned();
    create(session, &objects).await?;
    read(session).await?;
    rewrite(session, &objects).await?;
    deployed::infer_storage(session, &objects).await?;
    locks(session, &objects).await?;
    select(session).await?;
    list_representations(session).await?;
    watch(session, &objects).await?;
    write_subresources(session, &objects).await?;
    strict(session, &objects).await?;
    // These change the CRD, or add webhooks.
    let is_ours = session.deployed.is_none();
    if is_ours {
        admission::run(session, &objects).await?;
        rules::run(session, &objects, &definition).await?;
    }
    publish(session).await?;
    if is_ours {
        unserve(session, &definition).await?;
    }
    delete(session, &objects).await
}

/// Creates every object through its own version, and writes its status separately.
async fn create(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    session.step(ServingStep::Create);
    for planned in objects {
        let request = |action| Request::new(action, &planned.version, &planned.name);
        let answer = session.create(request(Action::Create), &Query::new(), &planned.object).await?;
        if let (Some(status), true) = (&planned.status, answer.is_success()) {
            let mut object = answer.json();
            object["status"] = status.clone();
            session.put(request(Action::Status), "status", &object).await?;
        }
    }
    Ok(())
}

/// Reads everything at every version: current, from the cache, and one by one.
async fn read(session: &mut Session<'_>) -> Result<(), ClusterError> {
    let served = session.served();
    session.step(ServingStep::Read);
    session.snapshot(&served, &Query::new()).await?;
    session.step(ServingStep::Cached);
    for version in &served {
        // At least as new as the last write, so that a lagging cache is not reported.
        let fresh = session.list(version, &Query::new().limit(1)).await?;
        let at = fresh["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        session.snapshot(&[version], &Query::new().resource_version(&at).not_older()).await?;
    }
    session.step(ServingStep::Single);
    for version in &served {
        let list = session.list(version, &Query::new()).await?;
        for item in list["items"].as_array().into_iter().flatten() {
            let name = item["metadata"]["name"].as_str().unwrap_or_default();
            session.get(Request::new(Action::Get, version, name)).await?;
        }
    }
    Ok(())
}

/// Writes back objects through every version; this must not change them.
async fn rewrite(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    let served = session.served();
    session.step(ServingStep::Rewrite);
    for version in &served {
        for planned in objects {
            let read = session.api.get(&session.path(version, &planned.name)).await?;
            if read.is_success() {
                session.put(Request::new(Action::Rewrite, version, &planned.name), "", &read.json()).await?;
            }
        }
    }
    session.snapshot(&served, &Query::new()).await
}

/// Tries optimistic locks across versions.
async fn locks(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    session.step(ServingStep::Locks);
    let served = session.served();
    let Some(planned) = objects.first() else { return Ok(()) };
    for (from, to) in served.iter().flat_map(|from| served.iter().map(move |to| (*from, *to))) {
        let lock = session.api.get(&session.path(from, &planned.name)).await?.json();
        let mut object = session.api.get(&session.path(to, &planned.name)).await?.json();
        object["metadata"]["resourceVersion"] = lock["metadata"]["resourceVersion"].clone();
        object["metadata"]["labels"]["crdproof.dev/lock"] = json!(format!("{from}-{to}"));
        session.put(Request::new(Action::FreshLock, to, &planned.name), "", &object).await?;
        object["metadata"]["labels"]["crdproof.dev/lock"] = json!("stale");
        session.put(Request::new(Action::StaleLock, to, &planned.name), "", &object).await?;
    }
    Ok(())
}

/// Lists pages that start at one version and continue at another, and by selectors.
async fn select(session: &mut Session<'_>) -> Result<(), ClusterError> {
    let served = session.served();
    session.step(ServingStep::Pages);
    for turn in 0..served.len() {
        let mut items = Vec::new();
        let mut asked = Vec::new();
        let mut query = Query::new().limit(2);
        loop {
            let version = served[(turn + asked.len()) % served.len()];
            asked.push(version);
            let page = session.list(version, &query).await?;
            items.extend(page["items"].as_array().into_iter().flatten().cloned());
            match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
                Some(token) => query = Query::new().limit(2).page(token),
                None => break,
            }
        }
        session.see_names(Listing::Pages, &asked, &Value::Array(items));
    }
    session.step(ServingStep::Selectors);
    for version in &served {
        for born in &served {
            let list = session.list(version, &Query::new().labels(&format!("crdproof.dev/born={born}"))).await?;
            session.see_names(Listing::Label((*born).to_owned()), &[version], &list["items"]);
        }
        let name = session.name(&format!("{version}-0"));
        let list = session.list(version, &Query::new().fields(&format!("metadata.name={name}"))).await?;
        session.see_names(Listing::Name(name), &[version], &list["items"]);
        select_fields(session, version).await?;
    }
    Ok(())
}

/// Lists by selectable fields of a version, with the values of objects.
async fn select_fields(session: &mut Session<'_>, version: &str) -> Result<(), ClusterError> {
    let Some(own) = session.crd.version(version) else { return Ok(()) };
    let all = session.list(version, &Query::new()).await?;
    for (path, _) in &own.selectable_fields {
        let pointer = path.replace('.', "/");
        let values = all["items"].as_array().into_iter().flatten().filter_map(|item| item.pointer(&pointer));
        let plain =
            |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        let Some(value) = values.filter_map(Value::as_str).find(plain).map(str::to_owned) else { continue };
        let selector = format!("{}={value}", path.trim_start_matches('.'));
        let answer =
            session.api.get(&session.own(Query::new().fields(&selector)).on(session.kind.at(version).path())).await?;
        // A server without selectable fields answers 400.
        let told = if answer.is_success() { Value::Null } else { answer.json() };
        session.note(&Request::new(Action::Selectable(selector.clone()), version, ""), Value::Null, &answer, told);
        if answer.is_success() {
            session.see_names(Listing::Selectable(selector), &[version], &answer.json()["items"]);
        }
    }
    Ok(())
}

/// Lists tables, and only metadata.
async fn list_representations(session: &mut Session<'_>) -> Result<(), ClusterError> {
    session.step(ServingStep::Tables);
    for version in session.served() {
        let path = session.own(Query::new()).on(session.kind.at(version).path());
        let answer = session.api.get_as(&path, TABLE).await?;
        session.note(&Request::new(Action::Table, version, ""), Value::Null, &answer, shortened(&answer.json()));
    }
    session.step(ServingStep::Metadata);
    for version in session.served() {
        let path = session.own(Query::new()).on(session.kind.at(version).path());
        let answer = session.api.get_as(&path, METADATA_LIST).await?;
        session.see_names(Listing::Metadata, &[version], &answer.json()["items"]);
    }
    Ok(())
}

/// A table without its objects.
fn shortened(table: &Value) -> Value {
    let rows = table["rows"].as_array().into_iter().flatten().map(|row| row["cells"].clone());
    let columns = table["columnDefinitions"].as_array().into_iter().flatten();
    let columns = columns.map(|column| json!({"name": column["name"], "type": column["type"]}));
    json!({
        "kind": table["kind"], "columnDefinitions": columns.collect::<Vec<_>>(), "rows": rows.collect::<Vec<_>>(),
    })
}

/// Watches at all versions at once, while objects are written through each of them.
async fn watch(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    session.step(ServingStep::Watch);
    let served = session.served();
    let mut open = Vec::new();
    for version in &served {
        let list = session.list(version, &Query::new().limit(1)).await?;
        let at = list["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let path = session.kind.at(version).path();
        open.push((
            *version,
            session.api.watch(&path, &session.own(Query::new().resource_version(&at)), WATCH_TIMEOUT * 3).await?,
        ));
    }
    let mut wanted = 0;
    for (number, version) in served.iter().enumerate() {
        let Some(planned) = objects.iter().find(|planned| planned.version == *version) else { continue };
        let name = session.name(&format!("watched-{number}"));
        let mut object = planned.object.clone();
        object["metadata"]["name"] = json!(name);
        if !session.create(Request::new(Action::Create, version, &name), &Query::new(), &object).await?.is_success() {
            continue;
        }
        wanted += 1;
        // It is changed through the next version, and deleted through the one after that.
        let label = json!({"metadata": {"labels": {"crdproof.dev/watched": "yes"}}});
        let next = |turn: usize| served[(number + turn) % served.len()];
        session.patch(Request::new(Action::Label, next(1), &name), PatchKind::Merge, &Query::new(), &label).await?;
        session.delete(Request::new(Action::Delete, next(2), &name)).await?;
    }
    for (version, mut watch) in open {
        let mut events = Vec::new();
        let mut deleted = 0;
        while deleted < wanted {
            let Some(event) = watch.next(WATCH_TIMEOUT).await? else { break };
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let metadata = &event.object["metadata"];
            deleted += usize::from(event.kind == "DELETED");
            events.push(WatchEvent {
                name: text(&metadata["name"]),
                api_version: text(&event.object["apiVersion"]),
                resource_version: text(&metadata["resourceVersion"]),
                kind: event.kind,
            });
        }
        session.see_watch(WatchLog { version: version.to_owned(), events });
    }
    Ok(())
}

/// Writes the status and scale subresources at every version that has them.
async fn write_subresources(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    for version in session.crd.versions.iter().filter(|version| version.served) {
        let Some(planned) = objects.iter().find(|planned| planned.version == version.name) else { continue };
        let request = |action| Request::new(action, &version.name, &planned.name);
        let path = session.path(&version.name, &planned.name);
        if version.status.is_some() && has(version.schema.as_ref(), "status") {
            session.step(ServingStep::Status);
            let before = session.get(request(Action::Before)).await?.json();
            let mut object = before.clone();
            object["metadata"]["labels"]["crdproof.dev/status"] = json!("must not stay");
            session.put(request(Action::StatusWithALabel), "status", &object).await?;
            let mut object = session.api.get(&path).await?.json();
            if let Some(fields) = object.as_object_mut() {
                fields.remove("status");
            }
            session.put(request(Action::ObjectWithoutStatus), "", &object).await?;
            session.get(request(Action::After)).await?;
        }
        if version.scale.is_some() {
            session.step(ServingStep::Scale);
            let scale_path = session.kind.at(&version.name).part_of(&planned.name, "scale");
            let answer = session.api.get(&scale_path).await?;
            session.note(&request(Action::GetScale), Value::Null, &answer, answer.json());
            if answer.is_success() {
                let mut scale = answer.json();
                let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(1);
                scale["spec"]["replicas"] = json!(if replicas == 2 { 3 } else { 2 });
                session.put(request(Action::SetScale), "scale", &scale).await?;
                let answer = session.api.get(&scale_path).await?;
                session.note(&request(Action::GetScaleAgain), Value::Null, &answer, answer.json());
            }
        }
    }
    Ok(())
}

/// Writes unknown fields with strict validation, and dry runs.
async fn strict(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    for version in session.served() {
        let Some(planned) = objects.iter().find(|planned| planned.version == version) else { continue };
        let name = session.name("pretended");
        let mut object = planned.object.clone();
        object["metadata"]["name"] = json!(name);
        session.step(ServingStep::Strict);
        let strictly = Query::new().validation(FieldValidation::Strict).dry_run();
        session.create(Request::new(Action::KnownFields, version, &name), &strictly, &object).await?;
        let mut unknown = object.clone();
        unknown["crdproofKnowsNoSuchField"] = json!(true);
        session.create(Request::new(Action::UnknownField, version, &name), &strictly, &unknown).await?;
        session.step(ServingStep::DryRun);
        session.create(Request::new(Action::DryRun, version, &name), &Query::new().dry_run(), &object).await?;
        session.get(Request::new(Action::AfterDryRun, version, &name)).await?;
    }
    Ok(())
}

/// Reads discovery, published schemas, and warnings about deprecated versions.
async fn publish(session: &mut Session<'_>) -> Result<(), ClusterError> {
    let group = session.crd.group.clone();
    session.step(ServingStep::Discovery);
    let answer = session.api.get(&format!("/apis/{group}")).await?;
    session.note(&Request::new(Action::Group, "", ""), Value::Null, &answer, answer.json());
    for version in session.served() {
        let answer = session.api.get(&format!("/apis/{group}/{version}")).await?;
        session.note(&Request::new(Action::Resources, version, ""), Value::Null, &answer, answer.json());
        session.step(ServingStep::Warnings);
        let answer = session.api.get(&session.own(Query::new()).on(session.kind.at(version).path())).await?;
        session.note(&Request::new(Action::List, version, ""), Value::Null, &answer, Value::Null);
        session.step(ServingStep::Discovery);
    }
    publish::run(session).await
}

/// Stops serving each version except the last, and serves it again.
async fn unserve(session: &mut Session<'_>, definition: &Value) -> Result<(), ClusterError> {
    session.step(ServingStep::Unserve);
    let served = session.served();
    for version in served.iter().filter(|_| served.len() > 1) {
        let mut without = definition.clone();
        for one in without["spec"]["versions"].as_array_mut().into_iter().flatten() {
            if one["name"] == *version {
                one["served"] = json!(false);
            }
        }
        session.redefine(Action::Unserve, &without).await?;
        let path = session.kind.at(version).path();
        let (_, answer) = session.until(&path, |answer| answer.status == 404).await?;
        session.note(&Request::new(Action::ListUnserved, version, ""), Value::Null, &answer, Value::Null);
        session.redefine(Action::Serve, definition).await?;
        let (_, answer) = session.until(&path, crdproof_envtest::api::Answer::is_success).await?;
        session.note(&Request::new(Action::ListServedAgain, version, ""), Value::Null, &answer, Value::Null);
    }
    session.snapshot(&served, &Query::new()).await
}

/// Deletes every object through another version than the one that it was created at.
async fn delete(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    session.step(ServingStep::Delete);
    let served = session.served();
    for (number, planned) in objects.iter().enumerate() {
        let version = served[number % served.len()];
        session.delete(Request::new(Action::Delete, version, &planned.name)).await?;
    }
    session.snapshot(&served, &Query::new()).await
}
