//! The conversion proxy: a listener that forwards reviews to a converter, records them, and fails on request.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::{Answering, Call, Handler, Listener, Reply};
use crate::converter::endpoint::{Endpoint, Request};
use crate::evidence::{ObservedReview, Outcome};
use crdproof_envtest::{ClusterError, HostAccess};

/// A fault of the proxy, instead of forwarding a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Refuses every review with this message.
    Refuse(String),
    /// Refuses reviews to this version.
    Towards(String),
    /// Refuses reviews with an object of this name.
    Object(String),
    /// Delays reviews to a version.
    Late {
        /// The version.
        towards: String,
        /// The delay.
        by: Duration,
    },
}

/// A listener between an API server and a converter.
#[derive(Debug)]
pub struct ConversionProxy {
    listener: Listener,
    state: Arc<State>,
}

struct State {
    converter: Arc<dyn Endpoint>,
    log: Mutex<Vec<ObservedReview>>,
    fault: Mutex<Option<Fault>>,
    /// The number of reviews that started, and those without a response yet.
    begun: AtomicU64,
    pending: Mutex<BTreeSet<u64>>,
}

impl ConversionProxy {
    /// Listens on an address that an API server can reach, and forwards reviews.
    pub async fn start(access: &HostAccess, converter: Arc<dyn Endpoint>) -> Result<Self, ClusterError> {
        let state = Arc::new(State {
            converter,
            log: Mutex::default(),
            fault: Mutex::default(),
            begun: AtomicU64::new(0),
            pending: Mutex::default(),
        });
        let listener = Listener::start(access, ForwardingHandler(Arc::clone(&state))).await?;
        Ok(Self { listener, state })
    }

    /// A CRD whose conversion goes through this proxy.
    pub fn redirect(&self, crd: &Value) -> Value {
        self.listener.redirect(crd)
    }

    /// Applies a fault from now on; `None` ends it.
    pub fn fail(&self, fault: Option<Fault>) {
        *self.state.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Returns the number of reviews so far.
    pub fn count(&self) -> usize {
        self.state.log.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The reviews after the first `count`.
    pub fn since(&self, count: usize) -> Vec<ObservedReview> {
        let log = self.state.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.get(count..).unwrap_or_default().to_vec()
    }

    /// The numbers of reviews without a response yet.
    pub fn pending(&self) -> BTreeSet<u64> {
        self.state.pending.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops listening.
    pub async fn stop(self) {
        self.listener.stop().await;
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

/// Answers by calling the converter, on a thread that may block.
struct ForwardingHandler(Arc<State>);

impl Handler for ForwardingHandler {
    fn answer(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move {
            let state = Arc::clone(&self.0);
            // Choose the fault before the review counts as pending, so that an observer of pending reviews knows their
            // fate.
            let fault = state.fault.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let under_way = PendingReview::of(&self.0);
            let passed = tokio::task::spawn_blocking(move || forward(&state, fault, &call)).await;
            drop(under_way);
            passed.unwrap_or_else(|error| Reply::text(500, format!("the converter panicked: {error}")))
        })
    }
}

/// A review without a response yet. It ends when it is dropped, also if the server disconnects.
struct PendingReview(Arc<State>, u64);

impl PendingReview {
    fn of(state: &Arc<State>) -> Self {
        let number = state.begun.fetch_add(1, Ordering::Relaxed);
        state.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
        Self(Arc::clone(state), number)
    }
}

impl Drop for PendingReview {
    fn drop(&mut self) {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

fn forward(state: &State, fault: Option<Fault>, call: &Call) -> Reply {
    let review: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    if let Some(Fault::Late { towards, by }) = &fault
        && is_towards(&review, towards)
    {
        std::thread::sleep(*by);
    }
    let reply = match fault.and_then(|fault| refusal(&fault, &review)) {
        Some(message) => failure(&review, &message),
        None => match state.converter.send(&Request::post(call.body.clone())).0 {
            Outcome::Answered { status, body, .. } => {
                Reply { status, content_type: "application/json", body: body.into_bytes() }
            }
            Outcome::Failed(why) => Reply::text(502, why),
            Outcome::Met(_) => Reply::text(502, "the converter answered nothing"),
        },
    };
    let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let answered = answer["response"]["result"]["status"] == "Success";
    state.log.lock().unwrap_or_else(PoisonError::into_inner).push(observed(&review, answered));
    reply
}

fn refusal(fault: &Fault, review: &Value) -> Option<String> {
    let request = &review["request"];
    let objects = request["objects"].as_array().into_iter().flatten();
    match fault {
        Fault::Refuse(message) => Some(message.clone()),
        Fault::Towards(version) => {
            is_towards(review, version).then(|| format!("conversion to {version} is refused on purpose"))
        }
        Fault::Late { .. } => None,
        Fault::Object(name) => {
            let mut names = objects.filter_map(|object| object["metadata"]["name"].as_str());
            names.any(|own| own == name).then(|| format!("conversion of {name} is refused on purpose"))
        }
    }
}

fn is_towards(review: &Value, version: &str) -> bool {
    let desired = review["request"]["desiredAPIVersion"].as_str().unwrap_or_default();
    desired.rsplit('/').next() == Some(version)
}

fn failure(review: &Value, message: &str) -> Reply {
    Reply::json(&serde_json::json!({
        "apiVersion": review["apiVersion"], "kind": "ConversionReview",
        "response": {"uid": review["request"]["uid"], "result": {"status": "Failure", "message": message}},
    }))
}

fn observed(review: &Value, answered: bool) -> ObservedReview {
    let request = &review["request"];
    let empty = Vec::new();
    let objects = request["objects"].as_array().unwrap_or(&empty);
    let version = |text: &Value| text.as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
    ObservedReview {
        from: objects.iter().map(|object| version(&object["apiVersion"])).collect(),
        to: version(&request["desiredAPIVersion"]),
        uids: objects.iter().map(|object| object["metadata"]["uid"].as_str().unwrap_or_default().to_owned()).collect(),
        metadata: objects.iter().all(|object| object["metadata"].is_object()),
        spec: objects.iter().all(|object| object["spec"].is_object()),
        answered,
    }
}
