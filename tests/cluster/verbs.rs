//! Raw verbs against a real server.

use std::time::Duration;

use crdproof_envtest::api::{Api, FieldValidation, METADATA_LIST, PatchKind, Query, Resource, TABLE};
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::Failed;
use serde_json::json;

use crate::support::{block, check, crd, describe, scalable_crd, widget};

pub(crate) fn every_verb_works(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        // 1.18 refuses to apply an integer that a scale reads, because it treats the number as a float64.
        let scalable = server.version().minor != 18;
        let crd = if scalable { scalable_crd() } else { crd() };
        server.install_crds(&[crd]).await.map_err(|error| describe(&error))?;
        let api = server.api();
        let widgets = Resource::namespaced("example.com", "v1", "widgets", "default");
        writes(&api, &widgets).await?;
        if scalable {
            scales(&api, &widgets).await?;
        }
        reads(&api, &widgets).await?;
        watches(&api, &widgets).await?;
        removals(&api, &widgets).await?;

        let identity = api.identity().await?;
        check(identity.version == server.version(), format!("{identity:?}"))?;
        check(identity.serves("example.com", "v2") && !identity.serves("example.com", "v3"), format!("{identity:?}"))?;
        let features = api.features().await?;
        let minor = server.version().minor;
        // The releases in which each feature is on by default.
        check(features.apply == (minor >= 16), format!("{features:?}"))?;
        check(features.strict_validation == (minor >= 25), format!("{features:?}"))?;
        check(features.openapi_v3 == (minor >= 24), format!("{features:?}"))?;
        check(features.aggregated_discovery == (minor >= 27), format!("{features:?}"))?;
        check(api.get("/api/v1/namespaces/default/configmaps/crdproof-probe").await?.status == 404, "a probe is stored")
    })
}

async fn writes(api: &Api, widgets: &Resource) -> Result<(), Failed> {
    // An apply does not have to wait, unlike the first create after a CRD is established.
    let apply = Query::new().manager("test").on(widgets.path_of("w0"));
    check(api.patch(&apply, PatchKind::Apply, &widget("v1", "w0", 0)).await?.status == 201, "apply")?;
    for size in 1..5 {
        api.post(&widgets.path(), &widget("v1", &format!("w{size}"), size)).await?.ok()?;
    }
    let dry = api.post(&Query::new().dry_run().on(widgets.path()), &widget("v1", "dry", 1)).await?.ok()?;
    check(dry.status == 201 && api.get(&widgets.path_of("dry")).await?.status == 404, "a dry run is stored")?;

    let size = |object: &serde_json::Value| object["spec"]["size"].as_u64();
    let merged =
        api.patch(&widgets.path_of("w1"), PatchKind::Merge, &json!({"spec": {"size": 11}})).await?.ok()?.json();
    check(size(&merged) == Some(11), format!("merge patch: {merged}"))?;
    let patch = json!([{"op": "replace", "path": "/spec/size", "value": 12}]);
    let mut patched = api.patch(&widgets.path_of("w1"), PatchKind::Json, &patch).await?.ok()?.json();
    check(size(&patched) == Some(12), format!("JSON patch: {patched}"))?;
    patched["spec"]["size"] = json!(1);
    check(size(&api.put(&widgets.path_of("w1"), &patched).await?.ok()?.json()) == Some(1), "put")?;
    check(api.put(&widgets.path_of("w1"), &patched).await?.status == 409, "an old resource version is taken")?;

    let status = json!({"status": {"size": 3}, "spec": {"size": 99}});
    let put = api.patch(&widgets.part_of("w3", "status"), PatchKind::Merge, &status).await?.ok()?.json();
    check(put["status"]["size"] == 3 && size(&put) == Some(3), format!("status: {put}"))?;
    Ok(())
}

async fn scales(api: &Api, widgets: &Resource) -> Result<(), Failed> {
    let mut scale = api.get(&widgets.part_of("w4", "scale")).await?.ok()?.json();
    check(scale["spec"]["replicas"] == 4, format!("scale: {scale}"))?;
    scale["spec"]["replicas"] = json!(6);
    api.put(&widgets.part_of("w4", "scale"), &scale).await?.ok()?;
    let written = api.get(&widgets.path_of("w4")).await?.ok()?.json();
    check(written["spec"]["size"] == 6, format!("the scale is not written: {written}"))
}

async fn reads(api: &Api, widgets: &Resource) -> Result<(), Failed> {
    let page = api.get(&Query::new().limit(2).on(widgets.path())).await?.ok()?.json();
    let token = page["metadata"]["continue"].as_str().unwrap_or_default();
    let next = api.get(&Query::new().limit(9).page(token).on(widgets.at("v2").path())).await?.ok()?.json();
    let counts = [&page, &next].map(|page| page["items"].as_array().map(Vec::len));
    check(counts == [Some(2), Some(3)], format!("pages of {counts:?}"))?;
    let odd = api.get(&Query::new().labels("odd in (true)").on(widgets.path())).await?.ok()?.json();
    check(odd["items"].as_array().is_some_and(|items| items.len() == 2), format!("labels: {odd}"))?;
    let one = api.get(&Query::new().fields("metadata.name=w2").on(widgets.path())).await?.ok()?.json();
    check(one["items"].as_array().is_some_and(|items| items.len() == 1), format!("fields: {one}"))?;
    let cached = api.get(&Query::new().resource_version("0").on(widgets.path())).await?.ok()?;
    check(cached.json()["items"].is_array(), "a cached list")?;
    let table = api.get_as(&widgets.path(), TABLE).await?.ok()?.json();
    check(
        table["kind"] == "Table" && table["rows"].as_array().is_some_and(|rows| rows.len() == 5),
        format!("{table}"),
    )?;
    let partial = api.get_as(&widgets.path(), METADATA_LIST).await?.ok()?.json();
    check(
        partial["items"][0]["spec"].is_null() && partial["items"][0]["metadata"]["name"] == "w0",
        format!("{partial}"),
    )?;
    // The server's features tell how it handles unknown fields on request; decoding never fails.
    let warned = Query::new().dry_run().validation(FieldValidation::Ignore).on(widgets.path());
    let mut odd = widget("v1", "odd", 1);
    odd["spec"]["unknown"] = json!(true);
    api.post(&warned, &odd).await?.ok()?;
    Ok(())
}

async fn watches(api: &Api, widgets: &Resource) -> Result<(), Failed> {
    let version = api.get(&widgets.path()).await?.ok()?.json()["metadata"]["resourceVersion"].take();
    let from = Query::new().resource_version(version.as_str().unwrap_or_default());
    let mut watch = api.watch(&widgets.at("v2").path(), &from, Duration::from_secs(20)).await?;
    let patch = json!({"spec": {"size": 7}});
    api.patch(&widgets.path_of("w2"), PatchKind::Merge, &patch).await?.ok()?;
    api.delete(&widgets.path_of("w2")).await?.ok()?;
    let mut seen = Vec::new();
    while seen.len() < 2
        && let Some(event) = watch.next(Duration::from_secs(10)).await?
    {
        check(event.object["apiVersion"] == "example.com/v2", format!("{event:?}"))?;
        seen.push(event.kind);
    }
    check(seen == ["MODIFIED", "DELETED"], format!("events: {seen:?}"))?;
    check(watch.next(Duration::from_millis(200)).await?.is_none(), "an event out of nowhere")?;
    let refused = api.watch(&widgets.at("v9").path(), &Query::new(), Duration::from_secs(1)).await.err();
    let words = refused.map(|error| error.to_string()).unwrap_or_default();
    check(words.contains("404"), format!("a watch of nothing: {words}"))
}

async fn removals(api: &Api, widgets: &Resource) -> Result<(), Failed> {
    api.delete(&Query::new().labels("odd=true").on(widgets.path())).await?.ok()?;
    let left = api.get(&widgets.path()).await?.ok()?.json();
    let names: Vec<_> =
        left["items"].as_array().into_iter().flatten().map(|item| item["metadata"]["name"].clone()).collect();
    check(names == ["w0", "w4"], format!("left: {names:?}"))
}
