//! Endpoints that answer reviews.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::evidence::{Outcome, Transport};

/// A request to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `POST`, except for requests that test other methods.
    pub method: &'static str,
    /// The body; clones share it.
    pub body: Bytes,
}

impl Request {
    /// A request that posts a JSON body.
    pub fn post(body: impl Into<Bytes>) -> Self {
        Self { method: "POST", body: body.into() }
    }

    /// A request that is not a review, to see if anything answers.
    pub fn get() -> Self {
        Self { method: "GET", body: Bytes::new() }
    }
}

/// An endpoint that answers reviews: a webhook, a command, a function.
pub trait Endpoint: Send + Sync {
    /// Sends one request, and returns the outcome and its duration. Never waits forever.
    fn send(&self, request: &Request) -> (Outcome, Duration);

    /// Returns whether it let so many requests time out that it is not asked again.
    fn hangs(&self) -> bool {
        false
    }

    /// Returns how it was met, seen with the authorities that it was given or else with those of a CRD's `caBundle`, in
    /// PEM. Nothing where nothing is met.
    fn transport(&self, _bundle: Option<&[u8]>) -> Option<Transport> {
        None
    }

    /// Sends requests concurrently, if the endpoint supports it. Responses are in the order of the requests.
    fn send_together(&self, requests: &[Request]) -> Vec<(Outcome, Duration)> {
        std::thread::scope(|scope| {
            let sent: Vec<_> = requests.iter().map(|request| scope.spawn(|| self.send(request))).collect();
            let lost = || (Outcome::Failed("the endpoint panicked".into()), Duration::ZERO);
            sent.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
        })
    }
}

/// An endpoint that replaces the subject's own converter.
#[derive(Clone)]
pub struct ReplacementEndpoint(pub std::sync::Arc<dyn Endpoint>);

impl std::fmt::Debug for ReplacementEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stand")
    }
}

/// A function of this process as an endpoint: a body in, status and body out.
pub struct Function<F>(pub F);

impl<F: Fn(&Request) -> (u16, Vec<u8>) + Send + Sync> Endpoint for Function<F> {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let started = Instant::now();
        let (status, body) = self.0(request);
        let body = String::from_utf8_lossy(&body).into_owned();
        let outcome = Outcome::Answered { status, content_type: Some("application/json".into()), body };
        (outcome, started.elapsed())
    }
}
