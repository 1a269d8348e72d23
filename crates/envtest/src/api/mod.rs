//! Raw verbs: requests and responses are not changed. No retries, no types, a deadline on every call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::Value;

use super::ClusterError;

mod crds;
mod identity;
mod objects;
mod permission;
mod query;
mod watch;

pub use crds::definitions;
pub use identity::{Features, Identity};
pub use permission::Permission;
pub use query::{FieldValidation, Query, Resource};
pub use watch::{Event, Watch};

/// `Accept` of a list as `kubectl get` shows it.
pub const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
/// `Accept` of an object with only its metadata.
pub const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// `Accept` of a list of such objects.
pub const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Sends requests to one API server.
#[derive(Clone)]
pub struct Api {
    client: kube::Client,
    deadline: Duration,
    /// The number of requests that this value and its clones have sent.
    requests: Arc<AtomicU64>,
}

/// The response of an API server.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// All headers, including `Warning`.
    pub headers: HeaderMap,
    /// The body, unchanged.
    pub body: Vec<u8>,
    /// The time from the start of the request to the end of the body.
    pub took: Duration,
    /// Method and path, for messages.
    pub call: String,
}

/// The media type of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// Server-side apply; the call needs `fieldManager`.
    Apply,
}

impl PatchKind {
    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}

impl Answer {
    /// Returns true if the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The server's own message, or the beginning of the body.
    pub fn message(&self) -> String {
        match self.json()["message"].as_str() {
            Some(message) => message.to_owned(),
            None => String::from_utf8_lossy(&self.body).chars().take(300).collect(),
        }
    }

    /// The texts of all `Warning` headers.
    pub fn warnings(&self) -> Vec<String> {
        let values = self.headers.get_all("warning").iter();
        values.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect()
    }

    /// Returns the response if it is a success, otherwise the server's message as an error.
    pub fn ok(self) -> Result<Self, ClusterError> {
        if self.is_success() {
            return Ok(self);
        }
        let message = self.message();
        Err(ClusterError::Refused { call: self.call, status: self.status, message })
    }
}

impl Api {
    /// Uses this client, with a deadline for each call. The client must not retry.
    pub fn new(client: kube::Client, deadline: Duration) -> Self {
        Self { client, deadline, requests: Arc::default() }
    }

    /// The same server, with a separate count of requests.
    #[must_use]
    pub fn counting(&self) -> Self {
        Self { requests: Arc::default(), ..self.clone() }
    }

    /// Returns the number of requests that were sent, including watches and unanswered ones.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Reads one path, query included.
    pub async fn get(&self, path: &str) -> Result<Answer, ClusterError> {
        self.send(Method::GET, path, &[], None).await
    }

    /// Reads one path in another representation, such as a table.
    pub async fn get_as(&self, path: &str, accept: &str) -> Result<Answer, ClusterError> {
        self.send(Method::GET, path, &[("accept", accept)], None).await
    }

    /// Creates an object in a collection.
    pub async fn post(&self, path: &str, object: &Value) -> Result<Answer, ClusterError> {
        self.send(Method::POST, path, &[("content-type", "application/json")], Some(object)).await
    }

    /// Replaces an object.
    pub async fn put(&self, path: &str, object: &Value) -> Result<Answer, ClusterError> {
        self.send(Method::PUT, path, &[("content-type", "application/json")], Some(object)).await
    }

    /// Patches an object.
    pub async fn patch(&self, path: &str, kind: PatchKind, changes: &Value) -> Result<Answer, ClusterError> {
        self.send(Method::PATCH, path, &[("content-type", kind.media_type())], Some(changes)).await
    }

    /// Deletes an object or, with the path of a collection, the objects that the query selects.
    pub async fn delete(&self, path: &str) -> Result<Answer, ClusterError> {
        self.send(Method::DELETE, path, &[], None).await
    }

    /// Deletes with options, such as preconditions.
    pub async fn delete_with(&self, path: &str, options: &Value) -> Result<Answer, ClusterError> {
        self.send(Method::DELETE, path, &[("content-type", "application/json")], Some(options)).await
    }

    /// Sends bytes as JSON with any method, for the proxy of a Service or a pod.
    pub async fn forward(&self, method: &str, path: &str, body: Vec<u8>) -> Result<Answer, ClusterError> {
        let wrong = |why: String| ClusterError::Transport { call: format!("{method} {path}"), why };
        let known = Method::from_bytes(method.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        self.send_bytes(known, path, &[("content-type", "application/json")], body).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, ClusterError> {
        let bytes = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        self.send_bytes(method, path, headers, bytes).await
    }

    async fn send_bytes(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        bytes: Vec<u8>,
    ) -> Result<Answer, ClusterError> {
        let call = format!("{method} {path}");
        let transport = |why: String| ClusterError::Transport { call: call.clone(), why };
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(bytes)).map_err(|error| transport(error.to_string()))?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        let exchange = async {
            let response = self.client.send(request).await.map_err(|error| transport(error_chain(&error)))?;
            let (parts, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| transport(error.to_string()))?;
            Ok::<_, ClusterError>((parts, body.to_bytes().to_vec()))
        };
        let Ok(answered) = tokio::time::timeout(self.deadline, exchange).await else {
            return Err(ClusterError::Deadline { call, seconds: self.deadline.as_secs() });
        };
        let (parts, body) = answered?;
        Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body, took: started.elapsed(), call })
    }
}

/// An error message with all its causes: the outermost error alone seldom says why.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(&format!(": {more}"));
        }
        cause = error.source();
    }
    text
}

/// Returns `namespace/name` of an object, or only its name if it has no namespace.
pub fn object_key(object: &Value) -> String {
    let field = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (field("namespace"), field("name"));
    if namespace.is_empty() { name } else { format!("{namespace}/{name}") }
}
