//! Effects of CRD changes on existing objects and clients: the claims of the upgrade checks, on a server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crdproof_envtest::api::{Answer, Api, PatchKind, Query, Resource, definitions};
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::support::{block, check, crd, describe, scalable_crd, widget};

pub(crate) fn widgets() -> Resource {
    Resource::namespaced("example.com", "v1", "widgets", "default")
}

/// A server with the CRD and one object, `w`.
pub(crate) async fn start(binaries: &Binaries, crd: Value, object: &Value) -> Result<Local, Failed> {
    let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
    server.install_crds(&[crd]).await.map_err(|error| describe(&error))?;
    server.api().post(&widgets().path(), object).await?.ok()?;
    Ok(server)
}

/// Replaces the versions of the CRD.
pub(crate) async fn upgrade(api: &Api, crd: &Value) -> Result<(), Failed> {
    let versions = json!({"spec": {"versions": crd["spec"]["versions"]}});
    api.patch(&definitions().path_of("widgets.example.com"), PatchKind::Merge, &versions).await?.ok()?;
    Ok(())
}

/// Repeats a request until the response fits: a change of a CRD takes a moment to be in force.
pub(crate) async fn until<F>(what: &str, ask: impl Fn() -> F, fits: impl Fn(&Answer) -> bool) -> Result<Answer, Failed>
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

pub(crate) fn properties<'c>(crd: &'c mut Value, field: &str) -> &'c mut Value {
    &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"][field]["properties"]
}

pub(crate) fn an_added_default_changes_read_objects(binaries: &Binaries) -> Result<(), Failed> {
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

pub(crate) fn a_removed_subresource_answers_404(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let old = scalable_crd();
        let server = start(binaries, old.clone(), &widget("v1", "w", 1)).await?;
        let api = server.api();
        let (status, scale) = (widgets().part_of("w", "status"), widgets().part_of("w", "scale"));
        let size = json!({"status": {"size": 7}});
        api.patch(&status, PatchKind::Merge, &size).await?.ok()?;
        api.get(&scale).await?.ok()?;
        // With the subresource, a normal write leaves the status unchanged.
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

/// The claim of `manifest/none-strategy-lossless` about fields that have another type in another version.
pub(crate) fn an_object_with_another_type_in_another_version_is_lost(binaries: &Binaries) -> Result<(), Failed> {
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
        // If all versions have one schema, the server refuses settings for a single version.
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

pub(crate) fn an_invalid_value_may_stay_but_not_change(binaries: &Binaries) -> Result<(), Failed> {
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
        // An unchanged invalid scalar is accepted; a changed one is not.
        // Each attempt changes the value: one that was accepted too early would count as unchanged from then on.
        let tries = AtomicUsize::new(0);
        let another = || tries.fetch_add(1, Ordering::Relaxed);
        until("the maximum", || write(json!({"size": 10 + another()})), |answer| answer.status == 422).await?;
        write(json!({"names": ["LOUD", "b"]})).await?.ok()?;
        // Items of an atomic list have no identity, so ratcheting does not apply to them when their list changes.
        properties(&mut new, "spec")["names"]["items"]["pattern"] = json!("^[a-z]*$");
        upgrade(&api, &new).await?;
        let names = || json!({"names": ["LOUD", "c".repeat(another())]});
        until("the pattern", || write(names()), |answer| answer.status == 422).await?;
        Ok(())
    })
}

/// The rules are those of crossplane 2.2 and 2.3; some tools report the change as breaking.
pub(crate) fn a_looser_rule_accepts_what_the_old_rule_accepted(binaries: &Binaries) -> Result<(), Failed> {
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
            // Both rules refuse both objects, and the message shows which rule is in force.
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

/// An added constraint: its keyword, the old schema of a field, a value that this schema admits, and the new schema,
/// which refuses that value.
type Tightened = (&'static str, Value, Value, Value);

fn tightened() -> Vec<Tightened> {
    let text = || json!({"type": "string"});
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    let inner = || json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let with = |mut schema: Value, keyword: &str, value: Value| {
        schema[keyword] = value;
        schema
    };
    vec![
        ("maximum", json!({"type": "integer"}), json!(9), json!({"type": "integer", "maximum": 5})),
        ("enum", text(), json!("loud"), with(text(), "enum", json!(["quiet"]))),
        ("pattern", text(), json!("LOUD"), with(text(), "pattern", json!("^[a-z]*$"))),
        ("rule", text(), json!("loud"), with(text(), "x-kubernetes-validations", json!([{"rule": "self == 'x'"}]))),
        ("type", text(), json!("9"), json!({"type": "integer"})),
        ("maxItems", texts(), json!(["a", "b"]), with(texts(), "maxItems", json!(1))),
        ("items", texts(), json!(["LOUD"]), json!({"type": "array", "items": {"type": "string", "maxLength": 1}})),
        ("required", inner(), json!({"a": "x"}), with(inner(), "required", json!(["b"]))),
        ("maxProperties", inner(), json!({"a": "x", "b": "x"}), with(inner(), "maxProperties", json!(1))),
        ("anyOf", inner(), json!({"a": "x"}), with(inner(), "anyOf", json!([{"required": ["b"]}]))),
        ("not", inner(), json!({"a": "x"}), with(inner(), "not", json!({"required": ["a"]}))),
    ]
}

/// An invalid value is accepted while an update changes another field; a list or an object only until one of its parts
/// changes.
pub(crate) fn an_unchanged_invalid_value_is_accepted(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let cases = tightened();
        let mut old = crd();
        old["spec"]["versions"].as_array_mut().ok_or("no versions")?.truncate(1);
        let mut new = old.clone();
        for (name, before, _, after) in &cases {
            properties(&mut old, "spec")[name] = before.clone();
            properties(&mut new, "spec")[name] = after.clone();
        }
        let server = start(binaries, old.clone(), &widget("v1", "w", 1)).await?;
        let api = server.api();
        let object = |name: &str, value: &Value| {
            let mut object = widget("v1", &name.to_lowercase(), 1);
            object["spec"][name] = value.clone();
            object
        };
        for (name, _, value, _) in &cases {
            api.post(&widgets().path(), &object(name, value)).await?.ok()?;
        }
        upgrade(&api, &new).await?;
        let dry = Query::new().dry_run().on(widgets().path());
        let mut wrong = Vec::new();
        for (name, _, value, _) in &cases {
            let mut another = object(name, value);
            another["metadata"]["name"] = json!("another");
            until(name, || api.post(&dry, &another), |answer| answer.status == 422).await?;
            let path = widgets().path_of(&name.to_lowercase());
            let answer = api.patch(&path, PatchKind::Merge, &json!({"spec": {"size": 2}})).await?;
            if !answer.is_success() {
                wrong.push(format!("{name}: {} {}", answer.status, answer.message()));
            }
        }
        let changed = [("maxItems", json!(["a", "c"])), ("items", json!(["LOUD", "b"])), ("anyOf", json!({"a": "y"}))];
        for (name, value) in changed {
            let path = widgets().path_of(&name.to_lowercase());
            let answer = api.patch(&path, PatchKind::Merge, &json!({"spec": {name: value}})).await?;
            if answer.status != 422 {
                wrong.push(format!("{name} was changed: {} {}", answer.status, answer.message()));
            }
        }
        check(wrong.is_empty(), wrong.join("\n"))
    })
}

pub(crate) fn an_added_status_subresource_ignores_status_in_normal_writes(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let new = crd();
        let mut old = new.clone();
        for version in [0, 1] {
            old["spec"]["versions"][version]["subresources"] = Value::Null;
        }
        let server = start(binaries, old, &widget("v1", "w", 1)).await?;
        let (api, path) = (server.api(), widgets().path_of("w"));
        let write = |size: usize| {
            let (api, path) = (api.clone(), path.clone());
            async move { api.patch(&path, PatchKind::Merge, &json!({"status": {"size": size}})).await }
        };
        let written = write(7).await?.ok()?.json();
        check(written["status"]["size"] == 7, format!("{written}"))?;
        upgrade(&api, &new).await?;
        // From some write on the status stays unchanged, but the response is still 200.
        let size = AtomicUsize::new(8);
        let last = || size.fetch_add(1, Ordering::Relaxed);
        let ignored = |answer: &Answer| {
            answer.is_success() && answer.json()["status"]["size"] != json!(size.load(Ordering::Relaxed) - 1)
        };
        until("an ordinary write", || write(last()), ignored).await?;
        let status = widgets().part_of("w", "status");
        let written = api.patch(&status, PatchKind::Merge, &json!({"status": {"size": 1}})).await?.ok()?.json();
        check(written["status"]["size"] == 1, format!("{written}"))
    })
}

pub(crate) fn a_scale_with_another_path_reads_another_field(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let mut old = scalable_crd();
        for version in [0, 1] {
            let schema = &mut old["spec"]["versions"][version]["schema"]["openAPIV3Schema"];
            schema["properties"]["spec"]["properties"]["count"] = json!({"type": "integer"});
        }
        let server = start(binaries, old.clone(), &widget("v1", "w", 3)).await?;
        let (api, scale) = (server.api(), widgets().part_of("w", "scale"));
        let read = api.get(&scale).await?.ok()?.json();
        check(read["spec"]["replicas"] == 3, format!("{read}"))?;
        for version in [0, 1] {
            old["spec"]["versions"][version]["subresources"]["scale"]["specReplicasPath"] = json!(".spec.count");
        }
        upgrade(&api, &old).await?;
        // The object does not have this field yet.
        let failed = until("the scale", || api.get(&scale), |answer| !answer.is_success()).await?;
        check(failed.status == 500 && failed.message().contains(".spec.count"), failed.message())?;
        api.patch(&widgets().path_of("w"), PatchKind::Merge, &json!({"spec": {"count": 5}})).await?.ok()?;
        let read = api.get(&scale).await?.ok()?.json();
        check(read["spec"]["replicas"] == 5, format!("{read}"))
    })
}
