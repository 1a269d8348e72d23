//! Probes of `/status` and `/scale`.

use serde_json::{Value, json};

use super::ProbeResult;
use super::bench::{Bench, said, survived};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, PatchKind};

/// V06: a scale could not be read if its replicas come from a default.
pub(super) async fn scale_default(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let replicas = json!({"type": "integer", "default": 1});
    let mut crd = bench.crd(&[("v1", json!({"type": "object", "properties": {"replicas": replicas}}))]);
    let version = &mut crd["spec"]["versions"][0];
    version["subresources"] =
        json!({"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}});
    version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["replicas"] = json!({"type": "integer"});
    bench.install(&crd).await?;
    bench.create("v1", &json!({})).await?.ok()?;
    let path = bench.part("v1", "scale");
    let sight = scaled(&bench.api.get(&path).await?, 1);
    if !matches!(sight, ProbeResult::Good(_)) {
        return Ok(sight);
    }
    let more = json!({"spec": {"replicas": 3}});
    Ok(scaled(&bench.api.patch(&path, PatchKind::Merge, &more).await?, 3))
}

fn scaled(answer: &Answer, replicas: u64) -> ProbeResult {
    let seen = &answer.json()["spec"]["replicas"];
    match answer.status {
        200 => ProbeResult::of(*seen == json!(replicas), format!("{replicas} replicas are shown as {seen}")),
        500.. => ProbeResult::Bad(said(answer)),
        _ => ProbeResult::Unclear(said(answer)),
    }
}

/// V30: a status could not be written if it contained a value that had become invalid.
pub(super) async fn status_ratcheting(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
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
    bench.api.patch(&bench.part("v1", "status"), PatchKind::Merge, &first).await?.ok()?;
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
        return Ok(ProbeResult::Unclear("the tightened schema did not come into force".into()));
    }
    let label = json!({"metadata": {"labels": {"probe": "yes"}}});
    let main = bench.api.patch(&bench.path("v1"), PatchKind::Merge, &label).await?;
    if !main.is_success() {
        return Ok(ProbeResult::Unclear("the server forgives nothing at all, not even on the object itself".into()));
    }
    let status = json!({"status": {"note": "written"}});
    let answer = bench.api.patch(&bench.part("v1", "status"), PatchKind::Merge, &status).await?;
    Ok(match answer.status {
        200 => ProbeResult::Good(said(&answer)),
        422 => ProbeResult::Bad(said(&answer)),
        _ => ProbeResult::Unclear(said(&answer)),
    })
}

/// V31: a status without a schema made the handler panic.
pub(super) async fn bare_status(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let mut crd = bench.crd(&[("v1", json!({"type": "object", "properties": {"a": {"type": "integer"}}}))]);
    let version = &mut crd["spec"]["versions"][0];
    version["subresources"] = json!({"status": {}});
    if let Some(fields) = version["schema"]["openAPIV3Schema"]["properties"].as_object_mut() {
        fields.remove("status");
    }
    bench.install(&crd).await?;
    bench.create("v1", &json!({"a": 1})).await?.ok()?;
    let mut object = bench.get("v1").await?;
    object["status"] = json!({"note": "written"});
    survived(bench.api.put(&bench.part("v1", "status"), &object).await)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::bench::tests::{answer, refusal, word};
    use super::*;

    #[rstest]
    #[case(answer(200, &json!({"spec": {"replicas": 1}})), "good")]
    #[case(answer(200, &json!({"spec": {}})), "bad")]
    #[case(refusal(500, "the spec replicas field is not a number"), "bad")]
    #[case(refusal(404, "there is no scale"), "unclear")]
    fn a_scale_shows_its_replicas(#[case] answer: Answer, #[case] expected: &str) {
        assert_eq!(word(&scaled(&answer, 1)), expected);
    }
}
