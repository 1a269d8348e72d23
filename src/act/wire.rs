//! Requests that show how an endpoint handles the protocol.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::converter::endpoint::{Endpoint, Request};
use crate::converter::review::request as review;
use crate::evidence::{Exchange, Outcome, Purpose};
use crate::subject::Crd;

/// As many objects as a page of a list contains.
const PAGE: usize = 500;

/// The number of concurrent copies of a request.
const CONCURRENT_COPIES: usize = 16;

/// The number of repetitions of one request to measure its duration, and their time limit.
const REPETITIONS: usize = 60;
const REPEAT_TIMEOUT: Duration = Duration::from_secs(8);

/// The depth of a hostile document, at which recursive decoders fail or crash.
const DEPTH: usize = 20_000;

/// Sends everything that the wire checks look at. Objects are of any version of the CRD; at least one is
/// needed for most questions. Ends early where the endpoint hangs, or `is_over` says so.
pub fn probe(endpoint: &dyn Endpoint, crd: &Crd, objects: &[Value], is_over: &dyn Fn() -> bool) -> Vec<Exchange> {
    let mut sender = Sender { endpoint, is_over, exchanges: handshake(endpoint, crd).into_iter().collect() };
    let _ended_early = sender.send_all(crd, objects);
    sender.exchanges
}

/// Sends requests as long as that makes sense, and records them.
struct Sender<'s> {
    endpoint: &'s dyn Endpoint,
    is_over: &'s dyn Fn() -> bool,
    exchanges: Vec<Exchange>,
}

impl Sender<'_> {
    /// Sends everything. `None` where it ended early.
    fn send_all(&mut self, crd: &Crd, objects: &[Value]) -> Option<()> {
        let versions: Vec<String> =
            crd.versions.iter().map(|version| format!("{}/{}", crd.group, version.name)).collect();
        let known = self.send_to_every_version(&versions, objects)?;
        let (first, other) = convertible(&self.exchanges, &known, &versions)?;
        let alone = std::slice::from_ref(&first);
        for offered in review_versions(crd) {
            let review = review(&offered, &other, alone);
            self.send_review(Purpose::ReviewVersion(offered), &review)?;
        }
        self.send_review(Purpose::EmptyBatch, &review("v1", &other, &[]))?;
        for (desired, batch) in mixed_batches(&versions, &known) {
            self.send_review(Purpose::MixedBatch, &review("v1", &desired, &batch))?;
        }
        self.send_review(Purpose::LargeBatch, &review("v1", &other, &renamed(alone, PAGE)))?;
        self.send_review(Purpose::SameVersion, &review("v1", &version_of(&first), alone))?;
        self.send_review(Purpose::UnknownVersion, &review("v1", &format!("{}/v999", crd.group), alone))?;
        let mut newer = review("v1", &other, alone);
        newer["request"]["sentBy"] = json!("a newer server");
        newer["response"] = json!({"uid": "", "convertedObjects": null, "result": {"metadata": {}}});
        self.send_review(Purpose::NewerReview, &newer)?;
        for (what, body) in malformed(&other, &first) {
            self.send(Purpose::Malformed(what.into()), &Request::post(body))?;
        }
        let good = Request::post(review("v1", &other, alone).to_string());
        self.send(Purpose::Afterwards, &good)?;
        self.repeat(&good)?;
        self.send(Purpose::Method, &Request::get())?;
        self.send_together();
        Some(())
    }

    /// Sends a request, and returns what came of it. `None` where nothing more is to be sent.
    fn send(&mut self, ask: Purpose, request: &Request) -> Option<&Exchange> {
        let (outcome, took) = self.endpoint.send(request);
        self.exchanges.push(recorded(ask, request, outcome, took));
        self.exchanges.last().filter(|_| !self.endpoint.hangs() && !(self.is_over)())
    }

    fn send_review(&mut self, ask: Purpose, review: &Value) -> Option<&Exchange> {
        self.send(ask, &Request::post(review.to_string()))
    }

    /// Converts every object to every other version, and returns objects of as many versions as there are. Those that
    /// came about here are converted, too: each has an answer that it got alone.
    fn send_to_every_version(&mut self, versions: &[String], objects: &[Value]) -> Option<Vec<Value>> {
        let mut known: Vec<Value> = objects.iter().map(identified).collect();
        let mut next = 0;
        while let Some(object) = known.get(next).cloned() {
            next += 1;
            for version in versions.iter().filter(|version| object["apiVersion"] != version.as_str()) {
                let review = review("v1", version, std::slice::from_ref(&object));
                let exchange = self.send_review(Purpose::Conversion, &review)?;
                let seen = |known: &[Value]| known.iter().any(|known| known["apiVersion"] == version.as_str());
                if let Some(converted) = exchange.converted().ok().and_then(|converted| converted.into_iter().next())
                    && converted["apiVersion"] == version.as_str()
                    && !seen(&known)
                {
                    known.push(converted);
                }
            }
        }
        Some(known)
    }

    /// Sends one request often enough to tell how long answers take.
    fn repeat(&mut self, request: &Request) -> Option<()> {
        let end = Instant::now() + REPEAT_TIMEOUT;
        for _ in 0..REPETITIONS {
            let repeated = self.send(Purpose::Repeated, request)?;
            if !matches!(repeated.outcome, Outcome::Answered { .. }) || Instant::now() >= end {
                break;
            }
        }
        Some(())
    }

    /// Sends the plain conversions again, among each other.
    fn send_together(&mut self) {
        let is_alone = |index: &usize| self.exchanges[*index].ask == Purpose::Conversion;
        let alone: Vec<usize> = (0..self.exchanges.len()).filter(is_alone).collect();
        let count = if alone.is_empty() { 0 } else { CONCURRENT_COPIES };
        let chosen: Vec<usize> = alone.into_iter().cycle().take(count).collect();
        let requests: Vec<Request> =
            chosen.iter().map(|index| Request::post(self.exchanges[*index].sent.clone())).collect();
        let answers = self.endpoint.send_together(&requests);
        for ((index, request), (outcome, took)) in chosen.iter().zip(&requests).zip(answers) {
            self.exchanges.push(recorded(Purpose::Concurrent(*index), request, outcome, took));
        }
    }
}

/// Returns the transport that an API server with this CRD uses.
fn handshake(endpoint: &dyn Endpoint, crd: &Crd) -> Option<Exchange> {
    let bundle = crd.conversion.client.as_ref().and_then(|client| client.ca_bundle.as_ref());
    // Another check reports a bundle that cannot be read.
    let bundle = bundle.and_then(|(text, _)| STANDARD.decode(text.split_whitespace().collect::<String>()).ok());
    let transport = endpoint.transport(bundle.as_deref())?;
    let nothing = Request { method: "", body: Bytes::new() };
    Some(recorded(Purpose::Certificate, &nothing, Outcome::Met(Box::new(transport)), Duration::ZERO))
}

/// An object as a server sends it: with a name and a uid.
fn identified(object: &Value) -> Value {
    let mut object = object.clone();
    if object["metadata"]["name"].is_null() {
        object["metadata"]["name"] = json!("probe");
    }
    object["metadata"]["uid"] = json!("7c9e6679-7425-40de-944b-e07fc1f90ae7");
    object
}

/// This many copies, each with a different name and uid.
fn renamed(objects: &[Value], count: usize) -> Vec<Value> {
    let copies = objects.iter().cycle().take(count).enumerate().map(|(index, object)| {
        let mut copy = object.clone();
        copy["metadata"]["name"] = json!(format!("probe-{index}"));
        copy["metadata"]["uid"] = json!(format!("7c9e6679-7425-40de-944b-{index:012x}"));
        copy
    });
    copies.collect()
}

fn version_of(object: &Value) -> String {
    object["apiVersion"].as_str().unwrap_or_default().to_owned()
}

/// Returns an object and a version that it was converted to; if nothing was, any object and another version.
fn convertible(exchanges: &[Exchange], known: &[Value], versions: &[String]) -> Option<(Value, String)> {
    let converted =
        exchanges.iter().filter(|exchange| exchange.ask == Purpose::Conversion && exchange.converted().is_ok());
    let shown = converted.map(Exchange::review).find_map(|review| {
        let object = review.pointer("/request/objects/0")?.clone();
        Some((object, review.pointer("/request/desiredAPIVersion")?.as_str()?.to_owned()))
    });
    shown.or_else(|| {
        let first = known.first()?;
        Some((first.clone(), versions.iter().find(|version| **version != version_of(first))?.clone()))
    })
}

/// Returns batches of objects of several versions, each in both orders, with the desired version. API servers send no
/// object that already has it, so two versions alone are never mixed.
fn mixed_batches(versions: &[String], known: &[Value]) -> Vec<(String, Vec<Value>)> {
    let mut batches = Vec::new();
    for desired in versions {
        // The largest object of a version shows most.
        let of = |version: &String| {
            let own = known.iter().filter(|object| version_of(object) == *version);
            own.max_by_key(|object| object.to_string().len()).cloned()
        };
        let others: Vec<Value> = versions.iter().filter(|version| *version != desired).filter_map(of).collect();
        if others.len() > 1 {
            let batch = renamed(&others, others.len().max(4));
            batches.push((desired.clone(), batch.iter().rev().cloned().collect()));
            batches.push((desired.clone(), batch));
        }
    }
    batches
}

/// The review versions that the CRD offers and that exist.
fn review_versions(crd: &Crd) -> Vec<String> {
    let offered = crd.conversion.review_versions.iter().map(|(name, _)| name.clone());
    offered.filter(|name| name == "v1" || name == "v1beta1").collect()
}

fn malformed(desired: &str, object: &Value) -> Vec<(&'static str, Vec<u8>)> {
    let good = review("v1", desired, std::slice::from_ref(object));
    let mut no_request = good.clone();
    no_request["request"] = Value::Null;
    let mut no_objects = good.clone();
    no_objects["request"]["objects"] = Value::Null;
    let mut no_object = good.clone();
    no_object["request"]["objects"] = json!([null]);
    let mut foreign = good.clone();
    foreign["request"]["objects"] = json!([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}}]);
    let text = good.to_string();
    let deep = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    vec![
        ("no body", Vec::new()),
        ("no JSON", b"\x00\x01 this is not JSON".to_vec()),
        ("cut off in the middle", text.as_bytes()[..text.len() / 2].to_vec()),
        ("nested without end", deep.into_bytes()),
        ("no request", no_request.to_string().into_bytes()),
        ("no objects", no_objects.to_string().into_bytes()),
        ("a null for an object", no_object.to_string().into_bytes()),
        ("an object of another kind", foreign.to_string().into_bytes()),
    ]
}

fn recorded(ask: Purpose, request: &Request, outcome: Outcome, took: Duration) -> Exchange {
    Exchange {
        ask,
        method: request.method.to_owned(),
        sent: String::from_utf8_lossy(&request.body).into_owned(),
        outcome,
        micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
    }
}
