//! Probes of what schemas do.

use serde_json::{Value, json};

use super::Sight;
use super::bench::{Bench, said};
use crate::cluster::ClusterError;
use crate::cluster::api::PatchKind;

/// V12: null was no value of an enum.
pub(super) async fn null_in_enum(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    let spec = json!({"type": "object", "properties": {
        "a": {"type": "string", "nullable": true, "enum": ["x", null]}}});
    match bench.plain(spec).await {
        Ok(()) => Ok(Sight::Good("the CRD is accepted".into())),
        // The message repeats the whole definition; what is wrong stands at its end.
        Err(ClusterError::Refused { status: 422, message, .. }) => {
            let reason = message.rsplit(": ").next().unwrap_or_default();
            Ok(Sight::Bad(format!("422 {reason}")))
        }
        Err(error) => Err(error),
    }
}

/// V13: items lost their fields.
pub(super) async fn preserved_array(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    let free = json!({"x-kubernetes-preserve-unknown-fields": true});
    bench.plain(json!({"type": "object", "properties": {"free": free}})).await?;
    let sent = json!([{"foo": true}]);
    bench.create("v1", &json!({"free": sent})).await?.ok()?;
    let read = bench.get("v1").await?["spec"]["free"].clone();
    Ok(Sight::of(read == sent, format!("{sent} is stored as {read}")))
}

/// V29: a part of a block was not recognised unless it began where the block begins.
pub(super) async fn cidr_containment(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    let rule = json!([{"rule": "cidr('192.168.0.0/24').containsCIDR(self)"}]);
    let spec = json!({"type": "object", "properties": {
        "block": {"type": "string", "maxLength": 50, "x-kubernetes-validations": rule}}});
    match bench.plain(spec).await {
        Ok(()) => {}
        Err(ClusterError::Refused { status: 422, .. }) => {
            return Ok(Sight::Unclear("the server does not know the CIDR library".into()));
        }
        Err(error) => return Err(error),
    }
    // A server without rules admits everything.
    let mut elsewhere = Bench::object("v1", &json!({"block": "10.0.0.0/8"}));
    elsewhere["metadata"]["name"] = json!("elsewhere");
    if bench.api.post(&bench.collection("v1"), &elsewhere).await?.is_success() {
        return Ok(Sight::Unclear("the server does not judge rules".into()));
    }
    let part = bench.create("v1", &json!({"block": "192.168.0.128/25"})).await?;
    Ok(match part.status {
        201 => Sight::Good("192.168.0.128/25 is a part of 192.168.0.0/24".into()),
        422 => Sight::Bad("192.168.0.128/25 is not held for a part of 192.168.0.0/24".into()),
        _ => Sight::Unclear(said(&part)),
    })
}

/// V30: a status could not be written beside a value of its own that was valid once.
pub(super) async fn status_ratcheting(bench: &Bench<'_>) -> Result<Sight, ClusterError> {
    let part = |values: &Value| json!({"type": "object", "properties": {"a": {"type": "string", "enum": values}, "note": {"type": "string"}}});
    let schema = |values: Value| {
        let part = part(&values);
        json!({"type": "object", "properties": {"spec": part, "status": part}})
    };
    let mut crd = bench.crd(&[("v1", Value::Null)]);
    crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema(json!(["old", "new"]));
    bench.install(&crd).await?;
    bench.create("v1", &json!({"a": "old"})).await?.ok()?;
    let first = json!({"status": {"a": "old"}});
    bench.api.patch(&bench.status_path("v1"), PatchKind::Merge, &first).await?.ok()?;
    let tightened = schema(json!(["new"]));
    bench.redefine(|crd| crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = tightened.clone()).await?;
    // The new schema is in force once an object of the old kind is refused.
    let other = |name: &str| {
        let mut object = Bench::object("v1", &json!({"a": "old"}));
        object["metadata"]["name"] = json!(name);
        object
    };
    let mut in_force = false;
    for attempt in 0..100 {
        let answer = bench.api.post(&bench.collection("v1"), &other(&format!("other-{attempt}"))).await?;
        if answer.status == 422 {
            in_force = true;
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    if !in_force {
        return Ok(Sight::Unclear("the tightened schema did not come into force".into()));
    }
    let label = json!({"metadata": {"labels": {"probe": "yes"}}});
    let main = bench.api.patch(&bench.path("v1"), PatchKind::Merge, &label).await?;
    if !main.is_success() {
        return Ok(Sight::Unclear("the server forgives nothing at all, not even on the object itself".into()));
    }
    let status = json!({"status": {"note": "written"}});
    let answer = bench.api.patch(&bench.status_path("v1"), PatchKind::Merge, &status).await?;
    Ok(match answer.status {
        200 => Sight::Good(said(&answer)),
        422 => Sight::Bad(said(&answer)),
        _ => Sight::Unclear(said(&answer)),
    })
}
