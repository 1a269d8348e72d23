//! Effects of changing the map or list type on managers that apply parts: the claims of `upgrade/list-topology-kept`,
//! on a server.

use std::time::Duration;

use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, Api, PatchKind, Query};
use crdproof_envtest::local::Binaries;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::support::{block, check, crd, widget};
use crate::upgrade::{properties, start, until, upgrade, widgets};

fn map_crd(map_type: &str) -> Value {
    let mut crd = crd();
    properties(&mut crd, "spec")["labels"] = json!({"type": "object", "additionalProperties": {"type": "string"},
        "x-kubernetes-map-type": map_type});
    crd
}

/// Applies `spec.labels` of `w`.
async fn apply(api: &Api, query: Query, labels: &Value) -> Result<Answer, ClusterError> {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"labels": labels}});
    api.patch(&query.on(widgets().path_of("w")), PatchKind::Apply, &object).await
}

/// The managers that applied `w`, and the fields of `spec` that each owns.
fn owned(object: &Value) -> Vec<(String, Value)> {
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let applies = entries.into_iter().filter(|entry| entry["operation"] == "Apply");
    applies
        .map(|entry| (entry["manager"].as_str().unwrap_or_default().to_owned(), entry["fieldsV1"]["f:spec"].clone()))
        .collect()
}

pub(crate) fn a_map_that_becomes_atomic_is_owned_as_a_whole(binaries: &Binaries) -> Result<(), Failed> {
    let parts = [json!({"a": "1"}), json!({"b": "1"}), json!({"a": "1", "b": "1"})];
    becomes_atomic(binaries, [map_crd("granular"), map_crd("atomic")], parts)
}

pub(crate) fn a_list_that_becomes_atomic_is_owned_as_a_whole(binaries: &Binaries) -> Result<(), Failed> {
    let list = |list_type: &str| {
        let mut crd = crd();
        properties(&mut crd, "spec")["labels"] =
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": list_type});
        crd
    };
    becomes_atomic(binaries, [list("set"), list("atomic")], [json!(["a"]), json!(["b"]), json!(["a", "b"])])
}

/// Two managers apply one part each, then the CRD changes.
fn becomes_atomic(binaries: &Binaries, [old, new]: [Value; 2], [a, b, both]: [Value; 3]) -> Result<(), Failed> {
    block(async {
        let server = start(binaries, old, &widget("v1", "w", 1)).await?;
        let api = server.api();
        let manager = |name: &str| Query::new().manager(name);
        apply(&api, manager("one"), &a).await?.ok()?;
        let applied = apply(&api, manager("two"), &b).await?.ok()?.json();
        check(applied["spec"]["labels"] == both, format!("{applied}"))?;
        upgrade(&api, &new).await?;
        // The objects themselves do not change.
        let read = api.get(&widgets().path_of("w")).await?.ok()?.json();
        check(read["spec"]["labels"] == both, format!("{read}"))?;
        // From now on, the server refuses the first manager's unchanged apply.
        let refused =
            until("a conflict", || apply(&api, manager("one").dry_run(), &a), |answer| answer.status == 409).await?;
        check(refused.message().contains("\"two\"") && refused.message().contains(".spec.labels"), refused.message())?;
        let forced = apply(&api, manager("one").force(), &a).await?.ok()?.json();
        check(forced["spec"]["labels"] == a, format!("{forced}"))?;
        check(owned(&forced) == [("one".to_owned(), json!({"f:labels": {}}))], format!("{:?}", owned(&forced)))
    })
}

pub(crate) fn a_map_with_one_applier_becomes_atomic_without_conflict(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = start(binaries, map_crd("granular"), &widget("v1", "w", 1)).await?;
        let api = server.api();
        apply(&api, Query::new().manager("one"), &json!({"a": "1", "b": "1"})).await?.ok()?;
        upgrade(&api, &map_crd("atomic")).await?;
        for _ in 0..100 {
            let applied = apply(&api, Query::new().manager("one"), &json!({"a": "2"})).await?.ok()?.json();
            check(applied["spec"]["labels"] == json!({"a": "2"}), format!("{applied}"))?;
            if owned(&applied) == [("one".to_owned(), json!({"f:labels": {}}))] {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err("the map is still owned key by key".into())
    })
}

pub(crate) fn a_key_of_a_map_that_becomes_granular_stays(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = start(binaries, map_crd("atomic"), &widget("v1", "w", 1)).await?;
        let api = server.api();
        apply(&api, Query::new().manager("one"), &json!({"a": "1", "b": "1"})).await?.ok()?;
        upgrade(&api, &map_crd("granular")).await?;
        let more = json!({"c": "1"});
        // Another manager can apply beside the first one as soon as the new type is in force.
        let other = || apply(&api, Query::new().manager("two").dry_run(), &more);
        until("the new type", other, Answer::is_success).await?;
        let applied = apply(&api, Query::new().manager("one"), &json!({"a": "1"})).await?.ok()?.json();
        check(applied["spec"]["labels"] == json!({"a": "1", "b": "1"}), format!("{applied}"))
    })
}
