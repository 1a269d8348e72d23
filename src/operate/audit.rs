//! Looking at what a cluster holds. Everything here is a GET: nothing is written, not even a dry run.

use serde_json::Value;

use super::migrate::pause;
use super::retire::dependents::kinds;
use crate::evidence::inventory::{Holding, Unseen};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Answer, Api, METADATA_LIST, Query, Resource, definitions};

/// Objects in a page. Only their metadata comes.
const PAGE: u32 = 500;

/// CRDs in a page: each may be a megabyte.
const CRDS: u32 = 50;

/// How often a page is asked for where the server is busy.
const TRIES: u32 = 6;

/// How often a list is begun anew where the server has forgotten its beginning.
const STARTS: u32 = 3;

/// What to look at.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// Only these CRDs; all where there are none.
    pub names: Vec<String>,
    /// Look for owner references in all kinds, not only in those of the CRDs that are looked at.
    pub owners: bool,
}

/// What was seen.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The CRDs, sorted by name.
    pub holdings: Vec<Holding>,
    /// Names that no CRD has.
    pub absent: Vec<String>,
    /// Other kinds that could not be looked at for owner references.
    pub unread: Vec<String>,
}

/// Who is told which kind is looked at, and how many of its objects were.
pub type Progress<'p> = &'p mut (dyn FnMut(&str, u64) + Send);

/// Why a list ended before its end.
enum Cut {
    Refused(Answer),
    Failed(ClusterError),
}

/// Looks.
pub async fn look(api: &Api, wish: &Wish, progress: Progress<'_>) -> Result<Seen, ClusterError> {
    let mut seen = Seen::default();
    if wish.names.is_empty() {
        let mut read = |item: &Value| seen.holdings.push(Holding::read(item));
        let kind = definitions();
        match pages(api, &kind, "application/json", CRDS, &mut read, &mut |_| ()).await {
            Ok(()) => {}
            Err(Cut::Refused(answer)) => return Err(refused(answer)),
            Err(Cut::Failed(error)) => return Err(error),
        }
    }
    for name in &wish.names {
        let answer = api.get(&definitions().path_of(name)).await?;
        match answer.status {
            404 => seen.absent.push(name.clone()),
            200..300 if answer.json()["spec"].is_object() => seen.holdings.push(Holding::read(&answer.json())),
            200..300 => return Err(nonsense(&answer)),
            _ => return Err(refused(answer)),
        }
    }
    seen.holdings.sort_by(|left, right| left.name.cmp(&right.name));
    seen.holdings.dedup_by(|left, right| left.name == right.name);
    for index in 0..seen.holdings.len() {
        look_at(api, &mut seen.holdings, index, progress).await?;
    }
    if wish.owners {
        look_for_owners(api, &mut seen, progress).await?;
    }
    Ok(seen)
}

/// Goes through the objects of one CRD. They may be owned by objects of any of them.
async fn look_at(
    api: &Api,
    holdings: &mut [Holding],
    index: usize,
    progress: Progress<'_>,
) -> Result<(), ClusterError> {
    let holding = &holdings[index];
    let Some(version) = holding.through() else {
        holdings[index].unseen = Some(Unseen::Elsewhere("no version is served".into()));
        return Ok(());
    };
    let (name, plural) = (holding.name.clone(), holding.plural.clone());
    let kind = Resource::cluster_wide(&holding.group, &version.name, &plural);
    for _ in 0..STARTS {
        // What a list that is begun anew had counted must not count twice.
        let before = holdings.to_vec();
        let mut add = |item: &Value| {
            holdings[index].add(item);
            for holding in holdings.iter_mut() {
                holding.add_owned(&plural, item);
            }
        };
        let cut = pages(api, &kind, METADATA_LIST, PAGE, &mut add, &mut |seen| progress(&name, seen)).await;
        let unseen = match cut {
            Ok(()) => return Ok(()),
            Err(Cut::Refused(answer)) if answer.status == 410 => {
                holdings.clone_from_slice(&before);
                continue;
            }
            Err(Cut::Refused(answer)) if matches!(answer.status, 401 | 403) => Unseen::Forbidden(answer.message()),
            // A CRD that went away, or one that is not Established.
            Err(Cut::Refused(answer)) if answer.status == 404 => {
                Unseen::Elsewhere("the server does not know it".into())
            }
            Err(Cut::Refused(answer)) => Unseen::Broken(format!("{} {}", answer.status, answer.message())),
            Err(Cut::Failed(error @ ClusterError::Deadline { .. })) => Unseen::Broken(error.to_string()),
            Err(Cut::Failed(error)) => return Err(error),
        };
        holdings.clone_from_slice(&before);
        holdings[index].unseen = Some(unseen);
        return Ok(());
    }
    holdings[index].unseen =
        Some(Unseen::Elsewhere("the server forgot the list before its end, time and again".into()));
    Ok(())
}

/// Goes through all other kinds.
async fn look_for_owners(api: &Api, seen: &mut Seen, progress: Progress<'_>) -> Result<(), ClusterError> {
    for kind in kinds(api, &mut seen.unread).await? {
        let known = |holding: &Holding| holding.group == kind.group && holding.plural == kind.plural;
        if seen.holdings.iter().any(known) {
            continue;
        }
        let before = seen.holdings.clone();
        let mut add = |item: &Value| {
            for holding in &mut seen.holdings {
                holding.add_owned(&kind.plural, item);
            }
        };
        let shown = if kind.group.is_empty() { kind.plural.clone() } else { format!("{}.{}", kind.plural, kind.group) };
        match pages(api, &kind, METADATA_LIST, PAGE, &mut add, &mut |seen| progress(&shown, seen)).await {
            Ok(()) => {}
            // Rights, an extension server that is away, or a list that the server forgot.
            Err(Cut::Refused(_) | Cut::Failed(ClusterError::Deadline { .. })) => {
                seen.holdings = before;
                seen.unread.push(shown);
            }
            Err(Cut::Failed(error)) => return Err(error),
        }
    }
    seen.unread.sort();
    Ok(())
}

/// All objects of a kind, page by page; `seen` is told how many after every page.
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
        // A proxy's page of welcome is a success, too.
        if !found["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) {
            return Err(Cut::Failed(nonsense(&answer)));
        }
        for item in found["items"].as_array().into_iter().flatten() {
            count += 1;
            add(item);
        }
        seen(count);
        match found["metadata"]["continue"].as_str().filter(|next| !next.is_empty()) {
            // A server that goes round in circles would keep us for ever.
            Some(next) if next == token => return Err(Cut::Failed(nonsense(&answer))),
            Some(next) => next.clone_into(&mut token),
            None => return Ok(()),
        }
    }
}

/// One page; a server that is busy is asked again.
pub(super) async fn page(api: &Api, path: &str, accept: &str) -> Result<Answer, ClusterError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let answer = api.get_as(path, accept).await?;
        // A server that is busy says so by these; 500 is what a broken converter makes of a list.
        match pause(&answer, attempt).filter(|_| matches!(answer.status, 429 | 503)) {
            Some(pause) if attempt < TRIES => tokio::time::sleep(pause).await,
            _ => return Ok(answer),
        }
    }
}

pub(super) fn nonsense(answer: &Answer) -> ClusterError {
    let said = String::from_utf8_lossy(&answer.body).split_whitespace().collect::<Vec<_>>().join(" ");
    ClusterError::NotKubernetes { call: answer.call.clone(), said: said.chars().take(200).collect() }
}

pub(super) fn refused(answer: Answer) -> ClusterError {
    if matches!(answer.status, 401 | 403) {
        return ClusterError::NotAllowed {
            why: format!("may not read CRDs: {}", answer.message()),
            help: "an audit needs get and list of customresourcedefinitions, and list of the kinds to look at".into(),
        };
    }
    let message = answer.message();
    ClusterError::Refused { call: answer.call, status: answer.status, message }
}
