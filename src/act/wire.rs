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

/// Sends all requests that the wire checks need. Objects may have any version of the CRD; most requests need at least
/// one.
pub fn probe(endpoint: &dyn Endpoint, crd: &Crd, objects: &[Value]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = handshake(endpoint, crd).into_iter().collect();
    let versions: Vec<String> = crd.versions.iter().map(|version| format!("{}/{}", crd.group, version.name)).collect();
    let known = every_version(endpoint, &versions, objects, &mut exchanges);
    let Some((first, other)) = convertible(&exchanges, &known, &versions) else {
        return exchanges;
    };
    let (first, other) = (&first, &other);
    let mut send = |ask: Purpose, review: &Value| {
        exchanges.push(exchange(endpoint, ask, &Request::post(review.to_string())));
    };
    for offered in review_versions(crd) {
        let review = review(&offered, other, std::slice::from_ref(first));
        send(Purpose::ReviewVersion(offered), &review);
    }
    send(Purpose::EmptyBatch, &review("v1", other, &[]));
    for (desired, batch) in mixed_batches(&versions, &known) {
        send(Purpose::MixedBatch, &review("v1", &desired, &batch));
    }
    send(Purpose::LargeBatch, &review("v1", other, &renamed(std::slice::from_ref(first), PAGE)));
    send(Purpose::SameVersion, &review("v1", &version_of(first), std::slice::from_ref(first)));
    send(Purpose::UnknownVersion, &review("v1", &format!("{}/v999", crd.group), std::slice::from_ref(first)));
    let mut newer = review("v1", other, std::slice::from_ref(first));
    newer["request"]["sentBy"] = json!("a newer server");
    newer["response"] = json!({"uid": "", "convertedObjects": null, "result": {"metadata": {}}});
    send(Purpose::NewerReview, &newer);

    for (what, body) in malformed(other, first) {
        exchanges.push(exchange(endpoint, Purpose::Malformed(what.into()), &Request::post(body)));
    }
    let good = review("v1", other, std::slice::from_ref(first)).to_string();
    exchanges.push(exchange(endpoint, Purpose::Afterwards, &Request::post(good.clone())));
    repeat(endpoint, &Request::post(good), &mut exchanges);
    exchanges.push(exchange(endpoint, Purpose::Method, &Request::get()));
    together(endpoint, &mut exchanges);
    exchanges
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

/// Converts every object to every other version, and returns objects of as many versions as possible. Converted objects
/// are converted, too, so that each has a response to a separate review.
fn every_version(
    endpoint: &dyn Endpoint,
    versions: &[String],
    objects: &[Value],
    exchanges: &mut Vec<Exchange>,
) -> Vec<Value> {
    let mut known: Vec<Value> = objects.iter().map(identified).collect();
    let mut next = 0;
    while let Some(object) = known.get(next).cloned() {
        next += 1;
        for version in versions.iter().filter(|version| object["apiVersion"] != version.as_str()) {
            let review = review("v1", version, std::slice::from_ref(&object));
            let exchange = exchange(endpoint, Purpose::Conversion, &Request::post(review.to_string()));
            let seen = |known: &[Value]| known.iter().any(|known| known["apiVersion"] == version.as_str());
            if let Some(converted) = exchange.converted().ok().and_then(|converted| converted.into_iter().next())
                && converted["apiVersion"] == version.as_str()
                && !seen(&known)
            {
                known.push(converted);
            }
            exchanges.push(exchange);
        }
    }
    known
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

/// Repeats one request to measure response times.
fn repeat(endpoint: &dyn Endpoint, request: &Request, exchanges: &mut Vec<Exchange>) {
    let end = Instant::now() + REPEAT_TIMEOUT;
    for _ in 0..REPETITIONS {
        let repeated = exchange(endpoint, Purpose::Repeated, request);
        let is_answered = matches!(repeated.outcome, Outcome::Answered { .. });
        exchanges.push(repeated);
        if !is_answered || Instant::now() >= end {
            break;
        }
    }
}

/// The review versions of the CRD that exist.
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

fn exchange(endpoint: &dyn Endpoint, ask: Purpose, request: &Request) -> Exchange {
    let (outcome, took) = endpoint.send(request);
    recorded(ask, request, outcome, took)
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

/// Sends the plain conversions again, concurrently.
fn together(endpoint: &dyn Endpoint, exchanges: &mut Vec<Exchange>) {
    let alone: Vec<usize> = (0..exchanges.len()).filter(|index| exchanges[*index].ask == Purpose::Conversion).collect();
    let chosen: Vec<usize> =
        alone.iter().copied().cycle().take(if alone.is_empty() { 0 } else { CONCURRENT_COPIES }).collect();
    let requests: Vec<Request> = chosen.iter().map(|index| Request::post(exchanges[*index].sent.clone())).collect();
    for ((index, request), (outcome, took)) in chosen.iter().zip(&requests).zip(endpoint.send_together(&requests)) {
        exchanges.push(recorded(Purpose::Concurrent(*index), request, outcome, took));
    }
}
