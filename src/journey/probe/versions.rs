//! Probes of CRDs with several versions, and of their end.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Sight;
use super::bench::{Bench, managers, said};
use crate::cluster::ClusterError;
use crate::cluster::api::PatchKind;
use crate::convert::endpoint::{Function, Request};
use crate::convert::review;
use crate::tap::{Fault, Tap};

fn numbers() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}})
}

/// V19: strategy None was held to the rules of webhooks.
pub(super) async fn none_converts(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    bench.install(&bench.crd(&[("v1", numbers()), ("v2", numbers())])).await?;
    let first = bench.apply("v1", "m1", &json!({"a": 1})).await?;
    let second = bench.apply("v2", "m2", &json!({"b": 2})).await?;
    let again = bench.apply("v2", "m1", &json!({"a": 1})).await?;
    let failed = [&first, &second, &again].into_iter().find(|answer| !answer.is_success());
    Ok(failed.map_or_else(|| Sight::Good("three applies at two versions".into()), |answer| Sight::Bad(said(answer))))
}

/// V23: an object with two items of one key could not be applied any more.
pub(super) async fn duplicate_items(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    let item = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
    let list = json!({"type": "array", "items": item});
    let mut keyed = list.clone();
    keyed["x-kubernetes-list-type"] = json!("map");
    keyed["x-kubernetes-list-map-keys"] = json!(["name"]);
    let spec = |items: &Value| json!({"type": "object", "properties": {"a": {"type": "integer"}, "items": items}});
    bench.install(&bench.crd(&[("v1", spec(&list)), ("v2", spec(&keyed))])).await?;
    bench.apply("v2", "m1", &json!({"a": 1})).await?.ok()?;
    let twice = json!({"spec": {"items": [{"name": "x"}, {"name": "x"}]}});
    let written = bench.api.patch(&bench.path("v1"), PatchKind::Merge, &twice).await?;
    if !written.is_success() {
        return Ok(Sight::Unclear(format!("duplicates were refused: {}", said(&written))));
    }
    // The write itself costs the entries up to 1.36; whether m1 can apply again is what was mended first.
    let owners = managers(&written.json());
    let reapplied = bench.apply("v2", "m1", &json!({"a": 1})).await?;
    let seen = format!("entries after the write: [{}]; m1 applied again: {}", owners.join(", "), said(&reapplied));
    Ok(Sight::of(reapplied.is_success(), seen))
}

/// V33: a CRD on its way out took new objects.
pub(super) async fn apply_while_terminating(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    bench.plain(numbers()).await?;
    let mut held = Bench::object("v1", &json!({"a": 1}));
    held["metadata"]["finalizers"] = json!(["probe.crdproof.dev/hold"]);
    bench.api.post(&bench.collection("v1"), &held).await?.ok()?;
    bench.delete_crd().await?.ok()?;
    let path = bench.path("v1");
    let going = bench.until(&path, |answer| !answer.json()["metadata"]["deletionTimestamp"].is_null()).await?;
    let mut other = Bench::object("v1", &json!({"a": 2}));
    other["metadata"]["name"] = json!("other");
    let elsewhere = format!("{}/other", bench.collection("v1"));
    let applied = bench.api.patch(&format!("{elsewhere}?fieldManager=m1"), PatchKind::Apply, &other).await?;
    // What was held back may go now, and what should not have come as well.
    let free = json!({"metadata": {"finalizers": null}});
    bench.api.patch(&path, PatchKind::Merge, &free).await?;
    if applied.is_success() {
        bench.api.delete(&elsewhere).await?;
    }
    if going.is_none() {
        return Ok(Sight::Unclear("the CRD's objects were not being deleted".into()));
    }
    Ok(Sight::of(!applied.is_success(), said(&applied)))
}

/// V37: an entry of a version that is gone stands in everybody's way.
pub(super) async fn retired_entry(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    bench.install(&bench.crd(&[("v1", numbers()), ("v2", numbers())])).await?;
    bench.apply("v1", "m1", &json!({"a": 1})).await?.ok()?;
    bench.trim("v2").await?;
    bench
        .redefine(|crd| {
            if let Some(versions) = crd["spec"]["versions"].as_array_mut() {
                versions.retain(|version| version["name"] != "v1");
            }
        })
        .await?;
    let gone = bench.until(&bench.collection("v1"), |answer| answer.status == 404).await?;
    if gone.is_none() {
        return Ok(Sight::Unclear("the removed version was still served".into()));
    }
    let applied = bench.apply("v2", "m2", &json!({"b": 2})).await?;
    Ok(Sight::of(applied.is_success(), said(&applied)))
}

/// V35: a write while the converter is down cost everybody's ownership.
pub(super) async fn outage(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    let Some(access) = bench.server.host_access() else {
        return Ok(Sight::Unclear("the server cannot reach a webhook of ours".into()));
    };
    let tap = Tap::start(&access, Arc::new(Function(rewrite))).await?;
    let seen = during_outage(bench, &tap).await;
    // Deleting the CRD takes a converter that answers.
    tap.fail(None);
    let cleared = bench.clear().await;
    tap.stop().await;
    let seen = seen?;
    cleared?;
    Ok(seen)
}

async fn during_outage(bench: &Bench<'_>, tap: &Tap) -> Result<Sight, ClusterError> {
    bench.install(&tap.redirect(&bench.crd(&[("v1", numbers()), ("v2", numbers())]))).await?;
    bench.apply("v1", "m1", &json!({"a": 1})).await?.ok()?;
    bench.apply("v2", "m2", &json!({"b": 2})).await?.ok()?;
    let before = managers(&bench.get("v2").await?);
    tap.fail(Some(Fault::Refuse("the converter is down".into())));
    let label = json!({"metadata": {"labels": {"probe": "yes"}}});
    let labelled = bench.api.patch(&bench.path("v2"), PatchKind::Merge, &label).await?;
    tap.fail(None);
    let after = managers(&bench.get("v2").await?);
    let seen =
        format!("label: {}; entries before [{}], after [{}]", said(&labelled), before.join(", "), after.join(", "));
    Ok(Sight::of(before.iter().all(|manager| after.contains(manager)), seen))
}

/// The versions differ by name only.
fn rewrite(request: &Request) -> (u16, Vec<u8>) {
    let review: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let answered = review::answer(&review, |object, to| {
        let mut object = object.clone();
        object["apiVersion"] = json!(to);
        if object["metadata"].is_null() {
            object["metadata"] = json!({});
        }
        Ok(object)
    });
    match answered {
        Ok(answer) => (200, answer.to_string().into_bytes()),
        Err(why) => (400, why.as_bytes().to_vec()),
    }
}
