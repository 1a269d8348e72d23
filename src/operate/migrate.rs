//! Storage migration: writes every object unchanged, so that the server stores it at the current storage version.

use std::time::Duration;

use futures::StreamExt as _;
use serde_json::{Value, json};

use crdproof_envtest::ClusterError;
use crdproof_envtest::api::object_key;
use crdproof_envtest::api::{Answer, Api, METADATA_LIST, PatchKind, Query, Resource};

/// The settings of a migration.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Objects per page.
    pub page: u32,
    /// Concurrent writes.
    pub together: usize,
    /// The maximum number of attempts at a write.
    pub tries: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { page: 500, together: 32, tries: 6 }
    }
}

/// The result of a migration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Migrated {
    /// Objects that were read.
    pub seen: u64,
    /// Objects that the server stored again.
    pub rewritten: u64,
    /// Objects that another client wrote or deleted meanwhile, which has the same effect.
    pub overtaken: u64,
    /// Objects that could not be written, and why; only the first ones.
    pub failed: Vec<(String, String)>,
    /// The number of objects that could not be written.
    pub failures: u64,
}

/// Maximum number of failures that are listed; others are only counted.
pub(super) const MOST: usize = 20;

/// The result for one object.
enum Outcome {
    Rewritten,
    Unmoved,
    Overtaken,
    Failed(String),
}

/// Migrates all objects of a kind, in all namespaces, by writes through a served version. Reads only names and resource
/// versions, page by page, so memory does not grow with the number of objects. Calls `progress` after every page.
pub async fn migrate(
    api: &Api,
    kind: &Resource,
    pace: Pace,
    progress: &mut (dyn FnMut(&Migrated) + Send),
) -> Result<Migrated, ClusterError> {
    let mut migrated = Migrated::default();
    let mut pages = Pages::of(api, kind, pace);
    while let Some(items) = pages.next().await? {
        let writes = items.iter().map(|item| touch(api, kind, item, pace.tries));
        let outcomes: Vec<(String, Outcome)> =
            futures::stream::iter(writes).buffer_unordered(pace.together).collect().await;
        for (name, outcome) in outcomes {
            migrated.seen += 1;
            match outcome {
                Outcome::Rewritten => migrated.rewritten += 1,
                Outcome::Unmoved => {}
                Outcome::Overtaken => migrated.overtaken += 1,
                Outcome::Failed(why) => {
                    migrated.failures += 1;
                    if migrated.failed.len() < MOST {
                        migrated.failed.push((name, why));
                    }
                }
            }
        }
        progress(&migrated);
    }
    migrated.failed.sort();
    Ok(migrated)
}

/// All objects of a kind, page by page, as metadata only.
pub(super) struct Pages<'a> {
    api: &'a Api,
    kind: &'a Resource,
    pace: Pace,
    /// The token of the next page: empty before the first, `None` after the last.
    next: Option<String>,
}

impl<'a> Pages<'a> {
    pub(super) fn of(api: &'a Api, kind: &'a Resource, pace: Pace) -> Self {
        Self { api, kind, pace, next: Some(String::new()) }
    }

    /// The next page; `None` after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Value>>, ClusterError> {
        while let Some(token) = self.next.clone() {
            let query = Query::new().limit(self.pace.page);
            let query = if token.is_empty() { query } else { query.page(&token) };
            let answer = list(self.api, &query.on(self.kind.path()), self.pace.tries).await?;
            if answer.status == 410 && !token.is_empty() {
                // The page is too old. Migrating an object twice is harmless, so starting over is safe.
                self.next = Some(String::new());
                continue;
            }
            let found = answer.ok()?.json();
            let token = found["metadata"]["continue"].as_str().filter(|token| !token.is_empty());
            self.next = token.map(str::to_owned);
            return Ok(Some(found["items"].as_array().cloned().unwrap_or_default()));
        }
        Ok(None)
    }
}

async fn list(api: &Api, path: &str, tries: u32) -> Result<Answer, ClusterError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let answer = api.get_as(path, METADATA_LIST).await?;
        match pause(&answer, attempt) {
            Some(pause) if attempt < tries => tokio::time::sleep(pause).await,
            _ => return Ok(answer),
        }
    }
}

/// Writes an object unchanged: an empty merge patch with the resource version as a precondition.
async fn touch(api: &Api, kind: &Resource, item: &Value, tries: u32) -> (String, Outcome) {
    let text = |name: &str| item["metadata"][name].as_str().unwrap_or_default().to_owned();
    let (namespace, name, version) = (text("namespace"), text("name"), text("resourceVersion"));
    let path = if namespace.is_empty() { kind.path_of(&name) } else { kind.within(&namespace).path_of(&name) };
    let nothing = json!({"metadata": {"uid": item["metadata"]["uid"], "resourceVersion": version}});
    let mut attempt = 0;
    let outcome = loop {
        attempt += 1;
        let answer = match api.patch(&path, PatchKind::Merge, &nothing).await {
            Ok(answer) => answer,
            Err(_) if attempt < tries => {
                tokio::time::sleep(backoff(attempt)).await;
                continue;
            }
            Err(error) => break Outcome::Failed(error.to_string()),
        };
        if answer.is_success() {
            let now = answer.json();
            let moved = now["metadata"]["resourceVersion"].as_str() != Some(version.as_str());
            break if moved { Outcome::Rewritten } else { Outcome::Unmoved };
        }
        match answer.status {
            // Another client has written it, so it is stored again; or it is gone.
            409 | 404 => break Outcome::Overtaken,
            _ => match pause(&answer, attempt) {
                Some(pause) if attempt < tries => tokio::time::sleep(pause).await,
                _ => break Outcome::Failed(format!("{} {}", answer.status, answer.message())),
            },
        }
    };
    (object_key(item), outcome)
}

/// Returns the pause before the next attempt; `None` if another attempt is useless.
pub(super) fn pause(answer: &Answer, attempt: u32) -> Option<Duration> {
    let asked = answer.headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    match answer.status {
        429 | 503 => Some(asked.map_or_else(|| backoff(attempt), Duration::from_secs)),
        500.. => Some(backoff(attempt)),
        _ => None,
    }
}

pub(super) fn backoff(attempt: u32) -> Duration {
    Duration::from_millis(50) * 2_u32.saturating_pow(attempt.min(7))
}
