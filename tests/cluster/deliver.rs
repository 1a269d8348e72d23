//! A source with several kinds is applied as GitOps tools do it.

use std::time::Duration;

use crdproof::act::scenarios::deliver::Deliverer;
use crdproof::act::scenarios::source::Source;
use crdproof::evidence::{DeliveryOutcome, Observation, State};
use crdproof_envtest::api::{PatchKind, Query, Resource};
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::support::{block, check, crd, describe};

const TIMEOUT: Duration = Duration::from_secs(30);

fn widget(name: &str, size: u32) -> Value {
    json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"size": size}})
}

/// A cluster-scoped kind, one of its objects, and everything that the others need, in reverse order.
fn documents(widgets: &[Value]) -> Vec<Value> {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
        "properties": {"text": {"type": "string"}}}}}});
    let plan = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "plans.example.com"}, "spec": {"group": "example.com", "scope": "Cluster",
        "names": {"kind": "Plan", "listKind": "PlanList", "plural": "plans", "singular": "plan"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]}});
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop"},
        "data": {"key": "value"}});
    let object =
        json!({"apiVersion": "example.com/v1", "kind": "Plan", "metadata": {"name": "p"}, "spec": {"text": "x"}});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    widgets.iter().cloned().chain([object, config, namespace, crd(), plan]).collect()
}

fn lines(seen: &[Observation]) -> Vec<String> {
    let lines = seen.iter().filter_map(|seen| if let Observation::Delivered(line) = seen { Some(line) } else { None });
    lines.map(ToString::to_string).collect()
}

fn expect_lines(seen: &[Observation], wanted: &[&str]) -> Result<(), Failed> {
    check(lines(seen) == wanted, format!("{:#?}", lines(seen)))
}

const GROUND: [&str; 3] =
    ["CustomResourceDefinition/widgets.example.com", "CustomResourceDefinition/plans.example.com", "Namespace/shop"];

fn all(became: &str, objects: &[&str]) -> Vec<String> {
    GROUND.iter().chain(objects).map(|name| format!("{name} {became}")).collect()
}

pub(crate) fn a_source_is_delivered(binaries: &Binaries) -> Result<(), Failed> {
    let source = |widgets: &[Value]| Source::new(documents(widgets)).map_err(|error| error.to_string());
    let (a, b) = (widget("a", 1), widget("b", 2));
    block(async {
        let server = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let api = server.api();
        let mut deliverer = Deliverer::new(api.clone(), "test");
        let told = |error| describe(&error);

        // Only the server knows that its own kind is namespaced: nothing is applied.
        let homeless = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
        let wrong = Source::new([homeless, crd()]).map_err(|error| error.to_string())?;
        let refused = deliverer.deliver(&wrong, TIMEOUT).await.err().ok_or("it was taken")?;
        check(refused.help().contains("set metadata.namespace"), format!("{refused} {}", refused.help()))?;
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
        check(api.get(path).await?.status == 404, "half a source was applied")?;

        let both = source(&[a.clone(), b])?;
        let objects = ["Widget/shop/a", "Widget/shop/b", "Plan/p", "ConfigMap/shop/c"];
        let seen = deliverer.deliver(&both, TIMEOUT).await.map_err(told)?;
        expect_lines(&seen, &all("created", &objects).iter().map(String::as_str).collect::<Vec<_>>())?;
        let ready =
            seen.iter().filter(|seen| matches!(seen, Observation::Health(health) if health.state == State::Current));
        check(ready.count() == 2, "both kinds are ready before their objects are applied")?;
        deliverer.wait(&both, TIMEOUT).await.map_err(told)?;
        let seen = deliverer.deliver(&both, TIMEOUT).await.map_err(told)?;
        expect_lines(&seen, &all("unchanged", &objects).iter().map(String::as_str).collect::<Vec<_>>())?;

        // Another manager edits one object at another version, and adds one.
        let kind = Resource::namespaced("example.com", "v1", "widgets", "shop");
        let edit = json!({"spec": {"size": 7}, "metadata": {"labels": {"theirs": "kept"}}});
        let path = Query::new().manager("mallory").on(kind.path_of("a"));
        api.patch(&path, PatchKind::Merge, &edit).await?.ok()?;
        let mut own = widget("own", 9);
        own["apiVersion"] = json!("example.com/v1");
        api.post(&kind.path(), &own).await?.ok()?;
        let seen = deliverer.detect(&both).await.map_err(told)?;
        let drifted: Vec<_> = seen
            .iter()
            .filter_map(|seen| match seen {
                Observation::Delivered(line) if line.became == DeliveryOutcome::Drifted => Some(line),
                _ => None,
            })
            .collect();
        check(drifted.len() == 1 && drifted[0].to_string() == "Widget/shop/a drifted", format!("{drifted:?}"))?;
        let differs = &drifted[0].differences;
        let sizes = differs.len() == 1 && differs[0].live == Some(json!(7)) && differs[0].wanted == Some(json!(1));
        check(sizes && differs[0].at == "/spec/size", format!("{differs:?}"))?;
        let seen = deliverer.deliver(&both, TIMEOUT).await.map_err(told)?;
        check(lines(&seen).contains(&"Widget/shop/a configured".to_owned()), format!("{:?}", lines(&seen)))?;
        let live = api.get(&kind.at("v2").path_of("a")).await?.ok()?.json();
        check(live["spec"]["size"] == 1 && live["metadata"]["labels"]["theirs"] == "kept", format!("{live}"))?;

        let less = source(&[a])?;
        let seen = deliverer.deliver(&less, TIMEOUT).await.map_err(told)?;
        let deleted: Vec<_> = lines(&seen).into_iter().filter(|line| line.ends_with("deleted")).collect();
        check(deleted == ["Widget/shop/b deleted"], format!("{:?}", lines(&seen)))?;
        check(api.get(&kind.path_of("b")).await?.status == 404, "it is still there")?;
        check(api.get(&kind.path_of("own")).await?.is_success(), "what somebody else made is gone")
    })
}
