//! Waiting until a change of the storage version has taken effect: on every API server, and for every request.
//!
//! Three things keep writes at the old version after the CRD was changed: an API server that has not seen the change, a
//! storage that it has not rebuilt, and requests that started before. The first two show in the stored version of later
//! writes; the last ones must be waited for.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::converter::proxy::ConversionProxy;
use crdproof_envtest::api::object_key;
use crdproof_envtest::api::{Answer, Api, Resource};
use crdproof_envtest::local::Local;
use crdproof_envtest::retry;
use crdproof_envtest::{ClusterError, Server};

/// The number of consecutive writes that must be stored at the new version, at each server, until the change counts as
/// done.
const ENOUGH: usize = crate::evidence::Settled::ENOUGH;

/// A request of ours without a response yet.
pub type PendingRequest = JoinHandle<Result<Answer, ClusterError>>;

/// The observations at one API server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredWrites {
    /// Writes that were still stored at the old version.
    pub late: usize,
    /// The last consecutive writes that were stored at the new one.
    pub row: usize,
}

/// The result of waiting for a change of the storage version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// Each API server, in order.
    pub servers: Vec<StoredWrites>,
    /// The number of requests and reviews that were waited for.
    pub drained: usize,
    /// True if some did not end in time.
    pub stuck: bool,
    /// Its duration.
    pub took: Duration,
}

impl Settled {
    /// Returns true if all writes are stored at the new version from now on.
    pub fn is_settled(&self) -> bool {
        !self.stuck && !self.servers.is_empty() && self.servers.iter().all(|server| server.row >= ENOUGH)
    }
}

/// The API servers and the object for observing a change.
pub struct Watched<'a> {
    /// Every API server.
    pub apis: &'a [Api],
    /// The source of storage versions.
    pub store: Store<'a>,
    /// The kind, of any version.
    pub kind: &'a Resource,
    /// An object to write, at its own version.
    pub object: &'a Value,
    /// The proxy, which knows pending reviews.
    pub proxy: Option<&'a ConversionProxy>,
}

/// The source of an object's storage version.
#[derive(Clone, Copy)]
pub enum Store<'a> {
    /// Our own etcd.
    Etcd(&'a Local),
    /// Reviews that the proxy receives when the object is read at this version.
    Asked(&'a str),
}

impl<'a> Store<'a> {
    pub(crate) fn of(server: &'a Server, asked: &'a str) -> Self {
        match server {
            Server::Local(local) => Self::Etcd(local),
            _ => Self::Asked(asked),
        }
    }
}

/// Waits until a change of the storage version has taken effect. `begun` are our own requests that started before it;
/// the proxy knows writes by others.
pub async fn settle(watched: &Watched<'_>, wanted: &str, begun: Vec<PendingRequest>) -> Result<Settled, ClusterError> {
    let started = Instant::now();
    let reviews = watched.proxy.map(ConversionProxy::pending).unwrap_or_default();
    let mut settled = Settled { drained: begun.len().max(reviews.len()), ..Settled::default() };
    // First the servers: requests that start while one of them is late are late, too.
    settled.servers = landed(watched, wanted, started + retry::TIMEOUT).await?;
    for flight in begun {
        let left = (started + retry::TIMEOUT).saturating_duration_since(Instant::now());
        // The response does not matter, only its end.
        settled.stuck |= tokio::time::timeout(left, flight).await.is_err();
    }
    while watched.proxy.is_some_and(|proxy| proxy.pending().iter().any(|review| reviews.contains(review))) {
        if started.elapsed() >= retry::TIMEOUT {
            settled.stuck = true;
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if settled.drained > 0 {
        // A review is answered a moment before its write is stored; later writes show that the moment is over.
        let again = landed(watched, wanted, started + retry::TIMEOUT * 2).await?;
        for (server, again) in settled.servers.iter_mut().zip(again) {
            *server = StoredWrites { late: server.late + again.late, row: again.row };
        }
    }
    settled.took = started.elapsed();
    Ok(settled)
}

/// Writes through every server at once until several consecutive writes are stored at the new version.
async fn landed(watched: &Watched<'_>, wanted: &str, end: Instant) -> Result<Vec<StoredWrites>, ClusterError> {
    let servers = watched.apis.iter().zip(0..).map(|(api, server)| landed_at(watched, api, server, wanted, end));
    futures::future::join_all(servers).await.into_iter().collect()
}

/// Does the same through one server.
async fn landed_at(
    watched: &Watched<'_>,
    api: &Api,
    server: usize,
    wanted: &str,
    end: Instant,
) -> Result<StoredWrites, ClusterError> {
    let kind = watched.kind.at(&version_of(watched.object));
    let (mut landed, mut number) = (StoredWrites::default(), 0);
    while landed.row < ENOUGH && Instant::now() < end {
        number += 1;
        let name = format!("probe-{server}-{number}");
        let mut object = watched.object.clone();
        object["metadata"]["name"] = json!(name);
        let made = api.post(&kind.path(), &object).await?;
        if !made.is_success() {
            // The server rebuilds its storage after a change, and may refuse for a moment.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        }
        let at = stored_at(watched, api, &made.json()).await?;
        if at == wanted {
            landed.row += 1;
        } else {
            landed.late += 1;
            landed.row = 0;
        }
        api.delete(&kind.path_of(&name)).await?;
    }
    Ok(landed)
}

/// The storage version of an object.
async fn stored_at(watched: &Watched<'_>, api: &Api, object: &Value) -> Result<String, ClusterError> {
    match (watched.store, watched.proxy) {
        (Store::Etcd(local), _) => {
            let objects = local.stored(&watched.kind.group, &watched.kind.plural).await?;
            let found = objects.iter().find(|stored| object_key(stored) == object_key(object));
            Ok(found.map(version_of).unwrap_or_default())
        }
        (Store::Asked(asked), Some(proxy)) => {
            stored_version_by_proxy(api, proxy, &watched.kind.at(asked), object).await
        }
        (Store::Asked(_), None) => Ok(String::new()),
    }
}

/// The version in an object's `apiVersion`.
pub(crate) fn version_of(object: &Value) -> String {
    object["apiVersion"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned()
}

/// The storage version of an object, from the reviews that the proxy receives when it is read.
pub(crate) async fn stored_version_by_proxy(
    api: &Api,
    proxy: &ConversionProxy,
    kind: &Resource,
    object: &Value,
) -> Result<String, ClusterError> {
    let before = proxy.count();
    api.get(&kind.path_of(object["metadata"]["name"].as_str().unwrap_or_default())).await?.ok()?;
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
    let seen = proxy.since(before);
    let review = seen.iter().find(|seen| seen.to == kind.version && seen.uids.iter().any(|own| own == uid));
    Ok(review.and_then(|seen| seen.from.first().cloned()).unwrap_or_else(|| kind.version.clone()))
}
