//! Reads the inventory of a cluster. Every request is a GET: nothing is written, not even a dry run.

use serde_json::Value;

use super::migrate::pause;
use super::retire::dependents::kinds;
use crate::evidence::inventory::{CrdInventory, NotRead};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, Api, METADATA_LIST, Query, Resource, definitions};

/// Objects per page. Only their metadata is read.
const OBJECTS_PER_PAGE: u32 = 500;

/// CRDs per page: each may be a megabyte.
const CRDS_PER_PAGE: u32 = 50;

/// The number of attempts at a page while the server is busy.
const TRIES: u32 = 6;

/// The number of times that a list is restarted after its continue token expired.
const MAX_RESTARTS: u32 = 3;

/// The selection of what to read.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Only these CRDs; all if empty.
    pub names: Vec<String>,
    /// True to search all kinds for owner references, not only those of the CRDs.
    pub owners: bool,
}

/// The inventory that was read.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    /// The CRDs, sorted by name.
    pub inventories: Vec<CrdInventory>,
    /// Names without a CRD.
    pub absent: Vec<String>,
    /// Other kinds that could not be searched for owner references.
    pub unread: Vec<String>,
}

/// Receives the kind that is being read, and the number of its objects so far.
pub type Progress<'p> = &'p mut (dyn FnMut(&str, u64) + Send);

/// The reason why a list is incomplete.
enum Cut {
    Refused(Answer),
    Failed(ClusterError),
}

/// Reads the CRDs of a cluster and the versions that their objects name.
pub async fn read(api: &Api, scope: &Scope, progress: Progress<'_>) -> Result<Inventory, ClusterError> {
    let mut seen = Inventory::default();
    if scope.names.is_empty() {
        let mut add = |item: &Value| seen.inventories.push(CrdInventory::read(item));
        let kind = definitions();
        match pages(api, &kind, "application/json", CRDS_PER_PAGE, &mut add, &mut |_| ()).await {
            Ok(()) => {}
            Err(Cut::Refused(answer)) => return Err(refused(answer)),
            Err(Cut::Failed(error)) => return Err(error),
        }
    }
    for name in &scope.names {
        let answer = api.get(&definitions().path_of(name)).await?;
        match answer.status {
            404 => seen.absent.push(name.clone()),
            200..300 if answer.json()["spec"].is_object() => seen.inventories.push(CrdInventory::read(&answer.json())),
            200..300 => return Err(not_kubernetes(&answer)),
            _ => return Err(refused(answer)),
        }
    }
    seen.inventories.sort_by(|left, right| left.name.cmp(&right.name));
    seen.inventories.dedup_by(|left, right| left.name == right.name);
    for index in 0..seen.inventories.len() {
        read_objects(api, &mut seen.inventories, index, progress).await?;
    }
    if scope.owners {
        search_owners(api, &mut seen, progress).await?;
    }
    Ok(seen)
}

/// Reads the objects of one CRD. Any of the CRDs may own them.
async fn read_objects(
    api: &Api,
    inventories: &mut [CrdInventory],
    index: usize,
    progress: Progress<'_>,
) -> Result<(), ClusterError> {
    let inventory = &inventories[index];
    let Some(version) = inventory.through() else {
        inventories[index].not_read = Some(NotRead::Unavailable("no version is served".into()));
        return Ok(());
    };
    let (name, plural) = (inventory.name.clone(), inventory.plural.clone());
    let kind = Resource::cluster_wide(&inventory.group, &version.name, &plural);
    for _ in 0..MAX_RESTARTS {
        // A restarted list must not count objects twice.
        let before = inventories.to_vec();
        let mut add = |item: &Value| {
            inventories[index].add(item);
            for inventory in inventories.iter_mut() {
                inventory.add_owned(&plural, item);
            }
        };
        let cut = pages(api, &kind, METADATA_LIST, OBJECTS_PER_PAGE, &mut add, &mut |seen| progress(&name, seen)).await;
        let not_read = match cut {
            Ok(()) => return Ok(()),
            Err(Cut::Refused(answer)) if answer.status == 410 => {
                inventories.clone_from_slice(&before);
                continue;
            }
            Err(Cut::Refused(answer)) if matches!(answer.status, 401 | 403) => NotRead::Forbidden(answer.message()),
            // The CRD was removed, or is not Established.
            Err(Cut::Refused(answer)) if answer.status == 404 => {
                NotRead::Unavailable("the server does not serve it".into())
            }
            Err(Cut::Refused(answer)) => NotRead::Broken(format!("{} {}", answer.status, answer.message())),
            Err(Cut::Failed(error @ ClusterError::Deadline { .. })) => NotRead::Broken(error.to_string()),
            Err(Cut::Failed(error)) => return Err(error),
        };
        inventories.clone_from_slice(&before);
        inventories[index].not_read = Some(not_read);
        return Ok(());
    }
    inventories[index].not_read =
        Some(NotRead::Unavailable("the list expired on the server before it was complete, several times".into()));
    Ok(())
}

/// Searches all other kinds for owner references.
async fn search_owners(api: &Api, seen: &mut Inventory, progress: Progress<'_>) -> Result<(), ClusterError> {
    for kind in kinds(api, &mut seen.unread).await? {
        let known = |inventory: &CrdInventory| inventory.group == kind.group && inventory.plural == kind.plural;
        if seen.inventories.iter().any(known) {
            continue;
        }
        let before = seen.inventories.clone();
        let mut add = |item: &Value| {
            for inventory in &mut seen.inventories {
                inventory.add_owned(&kind.plural, item);
            }
        };
        let shown = if kind.group.is_empty() { kind.plural.clone() } else { format!("{}.{}", kind.plural, kind.group) };
        match pages(api, &kind, METADATA_LIST, OBJECTS_PER_PAGE, &mut add, &mut |seen| progress(&shown, seen)).await {
            Ok(()) => {}
            // Missing permissions, an unavailable extension server, or an expired list.
            Err(Cut::Refused(_) | Cut::Failed(ClusterError::Deadline { .. })) => {
                seen.inventories = before;
                seen.unread.push(shown);
            }
            Err(Cut::Failed(error)) => return Err(error),
        }
    }
    seen.unread.sort();
    Ok(())
}

/// All objects of a kind, page by page; calls `seen` with the number after every page.
async fn pages(
    api: &Api,
    kind: &Resource,
    accept: &str,
    size: u32,
    add: &mut (dyn FnMut(&Value) + Send),
    seen: &mut (dyn FnMut(u64) + Send),
) -> Result<(), Cut> {
    let mut token = String::new();
    let mut count = 0;
    loop {
        let query = Query::new().limit(size);
        let query = if token.is_empty() { query } else { query.page(&token) };
        let answer = page(api, &query.on(kind.path()), accept).await.map_err(Cut::Failed)?;
        if !answer.is_success() {
            return Err(Cut::Refused(answer));
        }
        let found = answer.json();
        // A proxy's login page is also a success.
        if !found["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) {
            return Err(Cut::Failed(not_kubernetes(&answer)));
        }
        for item in found["items"].as_array().into_iter().flatten() {
            count += 1;
            add(item);
        }
        seen(count);
        match found["metadata"]["continue"].as_str().filter(|next| !next.is_empty()) {
            // A server that repeats its continue token would never end.
            Some(next) if next == token => return Err(Cut::Failed(not_kubernetes(&answer))),
            Some(next) => next.clone_into(&mut token),
            None => return Ok(()),
        }
    }
}

/// Reads one page; retries while the server is busy.
pub(super) async fn page(api: &Api, path: &str, accept: &str) -> Result<Answer, ClusterError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let answer = api.get_as(path, accept).await?;
        // A busy server answers with these; a broken converter gives 500.
        match pause(&answer, attempt).filter(|_| matches!(answer.status, 429 | 503)) {
            Some(pause) if attempt < TRIES => tokio::time::sleep(pause).await,
            _ => return Ok(answer),
        }
    }
}

pub(super) fn not_kubernetes(answer: &Answer) -> ClusterError {
    let said = String::from_utf8_lossy(&answer.body).split_whitespace().collect::<Vec<_>>().join(" ");
    ClusterError::NotKubernetes { call: answer.call.clone(), said: said.chars().take(200).collect() }
}

pub(super) fn refused(answer: Answer) -> ClusterError {
    if matches!(answer.status, 401 | 403) {
        return ClusterError::NotAllowed {
            why: format!("not allowed to read CRDs: {}", answer.message()),
            help: "an audit needs get and list of customresourcedefinitions, and list of the kinds to read".into(),
        };
    }
    let message = answer.message();
    ClusterError::Refused { call: answer.call, status: answer.status, message }
}
