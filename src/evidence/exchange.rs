//! One request to a converter's endpoint, and its response, unchanged.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Transport, read_json};
use crdproof_schema::text::truncate;

/// Maximum number of characters of a refusal that are kept, because there may be one for each object.
const MAX_MESSAGE: usize = 4000;

/// The beginning of every reason why a request timed out.
pub const NO_ANSWER: &str = "no answer within";

/// The beginning of every reason why an answer was too large for its request.
pub const OUT_OF_PROPORTION: &str = "the answer is out of proportion";

/// So many objects, and so many times more than were sent, are no mistake about one of them.
const MANY_OBJECTS: usize = 1000;
const MANY_TIMES: usize = 100;

/// Returns why an answer with this many objects is out of proportion to its request, where it is.
pub(crate) fn out_of_proportion(sent: usize, answered: usize) -> Option<String> {
    let is_more = answered > MANY_OBJECTS && answered / MANY_TIMES > sent;
    is_more.then(|| format!("{OUT_OF_PROPORTION}: {answered} objects for {sent}"))
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exchange {
    /// The purpose of the request.
    pub ask: Purpose,
    /// The method.
    pub method: String,
    /// The body that was sent.
    pub sent: String,
    /// The outcome of the request.
    pub outcome: Outcome,
    /// The time from the start of the request to the end of the response, in microseconds.
    pub micros: u64,
}

/// The purpose of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Purpose {
    /// A plain conversion.
    Conversion,
    /// The same conversion while others are in flight; the number is that of the exchange that was sent alone.
    Concurrent(usize),
    /// No objects at all.
    EmptyBatch,
    /// Objects of every version at once.
    MixedBatch,
    /// As many objects as a page of a list contains.
    LargeBatch,
    /// An object that already has the desired version.
    SameVersion,
    /// A review of this version.
    ReviewVersion(String),
    /// A review with fields that a newer server may send.
    NewerReview,
    /// A version that does not exist.
    UnknownVersion,
    /// A malformed review, named by its defect.
    Malformed(String),
    /// A plain conversion after all malformed reviews.
    Afterwards,
    /// A plain conversion, one of many that measure response times.
    Repeated,
    /// A method other than POST.
    Method,
    /// The certificate, read before any request.
    Certificate,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Outcome {
    /// A response, whatever its content.
    Answered {
        /// The status code.
        status: u16,
        /// The media type, if the response has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
        /// The body.
        body: String,
    },
    /// No response, and why.
    Failed(String),
    /// No response was requested; this is the transport.
    Met(Box<Transport>),
}

/// The reason why an exchange gave no converted objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotConverted {
    /// The converter refused, with a reason.
    #[error("{0}")]
    Refused(String),
    /// The response is not usable by an API server.
    #[error("{0}")]
    Failed(String),
}

/// A body with the objects of its review redacted by version. `None` if it is not JSON: it may be a part of an object,
/// in which secrets cannot be recognised.
pub fn redacted_review(body: &str, redact: &dyn Fn(Option<&str>, &Value) -> Value) -> Option<Value> {
    let mut review: Value = read_json(body.as_bytes()).ok()?;
    for pointer in ["/request/objects", "/response/convertedObjects"] {
        for object in review.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten() {
            let version = object["apiVersion"].as_str().and_then(|own| own.split_once('/')).map(|(_, version)| version);
            *object = redact(version, object);
        }
    }
    Some(redact(None, &review))
}

impl Exchange {
    /// The review that was sent; null if the request was not a review.
    pub fn review(&self) -> Value {
        read_json(self.sent.as_bytes()).unwrap_or_default()
    }

    /// The response as an API server reads it: status 200 and a JSON document. `Err` describes any other response.
    pub fn answer(&self) -> Result<Value, String> {
        match &self.outcome {
            Outcome::Failed(why) => Err(why.clone()),
            Outcome::Met(_) => Err("no request was sent".into()),
            Outcome::Answered { status: 200, body, .. } => {
                read_json(body.as_bytes()).map_err(|error| format!("HTTP 200 with a body that is not JSON ({error})"))
            }
            Outcome::Answered { status, .. } => Err(format!("HTTP {status}")),
        }
    }

    /// The converted objects, if the response says `Success`.
    pub fn converted(&self) -> Result<Vec<Value>, NotConverted> {
        let mut answer = self.answer().map_err(NotConverted::Failed)?;
        let response = &answer["response"];
        match response["result"]["status"].as_str() {
            Some("Success") => match answer.pointer_mut("/response/convertedObjects").map(Value::take) {
                // A request is read again only where that matters.
                Some(Value::Array(objects)) if objects.len() > MANY_OBJECTS && !self.sent.is_empty() => {
                    let sent = self.review()["request"]["objects"].as_array().map_or(0, Vec::len);
                    out_of_proportion(sent, objects.len()).map_or(Ok(objects), |why| Err(NotConverted::Failed(why)))
                }
                Some(Value::Array(objects)) => Ok(objects),
                _ => Ok(Vec::new()),
            },
            Some(_) => {
                let message = response["result"]["message"].as_str().unwrap_or("without a message");
                Err(NotConverted::Refused(format!("Failure: {}", truncate(message, MAX_MESSAGE))))
            }
            None => {
                let why = "an answer without result.status, which API servers take for a failure";
                Err(NotConverted::Failed(why.into()))
            }
        }
    }
}
