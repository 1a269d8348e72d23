//! Reads and writes at every version: what clients see.

use std::time::Duration;

use serde_json::{Value, json};

use super::stage::{Ask, Stage};
use super::{admission, publish, rules};
use crate::evidence::{WatchEvent, WatchLog};
use crate::subject::objects::{Planned, has};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{FieldValidation, METADATA_LIST, PatchKind, Query, TABLE};

/// How long a watch waits for what is bound to come.
const WATCHED: Duration = Duration::from_secs(10);

/// The journey.
pub(super) async fn travel(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    stage.step("install");
    let definition = stage.definition(|_| {});
    stage.install(&definition).await?;
    let objects = stage.planned();
    create(stage, &objects).await?;
    read(stage).await?;
    rewrite(stage, &objects).await?;
    locks(stage, &objects).await?;
    select(stage).await?;
    show(stage).await?;
    watch(stage, &objects).await?;
    parts(stage, &objects).await?;
    strict(stage, &objects).await?;
    admission::travel(stage, &objects).await?;
    rules::travel(stage, &objects, &definition).await?;
    publish(stage).await?;
    unserve(stage, &definition).await?;
    delete(stage, &objects).await
}

/// Every object through the version that it is of; its status by itself.
async fn create(stage: &mut Stage<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    stage.step("create");
    for planned in objects {
        let ask = |what| Ask::new(what, &planned.version, &planned.name);
        let answer = stage.create(ask("create"), &Query::new(), &planned.object).await?;
        if let (Some(status), true) = (&planned.status, answer.is_success()) {
            let mut object = answer.json();
            object["status"] = status.clone();
            stage.put(ask("status"), "status", &object).await?;
        }
    }
    Ok(())
}

/// Everything at every version: fresh, from the cache, and one by one.
async fn read(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    let served = stage.served();
    stage.step("read");
    stage.snapshot(&served, &Query::new()).await?;
    stage.step("cached");
    for version in &served {
        // As fresh as the newest write, so that a cache that lags is waited for and not blamed.
        let fresh = stage.list(version, &Query::new().limit(1)).await?;
        let at = fresh["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        stage.snapshot(&[version], &Query::new().resource_version(&at).not_older()).await?;
    }
    stage.step("single");
    for version in &served {
        let list = stage.list(version, &Query::new()).await?;
        for item in list["items"].as_array().into_iter().flatten() {
            let name = item["metadata"]["name"].as_str().unwrap_or_default();
            stage.get(Ask::new("get", version, name)).await?;
        }
    }
    Ok(())
}

/// What was read is written back as it is, through every version; nothing may move by that.
async fn rewrite(stage: &mut Stage<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    let served = stage.served();
    stage.step("rewrite");
    for version in &served {
        for planned in objects {
            let read = stage.api.get(&stage.path(version, &planned.name)).await?;
            if read.is_success() {
                stage.put(Ask::new("rewrite", version, &planned.name), "", &read.json()).await?;
            }
        }
    }
    stage.snapshot(&served, &Query::new()).await
}

/// Optimistic locks across versions.
async fn locks(stage: &mut Stage<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    stage.step("locks");
    let served = stage.served();
    let Some(planned) = objects.first() else { return Ok(()) };
    for (from, to) in served.iter().flat_map(|from| served.iter().map(move |to| (*from, *to))) {
        let lock = stage.api.get(&stage.path(from, &planned.name)).await?.json();
        let mut object = stage.api.get(&stage.path(to, &planned.name)).await?.json();
        object["metadata"]["resourceVersion"] = lock["metadata"]["resourceVersion"].clone();
        object["metadata"]["labels"]["crdproof.dev/lock"] = json!(format!("{from}-{to}"));
        stage.put(Ask::new("fresh lock", to, &planned.name), "", &object).await?;
        object["metadata"]["labels"]["crdproof.dev/lock"] = json!("stale");
        stage.put(Ask::new("stale lock", to, &planned.name), "", &object).await?;
    }
    Ok(())
}

/// Pages that begin at one version and go on at another, and selectors.
async fn select(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    let served = stage.served();
    stage.step("pages");
    for turn in 0..served.len() {
        let mut items = Vec::new();
        let mut asked = Vec::new();
        let mut query = Query::new().limit(2);
        loop {
            let version = served[(turn + asked.len()) % served.len()];
            asked.push(version);
            let page = stage.list(version, &query).await?;
            items.extend(page["items"].as_array().into_iter().flatten().cloned());
            match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
                Some(token) => query = Query::new().limit(2).page(token),
                None => break,
            }
        }
        stage.see_names("pages", &asked, &Value::Array(items));
    }
    stage.step("selectors");
    for version in &served {
        for born in &served {
            let list = stage.list(version, &Query::new().labels(&format!("crdproof.dev/born={born}"))).await?;
            stage.see_names(&format!("label born={born}"), &[version], &list["items"]);
        }
        let list = stage.list(version, &Query::new().fields(&format!("metadata.name={version}-0"))).await?;
        stage.see_names(&format!("field name={version}-0"), &[version], &list["items"]);
        select_fields(stage, version).await?;
    }
    Ok(())
}

/// Selectors by the fields that a version makes selectable, with the values that objects have there.
async fn select_fields(stage: &mut Stage<'_>, version: &str) -> Result<(), ClusterError> {
    let Some(own) = stage.crd.version(version) else { return Ok(()) };
    let all = stage.list(version, &Query::new()).await?;
    for (path, _) in &own.selectable_fields {
        let pointer = path.replace('.', "/");
        let values = all["items"].as_array().into_iter().flatten().filter_map(|item| item.pointer(&pointer));
        let plain =
            |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        let Some(value) = values.filter_map(Value::as_str).find(plain).map(str::to_owned) else { continue };
        let selector = format!("{}={value}", path.trim_start_matches('.'));
        let answer = stage.api.get(&Query::new().fields(&selector).on(stage.kind.at(version).path())).await?;
        // A server that does not know selectable fields answers 400.
        let told = if answer.is_success() { Value::Null } else { answer.json() };
        stage.note(&Ask::new(&format!("selectable {selector}"), version, ""), Value::Null, &answer, told);
        if answer.is_success() {
            stage.see_names(&format!("selectable {selector}"), &[version], &answer.json()["items"]);
        }
    }
    Ok(())
}

/// Tables and metadata alone.
async fn show(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    stage.step("tables");
    for version in stage.served() {
        let path = stage.kind.at(version).path();
        let answer = stage.api.get_as(&path, TABLE).await?;
        stage.note(&Ask::new("table", version, ""), Value::Null, &answer, shortened(&answer.json()));
    }
    stage.step("metadata");
    for version in stage.served() {
        let path = stage.kind.at(version).path();
        let answer = stage.api.get_as(&path, METADATA_LIST).await?;
        stage.see_names("metadata", &[version], &answer.json()["items"]);
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
async fn watch(stage: &mut Stage<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    stage.step("watch");
    let served = stage.served();
    let mut open = Vec::new();
    for version in &served {
        let list = stage.list(version, &Query::new().limit(1)).await?;
        let at = list["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let path = stage.kind.at(version).path();
        open.push((*version, stage.api.watch(&path, &Query::new().resource_version(&at), WATCHED * 3).await?));
    }
    let mut wanted = 0;
    for (number, version) in served.iter().enumerate() {
        let Some(planned) = objects.iter().find(|planned| planned.version == *version) else { continue };
        let name = format!("watched-{number}");
        let mut object = planned.object.clone();
        object["metadata"]["name"] = json!(name);
        if !stage.create(Ask::new("create", version, &name), &Query::new(), &object).await?.is_success() {
            continue;
        }
        wanted += 1;
        // It is changed through the next version, and deleted through the one after that.
        let label = json!({"metadata": {"labels": {"crdproof.dev/watched": "yes"}}});
        let next = |turn: usize| served[(number + turn) % served.len()];
        stage.patch(Ask::new("label", next(1), &name), PatchKind::Merge, &Query::new(), &label).await?;
        stage.delete(Ask::new("delete", next(2), &name)).await?;
    }
    for (version, mut watch) in open {
        let mut events = Vec::new();
        let mut deleted = 0;
        while deleted < wanted {
            let Some(event) = watch.next(WATCHED).await? else { break };
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
        stage.see_watch(WatchLog { version: version.to_owned(), events });
    }
    Ok(())
}

/// The status and scale subresources at every version that has them.
async fn parts(stage: &mut Stage<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    for version in stage.crd.versions.iter().filter(|version| version.served) {
        let Some(planned) = objects.iter().find(|planned| planned.version == version.name) else { continue };
        let ask = |what| Ask::new(what, &version.name, &planned.name);
        let path = stage.path(&version.name, &planned.name);
        if version.status.is_some() && has(version.schema.as_ref(), "status") {
            stage.step("status");
            let before = stage.get(ask("before")).await?.json();
            let mut object = before.clone();
            object["metadata"]["labels"]["crdproof.dev/status"] = json!("must not stay");
            stage.put(ask("status with a label"), "status", &object).await?;
            let mut object = stage.api.get(&path).await?.json();
            if let Some(fields) = object.as_object_mut() {
                fields.remove("status");
            }
            stage.put(ask("object without status"), "", &object).await?;
            stage.get(ask("after")).await?;
        }
        if version.scale.is_some() {
            stage.step("scale");
            let scale_path = stage.kind.at(&version.name).part_of(&planned.name, "scale");
            let answer = stage.api.get(&scale_path).await?;
            stage.note(&ask("get scale"), Value::Null, &answer, answer.json());
            if answer.is_success() {
                let mut scale = answer.json();
                let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(1);
                scale["spec"]["replicas"] = json!(if replicas == 2 { 3 } else { 2 });
                stage.put(ask("set scale"), "scale", &scale).await?;
                let answer = stage.api.get(&scale_path).await?;
                stage.note(&ask("get scale again"), Value::Null, &answer, answer.json());
            }
        }
    }
    Ok(())
}

/// Unknown fields with strict validation, and writes that only pretend.
async fn strict(stage: &mut Stage<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    for version in stage.served() {
        let Some(planned) = objects.iter().find(|planned| planned.version == version) else { continue };
        let mut object = planned.object.clone();
        object["metadata"]["name"] = json!("pretended");
        stage.step("strict");
        let strictly = Query::new().validation(FieldValidation::Strict).dry_run();
        stage.create(Ask::new("known fields", version, "pretended"), &strictly, &object).await?;
        let mut unknown = object.clone();
        unknown["crdproofKnowsNoSuchField"] = json!(true);
        stage.create(Ask::new("unknown field", version, "pretended"), &strictly, &unknown).await?;
        stage.step("dry-run");
        stage.create(Ask::new("dry run", version, "pretended"), &Query::new().dry_run(), &object).await?;
        stage.get(Ask::new("after dry run", version, "pretended")).await?;
    }
    Ok(())
}

/// Discovery, published schemas, and warnings about deprecated versions.
async fn publish(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    let group = stage.crd.group.clone();
    stage.step("discovery");
    let answer = stage.api.get(&format!("/apis/{group}")).await?;
    stage.note(&Ask::new("group", "", ""), Value::Null, &answer, answer.json());
    for version in stage.served() {
        let answer = stage.api.get(&format!("/apis/{group}/{version}")).await?;
        stage.note(&Ask::new("resources", version, ""), Value::Null, &answer, answer.json());
        stage.step("warnings");
        let answer = stage.api.get(&stage.kind.at(version).path()).await?;
        stage.note(&Ask::new("list", version, ""), Value::Null, &answer, Value::Null);
        stage.step("discovery");
    }
    publish::travel(stage).await
}

/// Each version but the last is taken out of service, and brought back.
async fn unserve(stage: &mut Stage<'_>, definition: &Value) -> Result<(), ClusterError> {
    stage.step("unserve");
    let served = stage.served();
    for version in served.iter().filter(|_| served.len() > 1) {
        let mut without = definition.clone();
        for one in without["spec"]["versions"].as_array_mut().into_iter().flatten() {
            if one["name"] == *version {
                one["served"] = json!(false);
            }
        }
        stage.redefine("unserve", &without).await?;
        let path = stage.kind.at(version).path();
        let (_, answer) = stage.until(&path, |answer| answer.status == 404).await?;
        stage.note(&Ask::new("list unserved", version, ""), Value::Null, &answer, Value::Null);
        stage.redefine("serve", definition).await?;
        let (_, answer) = stage.until(&path, crdproof_envtest::api::Answer::is_success).await?;
        stage.note(&Ask::new("list served again", version, ""), Value::Null, &answer, Value::Null);
    }
    stage.snapshot(&served, &Query::new()).await
}

/// Every object through another version than the one it was created at.
async fn delete(stage: &mut Stage<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    stage.step("delete");
    let served = stage.served();
    for (number, planned) in objects.iter().enumerate() {
        let version = served[number % served.len()];
        stage.delete(Ask::new("delete", version, &planned.name)).await?;
    }
    stage.snapshot(&served, &Query::new()).await
}
