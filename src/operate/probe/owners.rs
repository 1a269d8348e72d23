//! Probes of server-side apply and ownership at one version.

use std::time::Duration;

use serde_json::{Value, json};

use super::ProbeResult;
use super::bench::{Bench, managers, said, survived};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, PatchKind, Query};

fn numbers() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}})
}

/// V01: errors of the field manager failed the client's request.
pub(super) async fn empty_put(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    bench.plain(numbers()).await?;
    let mut object = Bench::object("v1", &json!({"a": 1}));
    // Before 1.18 the server reads only objects with an entry.
    object["metadata"]["managedFields"] = json!([{"manager": "x", "operation": "Update",
        "apiVersion": object["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:a": {}}}}]);
    let answer = bench.api.put(&bench.path("v1"), &object).await?;
    Ok(match answer.status {
        404 => ProbeResult::Good(said(&answer)),
        500 => ProbeResult::Bad(said(&answer)),
        _ => ProbeResult::Unclear(said(&answer)),
    })
}

/// V01: an entry without its fields was treated as an empty set and deleted.
pub(super) async fn stripped_entries(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    bench.plain(numbers()).await?;
    bench.apply("v1", "m1", &json!({"a": 1})).await?.ok()?;
    let mut object = bench.get("v1").await?;
    for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("fieldsType");
            entry.remove("fieldsV1");
        }
    }
    let written = bench.api.put(&bench.path("v1"), &object).await?;
    if !written.is_success() {
        return Ok(ProbeResult::Bad(format!("the write was refused: {}", said(&written))));
    }
    let kept = managers(&written.json()).iter().any(|manager| manager == "m1");
    let other = bench.apply("v1", "m2", &json!({"a": 2})).await?;
    Ok(still_owned(kept, &other))
}

/// Returns the result: m1 must still own its fields after a write and before m2 applies.
fn still_owned(kept: bool, other: &Answer) -> ProbeResult {
    let seen = format!("m1 is {} after the write, m2 got {}", if kept { "there" } else { "gone" }, said(other));
    match other.status {
        409 if kept => ProbeResult::Good(seen),
        200 | 409 => ProbeResult::Bad(seen),
        _ => ProbeResult::Unclear(seen),
    }
}

/// V03: writing the status lost the owners of everything else.
pub(super) async fn status_owners(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let mut crd = bench.crd(&[("v1", numbers())]);
    crd["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    bench.install(&crd).await?;
    bench.apply("v1", "m1", &json!({"a": 1})).await?.ok()?;
    let mut object = bench.get("v1").await?;
    object["status"] = json!({"note": "written"});
    let written = bench.api.put(&bench.part("v1", "status"), &object).await?;
    if !written.is_success() {
        return Ok(ProbeResult::Unclear(format!("the status was refused: {}", said(&written))));
    }
    let kept = managers(&written.json()).iter().any(|manager| manager == "m1");
    let other = bench.apply("v1", "m2", &json!({"a": 2})).await?;
    Ok(still_owned(kept, &other))
}

/// V01: ownership could not be removed.
pub(super) async fn emptied_entries(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    bench.plain(numbers()).await?;
    bench.apply("v1", "m1", &json!({"a": 1})).await?.ok()?;
    let mut object = bench.get("v1").await?;
    // The server ignores an empty list on purpose, so that clients which do not know the field remove nothing by
    // accident.
    object["metadata"]["managedFields"] = json!([{}]);
    let written = bench.api.put(&bench.path("v1"), &object).await?;
    if !written.is_success() {
        return Ok(ProbeResult::Bad(format!("the write was refused: {}", said(&written))));
    }
    let left = managers(&written.json());
    let gone = !left.iter().any(|manager| manager == "m1");
    Ok(ProbeResult::of(gone, format!("entries afterwards: [{}]", left.join(", "))))
}

/// V02: the aggregator had no field manager.
pub(super) async fn apply_api_service(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    // A group without a CRD; otherwise the server itself would have created its APIService.
    let name = "v1.nobody.crdproof.dev";
    let object = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name},
        "spec": {"group": "nobody.crdproof.dev", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"name": "crdproof", "namespace": "default"}}});
    let path =
        Query::new().manager("crdproof").dry_run().on(format!("/apis/apiregistration.k8s.io/v1/apiservices/{name}"));
    survived(bench.api.patch(&path, PatchKind::Apply, &object).await)
}

/// V26: an apply without changes was written. Entries contain the second of the write, so the applies are further
/// apart.
pub(super) async fn reapply(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let map = json!({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
        "x": {"type": "string", "default": "filled in"}, "y": {"type": "string"}}});
    bench.plain(json!({"type": "object", "properties": {"map": map}})).await?;
    let mut versions = Vec::new();
    for round in 0..3 {
        if round > 0 {
            tokio::time::sleep(Duration::from_millis(1100)).await;
        }
        let applied = bench.apply("v1", "m1", &json!({"map": {"y": "same"}})).await?.ok()?.json();
        versions.push(applied["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned());
    }
    let same = versions.iter().all(|version| *version == versions[0]);
    Ok(ProbeResult::of(same, format!("resource versions of three identical applies: {}", versions.join(", "))))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::bench::tests::{refusal, word};
    use super::*;

    #[rstest]
    #[case(true, 409, "good")]
    #[case(true, 200, "bad")]
    #[case(false, 409, "bad")]
    #[case(false, 200, "bad")]
    #[case(true, 500, "unclear")]
    fn an_owner_is_kept_and_causes_conflicts(#[case] kept: bool, #[case] status: u16, #[case] expected: &str) {
        assert_eq!(word(&still_owned(kept, &refusal(status, "conflict with m1"))), expected);
    }
}
