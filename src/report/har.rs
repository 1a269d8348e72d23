//! Requests to an endpoint as an HTTP archive, HAR 1.2, which browsers and proxies read.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::evidence::{Exchange, Outcome, Purpose, redacted_review};
use crate::subject::Crd;
use crdproof_schema::structural::{Schema, Secrets, redact_text};

/// The exchanges about one CRD.
#[derive(Debug, Clone, Copy)]
pub struct Wire<'a> {
    /// The CRD.
    pub crd: &'a Crd,
    /// Requests and responses, in order.
    pub exchanges: &'a [Exchange],
}

/// Writes an archive. Exchanges have no start time, so each starts when those before it have ended. Bodies are redacted
/// unless secrets may be shown; only then bodies that are not JSON are shown, too.
pub fn har(wires: &[Wire<'_>], url: &str, started: Timestamp, show_secrets: bool) -> String {
    let mut now = started;
    let mut entries = Vec::new();
    for wire in wires {
        let bodies = Bodies { crd: wire.crd, hidden: (!show_secrets).then(|| Hidden::of(wire)) };
        for exchange in wire.exchanges {
            entries.push(entry(&bodies, exchange, url, now));
            now = now.checked_add(Duration::from_micros(exchange.micros)).unwrap_or(now);
        }
    }
    let creator = json!({"name": "crdproof", "version": env!("CARGO_PKG_VERSION")});
    let log = json!({"version": "1.2", "creator": creator, "pages": [], "entries": entries,
        "comment": "Requests of the webhook family. Each begins when those before it took their time."});
    format!("{:#}\n", json!({ "log": log }))
}

/// The redaction of bodies.
struct Bodies<'a> {
    crd: &'a Crd,
    /// The secrets to redact; `None` if secrets may be shown.
    hidden: Option<Hidden>,
}

/// The secrets in the exchanges about a CRD.
struct Hidden {
    secrets: Secrets,
    /// Secrets that were sent; an endpoint may repeat them in messages.
    values: BTreeSet<String>,
}

impl Hidden {
    fn of(wire: &Wire<'_>) -> Self {
        let (secrets, mut values) = (wire.crd.secrets(), BTreeSet::new());
        for exchange in wire.exchanges {
            for object in exchange.review()["request"]["objects"].as_array().into_iter().flatten() {
                let version = object["apiVersion"].as_str().and_then(|own| own.split_once('/'));
                secrets.collect(schema(wire.crd, version.map(|(_, version)| version)), object, &mut values);
            }
        }
        Self { secrets, values }
    }
}

fn schema<'c>(crd: &'c Crd, version: Option<&str>) -> Option<&'c Schema> {
    crd.version(version?)?.schema.as_ref()
}

impl Bodies<'_> {
    /// A redacted body, and a comment if it is left out.
    fn text(&self, body: &str) -> (String, &'static str) {
        let Some(Hidden { secrets, values }) = &self.hidden else { return (body.to_owned(), "") };
        match redacted_review(body, &|version, object| secrets.redact(schema(self.crd, version), object)) {
            Some(review) => (redact_text(&review.to_string(), values), ""),
            None if body.is_empty() => (String::new(), ""),
            None => (String::new(), "left out: it is not JSON, so secrets in it cannot be recognised"),
        }
    }

    /// Words of the endpoint, as they may be shown.
    fn words(&self, text: &str) -> String {
        self.hidden.as_ref().map_or_else(|| text.to_owned(), |hidden| redact_text(text, &hidden.values))
    }
}

fn entry(bodies: &Bodies<'_>, exchange: &Exchange, url: &str, begun: Timestamp) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "nobody waits for longer than a double counts exactly")]
    let millis = exchange.micros as f64 / 1000.0;
    let (sent, comment) = bodies.text(&exchange.sent);
    let mut request = json!({"method": exchange.method, "url": url, "httpVersion": "HTTP/1.1", "cookies": [],
        "headers": [{"name": "Content-Type", "value": "application/json"}, {"name": "Accept", "value": "application/json, */*"}],
        "queryString": [], "headersSize": -1, "bodySize": exchange.sent.len()});
    if !exchange.sent.is_empty() {
        request["postData"] = json!({"mimeType": "application/json", "text": sent, "comment": comment});
    }
    json!({"startedDateTime": begun.to_string(), "time": millis, "request": request, "response": response(bodies, exchange),
        "cache": {}, "timings": {"send": 0, "wait": millis, "receive": 0},
        "comment": format!("{}: {}", bodies.crd.name, purpose_text(&exchange.ask))})
}

fn response(bodies: &Bodies<'_>, exchange: &Exchange) -> Value {
    let response = |status: u16, headers: Value, content: Value, size: i64, comment: &str| {
        json!({"status": status, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [], "headers": headers,
            "content": content, "redirectURL": "", "headersSize": -1, "bodySize": size, "comment": comment})
    };
    match &exchange.outcome {
        // Like a request without a response in browsers.
        Outcome::Met(_) => response(0, json!([]), json!({"size": 0, "mimeType": "x-unknown"}), -1, "a handshake"),
        Outcome::Failed(why) => {
            response(0, json!([]), json!({"size": 0, "mimeType": "x-unknown"}), -1, &bodies.words(why))
        }
        Outcome::Answered { status, content_type, body } => {
            let (text, comment) = bodies.text(body);
            let kind = content_type.as_deref().map(|kind| bodies.words(kind));
            let headers: Vec<Value> = kind.iter().map(|kind| json!({"name": "Content-Type", "value": kind})).collect();
            let content = json!({"size": body.len(), "mimeType": kind.as_deref().unwrap_or("x-unknown"), "text": text});
            response(*status, json!(headers), content, i64::try_from(body.len()).unwrap_or(-1), comment)
        }
    }
}

/// Returns the purpose of a request as text.
fn purpose_text(ask: &Purpose) -> String {
    match ask {
        Purpose::Repeated => "one conversion many times".into(),
        Purpose::Conversion => "a conversion".into(),
        Purpose::Concurrent(_) => "a conversion among others".into(),
        Purpose::EmptyBatch => "no objects".into(),
        Purpose::MixedBatch => "objects of every version".into(),
        Purpose::LargeBatch => "a page of objects".into(),
        Purpose::SameVersion => "an object that has the desired version".into(),
        Purpose::ReviewVersion(version) => format!("a review of {version}"),
        Purpose::NewerReview => "a review of a newer server".into(),
        Purpose::UnknownVersion => "a version that does not exist".into(),
        Purpose::Malformed(what) => format!("malformed: {what}"),
        Purpose::Afterwards => "a conversion after what was malformed".into(),
        Purpose::Method => "another method".into(),
        Purpose::Certificate => "the certificate".into(),
    }
}
