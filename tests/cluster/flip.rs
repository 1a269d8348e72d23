//! Two API servers on one etcd: a change of the storage version is complete when both servers use it and all earlier
//! writes have ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crdproof::converter::proxy::{ConversionProxy, Fault};
use crdproof::evidence::Scenario;
use crdproof::operate::migrate::Pace;
use crdproof::operate::retire::{RetireRequest, retire};
use crdproof::operate::settle::{PendingRequest, Store, Watched, settle};
use crdproof_envtest::api::{Api, PatchKind, Resource, definitions};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_envtest::{ClusterError, Server, retry};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::scenarios::{hold_on, maps, subject};
use crate::support::{block, check, describe};

/// Duration of a conversion that starts before the storage version changes.
const SLOW: Duration = Duration::from_secs(8);

/// Writes through each server after waiting.
const WRITES: usize = 20;

async fn start_two_servers(binaries: &Binaries) -> Result<Local, Failed> {
    let second = binaries.apiserver.clone();
    Local::builder(binaries.clone()).second_apiserver(second).start().await.map_err(|error| describe(&error))
}

fn widget(name: &str) -> Value {
    json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": name, "namespace": "default"},
           "spec": {"replicas": 3, "owner": "somebody"}})
}

/// The version at which an object is stored.
async fn stored_version(local: &Local, name: &str) -> Result<String, Failed> {
    let stored = local.stored("example.com", "widgets").await.map_err(|error| describe(&error))?;
    let found = stored.iter().find(|object| object["metadata"]["name"] == name);
    let version = found.and_then(|object| object["apiVersion"].as_str()?.rsplit('/').next().map(str::to_owned));
    Ok(version.unwrap_or_default())
}

/// The number of writes that are stored at a version other than v2.
async fn count_late_writes(local: &Local, api: &Api, kind: &Resource) -> Result<usize, Failed> {
    let mut late = 0;
    for number in 0..WRITES {
        let name = format!("later-{number}");
        api.post(&kind.path(), &widget(&name)).await?.ok()?;
        late += usize::from(stored_version(local, &name).await? != "v2");
        api.delete(&kind.path_of(&name)).await?.ok()?;
    }
    Ok(late)
}

/// Sends many writes through a server at once, and counts those that are stored at a version other than v2.
async fn burst(local: &Local, api: &Api, server: usize, kind: &Resource) -> Result<usize, Failed> {
    let writes = (0..WRITES).map(|number| {
        let (api, path) = (api.clone(), kind.path());
        async move { api.post(&path, &widget(&format!("burst-{server}-{number}"))).await }
    });
    for answer in futures::future::join_all(writes).await {
        answer?;
    }
    let mut late = 0;
    for number in 0..WRITES {
        let name = format!("burst-{server}-{number}");
        late += usize::from(stored_version(local, &name).await? == "v1");
        api.delete(&kind.path_of(&name)).await?;
    }
    Ok(late)
}

/// Starts a write at each server that ends only when its conversion does.
async fn slow_writes(
    apis: &[Api],
    proxy: &ConversionProxy,
    kind: &Resource,
) -> Result<(Vec<PendingRequest>, Arc<AtomicUsize>), Failed> {
    let ended = Arc::new(AtomicUsize::new(0));
    proxy.fail(Some(Fault::Late { towards: "v1".into(), by: SLOW }));
    let flights = apis.iter().enumerate().map(|(number, api)| {
        let (api, path, ended) = (api.clone(), kind.path(), Arc::clone(&ended));
        tokio::spawn(async move {
            let answer = api.post(&path, &widget(&format!("slow-{number}"))).await;
            ended.fetch_add(1, Ordering::SeqCst);
            answer
        })
    });
    let flights: Vec<PendingRequest> = flights.collect();
    let end = Instant::now() + SLOW;
    while proxy.pending().len() < apis.len() && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    proxy.fail(None);
    check(proxy.pending().len() >= apis.len(), "the slow writes did not reach the converter")?;
    Ok((flights, ended))
}

#[expect(clippy::print_stdout, reason = "how late a flip is at each server is worth knowing on every release")]
pub(crate) fn a_storage_version_change_is_verified_on_every_server(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let local = start_two_servers(binaries).await?;
        let apis = [local.api(), local.second_api().ok_or("no second server")?];
        let access = crdproof_envtest::HostAccess { listen: "127.0.0.1".into(), name: "127.0.0.1".into() };
        let proxy = ConversionProxy::start(&access, Arc::new(maps())).await.map_err(|error| describe(&error))?;
        let mut definition = proxy.redirect(&subject().crds[0].node.to_value());
        definition["spec"]["versions"][0]["storage"] = json!(true);
        definition["spec"]["versions"][1]["storage"] = json!(false);
        local.install_crds(&[definition]).await.map_err(|error| describe(&error))?;
        let kind = Resource::namespaced("example.com", "v2", "widgets", "default");

        let (begun, ended) = slow_writes(&apis, &proxy, &kind).await?;
        let flip = json!([
            {"op": "replace", "path": "/spec/versions/0/storage", "value": false},
            {"op": "replace", "path": "/spec/versions/1/storage", "value": true},
        ]);
        apis[0].patch(&definitions().path_of("widgets.example.com"), PatchKind::Json, &flip).await?.ok()?;
        let flipped = Instant::now();
        let bursts = apis.iter().zip(0..).map(|(api, server)| burst(&local, api, server, &kind));
        let bursts = futures::future::join_all(bursts).await.into_iter().collect::<Result<Vec<usize>, Failed>>()?;
        let object = widget("probe");
        let watched = |proxy| Watched { apis: &apis, store: Store::Etcd(&local), kind: &kind, object: &object, proxy };

        // Probing by writes alone succeeds too early: writes that started before the change are still running.
        let hasty = settle(&watched(None), "v2", Vec::new()).await.map_err(|error| describe(&error))?;
        let under_way = apis.len() - ended.load(Ordering::SeqCst);
        let each: Vec<String> =
            hasty.servers.iter().zip(bursts).map(|(server, burst)| (server.late + burst).to_string()).collect();
        println!(
            "{}: of {WRITES} immediate writes and more at each server so many landed at the old version: {}; all at the new one after {:.2} s, with {under_way} under way",
            local.version(),
            each.join(" and "),
            flipped.elapsed().as_secs_f64()
        );
        check(hasty.is_settled(), format!("{hasty:?}"))?;
        check(under_way == apis.len(), "the slow writes ended before anything could be seen")?;

        let settled = settle(&watched(Some(&proxy)), "v2", begun).await.map_err(|error| describe(&error))?;
        println!(
            "{}: the wait ended {:.2} s after the flip, {} drained",
            local.version(),
            flipped.elapsed().as_secs_f64(),
            settled.drained
        );
        check(settled.is_settled() && settled.drained >= apis.len(), format!("{settled:?}"))?;
        check(ended.load(Ordering::SeqCst) == apis.len(), "the wait ended before what began before the flip")?;
        for (number, api) in apis.iter().enumerate() {
            let version = stored_version(&local, &format!("slow-{number}")).await?;
            check(version == "v1", format!("slow-{number} is stored at {version:?}, so it was not under way"))?;
            check(
                count_late_writes(&local, api, &kind).await? == 0,
                format!("server {number} still stores at the old version"),
            )?;
        }
        retire_on_both(&local, &apis, &kind).await?;
        proxy.stop().await;
        Ok(())
    })
}

/// Retires v1 through the first server, and checks that both serve the rest alike.
async fn retire_on_both(local: &Local, apis: &[Api], kind: &Resource) -> Result<(), Failed> {
    let wish = RetireRequest {
        crd: "widgets.example.com".into(),
        version: "v1".into(),
        to: None,
        drain: Duration::ZERO,
        pace: Pace::default(),
    };
    let retired = retire(apis, &wish, &mut |_| {}).await.map_err(|error| describe(&error))?;
    check(retired.is_ok(), format!("{retired:?}"))?;
    let mut lists = Vec::new();
    for api in apis {
        check(api.get(&kind.at("v1").path()).await?.status == 404, "v1 is still served")?;
        let path = kind.path();
        let list = retry::while_unready(|| api.get(&path)).await?;
        lists.push(list.ok()?.json()["items"].clone());
    }
    check(lists[0].as_array().map(Vec::len) == Some(2) && lists[0] == lists[1], format!("{lists:?}"))?;
    check(
        stored_version(local, "slow-0").await? == "v2" && stored_version(local, "slow-1").await? == "v2",
        "not everything is stored at v2",
    )
}

pub(crate) fn scenarios_pass_on_two_servers(binaries: &Binaries) -> Result<(), Failed> {
    block(async {
        let server = Server::Local(Box::new(start_two_servers(binaries).await?));
        hold_on(&server, &[Scenario::Storage, Scenario::Retirement], 17).await?;
        server.stop().await.map_err(|error: ClusterError| describe(&error))
    })
}
