//! Watching: events as the server sends them, one JSON document per line.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::{Method, Request};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::Value;

use super::{Answer, Api, Query};
use crate::ClusterError;

/// An open watch.
pub struct Watch {
    call: String,
    body: Body,
    started: Instant,
    end: Instant,
    pending: Vec<u8>,
}

/// The events of a watch.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub kind: String,
    /// The object, or a `Status` for an error.
    pub object: Value,
    /// The time since the start of the watch.
    pub after: Duration,
}

impl Api {
    /// Watches a collection for at most `lasting`. If the server refuses the watch, the error has its message.
    pub async fn watch(&self, path: &str, query: &Query, lasting: Duration) -> Result<Watch, ClusterError> {
        let path = query.clone().watch(lasting.as_secs().max(1)).on(path);
        let call = format!("GET {path}");
        let transport = |why: String| ClusterError::Transport { call: call.clone(), why };
        let request = Request::builder().method(Method::GET).uri(&path).body(Body::empty());
        let request = request.map_err(|error| transport(error.to_string()))?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        let Ok(answered) = tokio::time::timeout(self.deadline, self.client.send(request)).await else {
            return Err(ClusterError::Deadline { call, seconds: self.deadline.as_secs() });
        };
        let (parts, body) = answered.map_err(|error| transport(super::error_chain(&error)))?.into_parts();
        if !parts.status.is_success() {
            let body = body.collect().await.map_err(|error| transport(error.to_string()))?.to_bytes().to_vec();
            let (status, headers) = (parts.status.as_u16(), parts.headers);
            let refusal = Answer { status, headers, body, took: started.elapsed(), call };
            return Err(refusal.ok().err().unwrap_or_else(|| ClusterError::Client("no refusal".into())));
        }
        Ok(Watch { call, body, started, end: started + lasting, pending: Vec::new() })
    }
}

impl Watch {
    /// Returns the next event; `None` if none comes in time, or the watch has ended.
    pub async fn next(&mut self, within: Duration) -> Result<Option<Event>, ClusterError> {
        let end = self.end.min(Instant::now() + within);
        loop {
            if let Some(event) = self.read()? {
                return Ok(Some(event));
            }
            let left = end.saturating_duration_since(Instant::now());
            match tokio::time::timeout(left, self.body.frame()).await {
                Err(_) | Ok(None) => return Ok(None),
                Ok(Some(frame)) => {
                    let frame = frame.map_err(|error| self.failed(error.to_string()))?;
                    self.pending.extend(frame.into_data().unwrap_or_default());
                }
            }
        }
    }

    /// Takes one complete line from the received bytes.
    fn read(&mut self) -> Result<Option<Event>, ClusterError> {
        let Some(length) = self.pending.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line: Vec<u8> = self.pending.drain(..=length).collect();
        let mut event: Value =
            serde_json::from_slice(&line).map_err(|error| self.failed(format!("an event is not JSON: {error}")))?;
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        Ok(Some(Event { kind, object: event["object"].take(), after: self.started.elapsed() }))
    }

    fn failed(&self, why: String) -> ClusterError {
        ClusterError::Transport { call: self.call.clone(), why }
    }
}
