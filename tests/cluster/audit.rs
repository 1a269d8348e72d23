//! `crdproof audit` on a real server: its findings, that it changes nothing, and its behaviour without permissions.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crdproof_envtest::api::{Api, PatchKind, Query, Resource, definitions};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_schema::document::{Sources, parse};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::support::{block, check, crd, describe, said, widget};

/// More than a page of metadata.
const OBJECTS: u32 = 520;

fn audit(kubeconfig: &Path, more: &[&str]) -> Result<Output, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    Ok(command.arg("audit").args(more).arg("--kubeconfig").arg(kubeconfig).output()?)
}

fn widgets(version: &str) -> Resource {
    Resource::namespaced("example.com", version, "widgets", "default")
}

/// Lists objects. After a change of the CRD the server rebuilds its storage and answers that it is busy; retries until
/// it succeeds.
async fn list_when_ready(api: &Api, path: &str) -> Result<Value, Failed> {
    for _ in 0..200 {
        let answer = api.get(path).await?;
        if answer.status != 429 {
            return Ok(answer.ok()?.json());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("{path} is busy for ever").into())
}

/// Everything that a write would change.
async fn state(api: &Api) -> Result<Value, Failed> {
    let mut state = Vec::new();
    for path in [definitions().path(), widgets("v2").path(), "/api/v1/configmaps".into(), "/api/v1/namespaces".into()] {
        let listed = list_when_ready(api, &path).await?;
        let items = listed["items"].as_array().into_iter().flatten();
        state.extend(items.map(|item| json!([item["metadata"]["name"], item["metadata"]["resourceVersion"]])));
    }
    Ok(state.into())
}

/// A server with objects that alice applied at v0, which was removed later. One object was written at v1, which is
/// stored beside v2.
async fn start_prepared(binaries: &Binaries) -> Result<Local, Failed> {
    let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
    let mut definition = crd();
    let mut old = definition["spec"]["versions"][0].clone();
    (old["name"], old["storage"]) = (json!("v0"), json!(false));
    let versions = definition["spec"]["versions"].as_array_mut().ok_or("no versions")?;
    versions.push(old);
    let properties = json!({"size": {"type": "integer"}, "password": {"type": "string"}});
    for version in versions.iter_mut() {
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = properties.clone();
    }
    server.install_crds(&[definition]).await.map_err(|error| describe(&error))?;
    let api = server.api();
    for number in 0..OBJECTS {
        let name = format!("w-{number:03}");
        let mut object = widget("v0", &name, number % 9);
        object["spec"]["password"] = json!("hunter2-hunter2");
        let alice = Query::new().manager("alice").on(widgets("v0").path_of(&name));
        api.patch(&alice, PatchKind::Apply, &object).await?.ok()?;
    }
    let label = json!({"metadata": {"labels": {"bob": "yes"}}});
    api.patch(&Query::new().manager("bob").on(widgets("v1").path_of("w-000")), PatchKind::Merge, &label).await?.ok()?;
    let owner = api.get(&widgets("v1").path_of("w-000")).await?.ok()?.json();
    let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child", "ownerReferences": [
        {"apiVersion": "example.com/v0", "kind": "Widget", "name": "w-000", "uid": owner["metadata"]["uid"]}]}});
    api.post(&Resource::namespaced("", "v1", "configmaps", "default").path(), &child).await?.ok()?;
    // v2 becomes the storage version, and v0 is removed without cleaning its managedFields entries, as an upgrade would
    // do it.
    let changes = json!([{"op": "replace", "path": "/spec/versions/0/storage", "value": false},
        {"op": "replace", "path": "/spec/versions/1/storage", "value": true}, {"op": "remove", "path": "/spec/versions/2"}]);
    api.patch(&definitions().path_of("widgets.example.com"), PatchKind::Json, &changes).await?.ok()?;
    for _ in 0..200 {
        if api.get(&widgets("v0").path()).await?.status == 404 && api.get(&widgets("v2").path()).await?.is_success() {
            return Ok(server);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("v0 is still served".into())
}

pub(crate) fn an_audit_finds_and_changes_nothing(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = start_prepared(binaries).await?;
        let api = server.api();
        let before = state(&api).await?;
        let output = audit(server.kubeconfig(), &["--owners"])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        check(output.status.code() == Some(1), format!("{}{text}", said(&output)))?;
        // The page about `audit` shows the output of this audit, from the first line to the last.
        let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/audit.md"))?;
        let excerpt = page.split_once("```text\n").and_then(|(_, rest)| rest.split_once("```"));
        let excerpt = excerpt.ok_or("docs/audit.md shows nothing")?.0;
        // Only the kubeconfig differs; it is named so that users can paste the next steps.
        let named = format!(" --kubeconfig {}", server.kubeconfig().display());
        check(
            text.matches(&named).count() == excerpt.matches("next: crdproof").count(),
            format!("not pasteable:\n{text}"),
        )?;
        let text = text.replace(&named, "");
        check(text == excerpt && excerpt.contains("which is gone"), format!("the page and the audit differ:\n{text}"))?;
        let json = audit(server.kubeconfig(), &["widgets.example.com", "--format", "json"])?;
        let data: Value = serde_json::from_slice(&json.stdout)?;
        let entries = json!([{"version": "v0", "manager": "alice", "objects": 520}, {"version": "v1", "manager": "bob", "objects": 1}]);
        check(data["crds"][0]["entries"] == entries, data.to_string())?;
        let absent = audit(server.kubeconfig(), &["gadgets.example.com"])?;
        check(absent.status.code() == Some(2) && said(&absent).contains("there is no CRD"), said(&absent))?;
        samples_are_taken(&server)?;
        check(state(&api).await? == before, "something was changed")
    })
}

fn samples_are_taken(server: &Local) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("samples").display().to_string();
    let words = ["--samples", &target, "--crd", "widgets.example.com", "--count", "60"];
    let output = audit(server.kubeconfig(), &words)?;
    check(output.status.success(), said(&output))?;
    let files: Vec<_> = std::fs::read_dir(&target)?.flatten().map(|entry| entry.path()).collect();
    check(files.len() == 60, format!("{} files", files.len()))?;
    for file in &files {
        let object: Value = serde_json::from_slice(&std::fs::read(file)?)?;
        let meta = object["metadata"].as_object().ok_or("no metadata")?;
        let kept = meta.keys().all(|name| ["labels", "name", "namespace"].contains(&name.as_str()));
        let right = object["apiVersion"] == "example.com/v2" && object["spec"]["password"] == "•••";
        check(kept && right && object["spec"]["size"].is_number(), object.to_string())?;
    }
    let again = audit(server.kubeconfig(), &words)?;
    check(again.status.code() == Some(2) && said(&again).contains("exists already"), said(&again))
}

/// Without permissions the audit reports only that; with permission to read only CRDs, it lists each kind that it could
/// not read.
pub(crate) fn an_audit_without_rights_says_so(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        server.install_crds(&[crd()]).await.map_err(|error| describe(&error))?;
        let api = server.api();
        let accounts = Resource::namespaced("", "v1", "serviceaccounts", "default");
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "guest"}});
        api.post(&accounts.path(), &account).await?.ok()?;
        let wish = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let token = api.post(&accounts.part_of("guest", "token"), &wish).await?.ok()?.json()["status"]["token"].clone();
        let mut sources = Sources::default();
        let id = sources.add("kubeconfig", std::fs::read_to_string(server.kubeconfig())?);
        let mut config = parse(&sources, id).map_err(|error| error.to_string())?.remove(0).to_value();
        config["users"][0]["user"] = json!({"token": token});
        let folder = tempfile::tempdir()?;
        let guest = folder.path().join("guest");
        std::fs::write(&guest, config.to_string())?;

        let none = audit(&guest, &[])?;
        // A server that has just started may not even have the roles that let everybody read its version.
        check(none.status.code() == Some(5) && said(&none).contains("cannot"), said(&none))?;
        let roles = "/apis/rbac.authorization.k8s.io/v1";
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "guest"},
            "rules": [{"nonResourceURLs": ["/version", "/apis"], "verbs": ["get"]},
                {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["get", "list"]}]});
        api.post(&format!("{roles}/clusterroles"), &role).await?.ok()?;
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "guest"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "guest"},
            "subjects": [{"kind": "ServiceAccount", "name": "guest", "namespace": "default"}]});
        api.post(&format!("{roles}/clusterrolebindings"), &binding).await?.ok()?;
        let mut last = String::new();
        for _ in 0..100 {
            let some = audit(&guest, &[])?;
            last = format!("{}{}", said(&some), String::from_utf8_lossy(&some.stdout));
            if some.status.success() {
                return check(last.contains("○ objects were not read: widgets.example.com is forbidden"), last);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(last.into())
    })
}
