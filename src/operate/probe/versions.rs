//! Probes of CRDs with several versions, and of removing versions.

use std::time::Duration;

use serde_json::{Value, json};

use super::ProbeResult;
use super::bench::{Bench, managers, said};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::PatchKind;
use crdproof_envtest::retry;

/// The time in which a server rebuilds its storage after a change of the CRD.
const REBUILD_TIME: Duration = Duration::from_secs(3);

pub(super) fn numbers() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}})
}

/// V19: the rules for webhooks were applied to strategy None.
pub(super) async fn none_converts(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    bench.install(&bench.crd(&[("v1", numbers()), ("v2", numbers())])).await?;
    let first = bench.apply("v1", "m1", &json!({"a": 1})).await?;
    let second = bench.apply("v2", "m2", &json!({"b": 2})).await?;
    let again = bench.apply("v2", "m1", &json!({"a": 1})).await?;
    let failed = [&first, &second, &again].into_iter().find(|answer| !answer.is_success());
    Ok(failed.map_or_else(
        || ProbeResult::Good("three applies at two versions".into()),
        |answer| ProbeResult::Bad(said(answer)),
    ))
}

/// V04: a write without changes incremented the generation.
pub(super) async fn steady_generation(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    bench.install(&bench.crd(&[("v1", numbers()), ("v2", numbers())])).await?;
    let mut object = bench.create("v1", &json!({"a": 1})).await?.ok()?.json();
    let mut generations = vec![object["metadata"]["generation"].as_u64()];
    for _ in 0..3 {
        object = bench.api.put(&bench.path("v1"), &object).await?.ok()?.json();
        generations.push(object["metadata"]["generation"].as_u64());
    }
    Ok(steady(&generations))
}

fn steady(generations: &[Option<u64>]) -> ProbeResult {
    let Some(known) = generations.iter().copied().collect::<Option<Vec<u64>>>() else {
        return ProbeResult::Unclear("there is no generation".into());
    };
    let shown: Vec<String> = known.iter().map(ToString::to_string).collect();
    let same = known.windows(2).all(|pair| pair[0] == pair[1]);
    ProbeResult::of(same, format!("generations of three unchanged writes: {}", shown.join(", ")))
}

/// V23: an object with two items of the same key could no longer be applied.
pub(super) async fn duplicate_items(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
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
        return Ok(ProbeResult::Unclear(format!("duplicates were refused: {}", said(&written))));
    }
    // Up to 1.36 the write itself loses the entries; the first fix was that m1 can apply again.
    let owners = managers(&written.json());
    let reapplied = bench.apply("v2", "m1", &json!({"a": 1})).await?;
    let seen = format!("entries after the write: [{}]; m1 applied again: {}", owners.join(", "), said(&reapplied));
    Ok(ProbeResult::of(reapplied.is_success(), seen))
}

/// V33: a CRD that was being deleted accepted new objects.
pub(super) async fn apply_while_terminating(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
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
    // Release the finalizer, and delete what should not have been created.
    let free = json!({"metadata": {"finalizers": null}});
    bench.api.patch(&path, PatchKind::Merge, &free).await?;
    if applied.is_success() {
        bench.api.delete(&elsewhere).await?;
    }
    if going.is_none() {
        return Ok(ProbeResult::Unclear("the CRD's objects were not being deleted".into()));
    }
    Ok(ProbeResult::of(!applied.is_success(), said(&applied)))
}

/// V37: an entry of a removed version blocks every apply.
pub(super) async fn retired_entry(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
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
        return Ok(ProbeResult::Unclear("the removed version was still served".into()));
    }
    // For a moment, a request can still reach the previous storage, which has the version.
    let (spec, pause) = (json!({"b": 2}), Duration::from_millis(100));
    let ask = || bench.apply("v2", "m2", &spec);
    let (refused, applied) = retry::until(REBUILD_TIME, pause, ask, |answer| !answer.is_success()).await?;
    Ok(ProbeResult::of(!refused, said(&applied)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::bench::tests::word;
    use super::*;

    #[rstest]
    #[case(&[Some(1), Some(1)], "good")]
    #[case(&[Some(1), Some(2)], "bad")]
    #[case(&[Some(1), None], "unclear")]
    fn a_generation_stays(#[case] generations: &[Option<u64>], #[case] expected: &str) {
        assert_eq!(word(&steady(generations)), expected);
    }
}
