//! What a change of a CRD does to objects and clients that are there: the claims of the upgrade checks, on a server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crdproof_envtest::api::{Answer, Api, PatchKind, Query, Resource, definitions};
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::support::{block, check, crd, describe, scalable_crd, widget};

fn widgets() -> Resource {
    Resource::namespaced("example.com", "v1", "widgets", "default")
}

/// A server with the CRD and one object, `w`.
async fn start(binaries: &Binaries, crd: Value, object: &Value) -> Result<Local, Failed> {
    let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
    server.install_crds(&[crd]).await.map_err(|error| describe(&error))?;
    server.api().post(&widgets().path(), object).await?.ok()?;
    Ok(server)
}

/// Replaces the versions of the CRD.
async fn upgrade(api: &Api, crd: &Value) -> Result<(), Failed> {
    let versions = json!({"spec": {"versions": crd["spec"]["versions"]}});
    api.patch(&definitions().path_of("widgets.example.com"), PatchKind::Merge, &versions).await?.ok()?;
    Ok(())
}

/// Asks until the answer is as it should be: a change of a CRD takes a moment to be in force.
async fn until<F>(what: &str, ask: impl Fn() -> F, fits: impl Fn(&Answer) -> bool) -> Result<Answer, Failed>
where
    F: Future<Output = Result<Answer, crdproof_envtest::ClusterError>>,
{
    let mut last = String::new();
    for _ in 0..200 {
        let answer = ask().await?;
        if fits(&answer) {
            return Ok(answer);
        }
        last = answer.json().to_string();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("{what}: {last}").into())
}

fn properties<'c>(crd: &'c mut Value, field: &str) -> &'c mut Value {
    &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"][field]["properties"]
}

pub(crate) fn a_default_that_is_added_changes_what_is_read(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let mut old = crd();
        properties(&mut old, "spec")["mode"] = json!({"type": "string"});
        let server = start(binaries, old.clone(), &widget("v1", "w", 1)).await?;
        let api = server.api();
        let before = api.get(&widgets().path_of("w")).await?.ok()?.json();
        check(before["spec"].get("mode").is_none(), format!("{before}"))?;
        let mut new = old;
        properties(&mut new, "spec")["mode"]["default"] = json!("fast");
        upgrade(&api, &new).await?;
        let path = widgets().path_of("w");
        let read = until("the default", || api.get(&path), |read| read.json()["spec"]["mode"] == "fast").await?.json();
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        check(version(&read) == version(&before), "somebody wrote the object")
    })
}

pub(crate) fn a_subresource_that_goes_answers_404(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let old = scalable_crd();
        let server = start(binaries, old.clone(), &widget("v1", "w", 1)).await?;
        let api = server.api();
        let (status, scale) = (widgets().part_of("w", "status"), widgets().part_of("w", "scale"));
        let size = json!({"status": {"size": 7}});
        api.patch(&status, PatchKind::Merge, &size).await?.ok()?;
        api.get(&scale).await?.ok()?;
        // With the subresource an ordinary write leaves the status alone.
        let path = widgets().path_of("w");
        let written = api.patch(&path, PatchKind::Merge, &json!({"status": {"size": 8}})).await?.ok()?.json();
        check(written["status"]["size"] == 7, format!("{written}"))?;
        let mut new = old;
        for version in [0, 1] {
            new["spec"]["versions"][version]["subresources"] = Value::Null;
        }
        upgrade(&api, &new).await?;
        until("status", || api.patch(&status, PatchKind::Merge, &size), |answer| answer.status == 404).await?;
        until("scale", || api.get(&scale), |answer| answer.status == 404).await?;
        let written = api.patch(&path, PatchKind::Merge, &json!({"status": {"size": 8}})).await?.ok()?.json();
        check(written["status"]["size"] == 8, format!("{written}"))
    })
}

/// What `manifest/none-strategy-lossless` says of fields that have another type in another version.
pub(crate) fn of_an_object_with_another_type_elsewhere_nothing_is_left(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let mut two = crd();
        let types = [
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ];
        for (index, kind) in types.into_iter().enumerate() {
            let spec =
                &mut two["spec"]["versions"][index]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
            spec["field"] = kind;
        }
        check(two["spec"]["versions"][0]["storage"] == true, "the first version is not stored")?;
        let server = start(binaries, two, &widget("v1", "w", 1)).await?;
        let (api, kind) = (server.api(), widgets().at("v2"));
        let mut object = widget("v2", "o", 1);
        object["spec"]["field"] = json!({"a": "kept?"});
        api.post(&kind.path(), &object).await?.ok()?;
        let read = api.get(&kind.path_of("o")).await?.ok()?.json();
        check(read["spec"]["field"] == json!({}), format!("{read}"))
    })
}

pub(crate) fn a_field_that_is_no_longer_selectable_is_refused(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let mut old = crd();
        // Where all versions have one schema, the server takes no fields of their own.
        old["spec"]["versions"].as_array_mut().ok_or("no versions")?.truncate(1);
        old["spec"]["versions"][0]["selectableFields"] = json!([{"jsonPath": ".spec.size"}]);
        let server = start(binaries, old.clone(), &widget("v1", "w", 1)).await?;
        let api = server.api();
        let list = Query::new().fields("spec.size=1").on(widgets().path());
        let listed = until("the selector", || api.get(&list), Answer::is_success).await?.json();
        check(listed["items"].as_array().is_some_and(|items| items.len() == 1), format!("{listed}"))?;
        old["spec"]["versions"][0]["selectableFields"] = Value::Null;
        upgrade(&api, &old).await?;
        let refused = until("the selector", || api.get(&list), |answer| answer.status == 400).await?;
        check(refused.message().contains("field label not supported"), refused.message())
    })
}

pub(crate) fn an_invalid_value_may_stay_and_may_not_change(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let mut old = crd();
        properties(&mut old, "spec")["names"] = json!({"type": "array", "items": {"type": "string"}});
        let mut object = widget("v1", "w", 9);
        object["spec"]["names"] = json!(["LOUD"]);
        let server = start(binaries, old.clone(), &object).await?;
        let api = server.api();
        let path = widgets().path_of("w");
        let write = |spec: Value| {
            let (api, path) = (api.clone(), path.clone());
            async move { api.patch(&path, PatchKind::Merge, &json!({"spec": spec})).await }
        };
        let mut new = old.clone();
        properties(&mut new, "spec")["size"]["maximum"] = json!(5);
        upgrade(&api, &new).await?;
        // A scalar that stays is excused; one that changes is not.
        // Each try changes the value: one that came too early would be excused from then on.
        let tries = AtomicUsize::new(0);
        let another = || tries.fetch_add(1, Ordering::Relaxed);
        until("the maximum", || write(json!({"size": 10 + another()})), |answer| answer.status == 422).await?;
        write(json!({"names": ["LOUD", "b"]})).await?.ok()?;
        // Items of an atomic list have no identity, so nothing excuses them when their list changes.
        properties(&mut new, "spec")["names"]["items"]["pattern"] = json!("^[a-z]*$");
        upgrade(&api, &new).await?;
        let names = || json!({"names": ["LOUD", "c".repeat(another())]});
        until("the pattern", || write(names()), |answer| answer.status == 422).await?;
        Ok(())
    })
}

/// The rules are those of crossplane 2.2 and 2.3, of which some say that the change breaks objects.
pub(crate) fn a_looser_rule_takes_what_the_old_one_took(binaries: &Binaries) -> Result<(), Failed> {
    const RULES: [&str; 2] = [
        "(has(self.name) && !has(self.matchLabels)) || (!has(self.name) && has(self.matchLabels))",
        "!(has(self.name) && has(self.matchLabels))",
    ];
    let objects =
        [json!({}), json!({"name": "a"}), json!({"matchLabels": {}}), json!({"name": "a", "matchLabels": {}})];
    block(async {
        let mut old = crd();
        *properties(&mut old, "spec") = json!({"size": {"type": "integer"}, "name": {"type": "string"},
            "matchLabels": {"type": "object", "additionalProperties": {"type": "string"}}});
        let server = start(binaries, old.clone(), &widget("v1", "w", 1)).await?;
        let api = server.api();
        let mut accepted = Vec::new();
        for rule in RULES {
            let spec = &mut old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
            spec["x-kubernetes-validations"] = json!([{"rule": rule, "message": rule}]);
            upgrade(&api, &old).await?;
            let dry = Query::new().dry_run().on(widgets().path());
            let send = |spec: &Value| {
                let object =
                    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": spec});
                let (api, dry) = (api.clone(), dry.clone());
                async move { api.post(&dry, &object).await }
            };
            // Both rules refuse both, and the message says which rule is in force.
            until("the rule", || send(&objects[3]), |answer| answer.message().contains(rule)).await?;
            let mut taken = Vec::new();
            for object in &objects {
                taken.push(send(object).await?.is_success());
            }
            accepted.push(taken);
        }
        check(accepted[0] == [false, true, true, false], format!("the old rule: {:?}", accepted[0]))?;
        check(accepted[1] == [true, true, true, false], format!("the new rule: {:?}", accepted[1]))
    })
}
