//! Probes for which the server calls a webhook of ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use super::ProbeResult;
use super::bench::{Bench, GROUP, LABEL, managers, said};
use super::versions::numbers;
use crate::converter::endpoint::{Function, Request};
use crate::converter::proxy::{Call, ConversionProxy, Fault, Listener, Reply};
use crate::converter::review;
use crate::evidence::ObservedReview;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, PatchKind, Query, Resource};
use crdproof_envtest::retry;

const NOT_REACHABLE: &str = "the server cannot reach a webhook on this machine";

/// V35: a write while the converter was down lost all ownership.
pub(super) async fn outage(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    with_converter(bench, async |proxy| during_outage(bench, proxy).await).await
}

/// Runs a probe with a converter of ours, which answers until the CRD is removed.
async fn with_converter(
    bench: &Bench<'_>,
    look: impl AsyncFnOnce(&ConversionProxy) -> Result<ProbeResult, ClusterError>,
) -> Result<ProbeResult, ClusterError> {
    let Some(access) = bench.server.host_access() else { return Ok(ProbeResult::Unclear(NOT_REACHABLE.into())) };
    let proxy = ConversionProxy::start(&access, Arc::new(Function(rewrite))).await?;
    let seen = look(&proxy).await;
    // Deleting the CRD needs a working converter.
    proxy.fail(None);
    let cleared = bench.clear().await;
    proxy.stop().await;
    let seen = seen?;
    cleared?;
    Ok(seen)
}

async fn during_outage(bench: &Bench<'_>, proxy: &ConversionProxy) -> Result<ProbeResult, ClusterError> {
    bench.install(&proxy.redirect(&bench.crd(&[("v1", numbers()), ("v2", numbers())]))).await?;
    bench.apply("v1", "m1", &json!({"a": 1})).await?.ok()?;
    bench.apply("v2", "m2", &json!({"b": 2})).await?.ok()?;
    let before = managers(&bench.get("v2").await?);
    proxy.fail(Some(Fault::Refuse("the converter is down".into())));
    let label = json!({"metadata": {"labels": {"probe": "yes"}}});
    let labelled = bench.api.patch(&bench.path("v2"), PatchKind::Merge, &label).await?;
    proxy.fail(None);
    let after = managers(&bench.get("v2").await?);
    let seen =
        format!("label: {}; entries before [{}], after [{}]", said(&labelled), before.join(", "), after.join(", "));
    Ok(ProbeResult::of(before.iter().all(|manager| after.contains(manager)), seen))
}

/// Converts versions that differ only by name.
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

/// V38: fields that a manager does not own, including metadata, are removed before the converter is called.
pub(super) async fn whole_objects(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let look = async |proxy: &ConversionProxy| {
        applied_at_three_versions(bench, proxy).await?;
        Ok(whole(&proxy.since(0)))
    };
    with_converter(bench, look).await
}

/// The number of attempts. The order of versions on a server is random, and about one attempt in five shows the defect.
const ROUNDS: usize = 60;

async fn applied_at_three_versions(bench: &Bench<'_>, proxy: &ConversionProxy) -> Result<(), ClusterError> {
    let crd = bench.crd(&[("v1", numbers()), ("v2", numbers()), ("v3", numbers())]);
    bench.install(&proxy.redirect(&crd)).await?;
    // When m1 applies at v3, its fields at v1 are removed, and with its label the whole metadata.
    let labelled = |version: &str| {
        let mut object = Bench::object(version, &json!({"a": 1}));
        object["metadata"]["labels"] = json!({"probe": "yes"});
        object
    };
    for _ in 0..ROUNDS {
        bench.apply_object("m1", "v1", &labelled("v1")).await?.ok()?;
        bench.apply("v2", "m2", &json!({"b": 2})).await?.ok()?;
        // The result of this apply does not matter.
        bench.apply_object("m1", "v3", &labelled("v3")).await?;
        bench.api.delete(&bench.path("v3")).await?.ok()?;
        if proxy.since(0).iter().any(|review| !review.metadata) {
            break;
        }
    }
    Ok(())
}

fn whole(reviews: &[ObservedReview]) -> ProbeResult {
    let cut = reviews.iter().filter(|review| !review.metadata).count();
    let seen = format!("{cut} of {} reviews had an object without metadata", reviews.len());
    if reviews.is_empty() {
        ProbeResult::Unclear("the converter was not asked".into())
    } else {
        ProbeResult::of(cut == 0, seen)
    }
}

/// V10: entries that admission damaged were stored, and blocked all later applies.
pub(super) async fn rejected_by_admission(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let Some(access) = bench.server.host_access() else { return Ok(ProbeResult::Unclear(NOT_REACHABLE.into())) };
    bench.plain(numbers()).await?;
    let stripped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&stripped);
    let listener = Listener::start(&access, move |call: Call| strip(&call, &count)).await?;
    let hooks = Resource::cluster_wide("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations");
    let name = format!("{}.{GROUP}", bench.plural);
    // If it ever stays behind, it is called only for this kind, and failures are ignored.
    let wish = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name, "labels": {LABEL: "yes"}}, "webhooks": [{
            "name": name, "clientConfig": listener.client_config("/strip"), "failurePolicy": "Ignore",
            "sideEffects": "None", "timeoutSeconds": 5, "admissionReviewVersions": ["v1", "v1beta1"],
            "rules": [{"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
                "resources": [bench.plural]}]}]});
    let path = hooks.path_of(&name);
    bench.api.delete(&path).await?;
    let registered = bench.api.post(&hooks.path(), &wish).await.and_then(Answer::ok);
    let seen = match registered {
        Ok(_) => after_admission(bench, &stripped).await,
        Err(error) => Err(error),
    };
    let withdrawn = bench.api.delete(&path).await;
    listener.stop().await;
    withdrawn?;
    seen
}

async fn after_admission(bench: &Bench<'_>, stripped: &AtomicUsize) -> Result<ProbeResult, ClusterError> {
    let pretended = Query::new().manager("m0").dry_run().on(bench.path("v1"));
    let object = Bench::object("v1", &json!({"a": 1}));
    let ask = || bench.api.patch(&pretended, PatchKind::Apply, &object);
    let came = |_: &Answer| stripped.load(Ordering::Relaxed) > 0;
    if !retry::until(retry::TIMEOUT, Duration::from_millis(50), ask, came).await?.0 {
        return Ok(ProbeResult::Unclear("no write came to the webhook with managedFields".into()));
    }
    let first = bench.apply("v1", "m1", &json!({"a": 1})).await?;
    let second = bench.apply("v1", "m1", &json!({"a": 2})).await?;
    Ok(withstood(&first, &second))
}

fn withstood(first: &Answer, second: &Answer) -> ProbeResult {
    let seen = format!("with broken entries: {}; applied again: {}", said(first), said(second));
    let blamed = |answer: &Answer| answer.message().contains("fieldsType");
    match (first.is_success(), second.is_success()) {
        (true, true) => ProbeResult::Good(seen),
        _ if blamed(first) || blamed(second) => ProbeResult::Bad(seen),
        _ => ProbeResult::Unclear(seen),
    }
}

/// Admits, and removes the fields of the first entry, if there is one.
fn strip(call: &Call, count: &AtomicUsize) -> Reply {
    let review: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    let mut response = json!({"uid": review["request"]["uid"], "allowed": true});
    let entry = &review["request"]["object"]["metadata"]["managedFields"][0];
    let there = ["fieldsType", "fieldsV1"].into_iter().filter(|key| !entry[key].is_null());
    let changes: Vec<Value> =
        there.map(|key| json!({"op": "remove", "path": format!("/metadata/managedFields/0/{key}")})).collect();
    if !changes.is_empty() {
        count.fetch_add(1, Ordering::Relaxed);
        response["patchType"] = json!("JSONPatch");
        response["patch"] = json!(base64::engine::general_purpose::STANDARD.encode(json!(changes).to_string()));
    }
    Reply::json(&json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::bench::tests::{answer, refusal, word};
    use super::*;

    fn review(metadata: bool) -> ObservedReview {
        let from = vec!["v1".to_owned()];
        ObservedReview { from, to: "v2".into(), uids: Vec::new(), metadata, spec: true, answered: true }
    }

    #[rstest]
    #[case(&[true, true], "good")]
    #[case(&[true, false], "bad")]
    #[case(&[], "unclear")]
    fn converters_receive_metadata(#[case] metadata: &[bool], #[case] expected: &str) {
        let reviews: Vec<ObservedReview> = metadata.iter().map(|metadata| review(*metadata)).collect();
        assert_eq!(word(&whole(&reviews)), expected);
    }

    #[rstest]
    #[case(answer(201, &json!({})), answer(200, &json!({})), "good")]
    #[case(answer(201, &json!({})), refusal(500, "missing fieldsType in managed fields entry 0"), "bad")]
    #[case(refusal(422, "metadata.managedFields.fieldsType: Invalid value"), answer(201, &json!({})), "bad")]
    #[case(answer(201, &json!({})), refusal(403, "you may not"), "unclear")]
    fn damaged_entries_block_no_apply(#[case] first: Answer, #[case] second: Answer, #[case] expected: &str) {
        assert_eq!(word(&withstood(&first, &second)), expected);
    }

    #[test]
    fn only_existing_fields_are_stripped() {
        let asked = |object: Value| {
            let body = json!({"apiVersion": "admission.k8s.io/v1", "request": {"uid": "u", "object": object}});
            let call = Call { method: "POST".into(), path: "/strip".into(), body: body.to_string().into_bytes() };
            let count = AtomicUsize::new(0);
            let reply: Value = serde_json::from_slice(&strip(&call, &count).body).unwrap();
            assert_eq!(reply["response"]["allowed"], true);
            (reply["response"]["patch"].is_string(), count.into_inner())
        };
        let entry = json!({"manager": "m1", "fieldsType": "FieldsV1", "fieldsV1": {}});
        assert_eq!(asked(json!({"metadata": {"managedFields": [entry]}})), (true, 1));
        assert_eq!(asked(json!({"metadata": {}})), (false, 0));
    }
}
