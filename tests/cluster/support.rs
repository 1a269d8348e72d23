//! Helpers of all tests on servers.

use std::process::Output;
use std::time::Duration;

use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Api, PatchKind, Resource, definitions};
use libtest_mimic::Failed;
use serde_json::{Value, json};

pub(crate) fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}

pub(crate) fn check(holds: bool, otherwise: impl Into<String>) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(otherwise.into().into()) }
}

pub(crate) fn describe(error: &ClusterError) -> Failed {
    format!("{error} ({})\n{}", error.help(), error.log().unwrap_or_default()).into()
}

/// The standard error of a command.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn crd() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"size": {"type": "integer"}}}}}});
    let subresources = json!({"status": {}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": schema, "subresources": subresources},
                {"name": "v2", "served": true, "storage": false, "schema": schema, "subresources": subresources},
            ],
        },
    })
}

/// The same CRD with a scale subresource.
pub(crate) fn scalable_crd() -> Value {
    let mut crd = crd();
    for version in [0, 1] {
        crd["spec"]["versions"][version]["subresources"]["scale"] =
            json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    }
    crd
}

/// An object of the CRD.
pub(crate) fn widget(version: &str, name: &str, size: u32) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Widget", "metadata": {"name": name, "labels": {"odd": (size % 2 == 1).to_string()}},
           "spec": {"size": size}})
}

/// `status.storedVersions` of the CRD.
pub(crate) async fn stored_versions(api: &Api) -> Result<Value, Failed> {
    let definition = api.get(&definitions().path_of("widgets.example.com")).await?.ok()?.json();
    Ok(definition["status"]["storedVersions"].clone())
}

/// Makes the server refuse every rewrite of one object, and waits until it does.
pub(crate) async fn forbid_rewrites(api: &Api, name: &str, message: &str) -> Result<(), Failed> {
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "poison"},
        "spec": {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [{"apiGroups": ["example.com"], "apiVersions": ["*"],
            "operations": ["UPDATE"], "resources": ["widgets"]}]},
            "validations": [{"expression": format!("object.metadata.name != '{name}'"), "message": message}]}});
    let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "poison"},
        "spec": {"policyName": "poison", "validationActions": ["Deny"]}});
    let base = "/apis/admissionregistration.k8s.io/v1";
    api.post(&format!("{base}/validatingadmissionpolicies"), &policy).await?.ok()?;
    api.post(&format!("{base}/validatingadmissionpolicybindings"), &binding).await?.ok()?;
    let path = Resource::namespaced("example.com", "v1", "widgets", "default").path_of(name);
    let label = json!({"metadata": {"labels": {"touched": "yes"}}});
    for _ in 0..200 {
        if !api.patch(&path, PatchKind::Merge, &label).await?.is_success() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("the policy did not take effect".into())
}
