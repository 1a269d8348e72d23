//! One request to a converter's endpoint, and what came back, as it was.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Transport, read_json};
use crdproof_schema::text::truncate;

/// The number of characters of a refusal that are kept: nobody reads more, and there are as many as objects.
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
    /// What the request was to find out.
    pub ask: Purpose,
    /// The method.
    pub method: String,
    /// The body that was sent.
    pub sent: String,
    /// The outcome of a request.
    pub outcome: Outcome,
    /// From the request's start to the answer's end, in microseconds.
    pub micros: u64,
}

/// The purpose of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Purpose {
    /// A plain conversion.
    Conversion,
    /// The same conversion while others are in flight; the number is that of the exchange that was alone.
    Concurrent(usize),
    /// No objects at all.
    EmptyBatch,
    /// Objects of every version at once.
    MixedBatch,
    /// As many objects as a page of a list has.
    LargeBatch,
    /// An object that has the desired version already.
    SameVersion,
    /// A review of this version.
    ReviewVersion(String),
    /// A review with fields that a newer server may send.
    NewerReview,
    /// A version that does not exist.
    UnknownVersion,
    /// Something that is not a proper review, named by what is wrong with it.
    Malformed(String),
    /// A plain conversion after everything that is malformed.
    Afterwards,
    /// A plain conversion, one of many that show how long answers take.
    Repeated,
    /// Another method than POST.
    Method,
    /// What the endpoint shows before it is asked.
    Certificate,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Outcome {
    /// An answer, whatever it says.
    Answered {
        /// The status code.
        status: u16,
        /// The media type, where one is stated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
        /// The body.
        body: String,
    },
    /// No answer, and why.
    Failed(String),
    /// No answer was asked for; this is how the endpoint was met.
    Met(Box<Transport>),
}

/// The reason why an exchange gave no converted objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotConverted {
    /// The converter refused and said why.
    #[error("{0}")]
    Refused(String),
    /// Nothing came back that an API server could use.
    #[error("{0}")]
    Failed(String),
}

/// A body with the objects of its review as they may be shown, by version. `None` where it is not JSON: that may be a
/// piece of an object, and its secrets cannot be told from the rest.
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
    /// The review that was sent; null where it was none.
    pub fn review(&self) -> Value {
        read_json(self.sent.as_bytes()).unwrap_or_default()
    }

    /// The answer as an API server reads it: status 200 and a JSON document. `Err` says what else came.
    pub fn answer(&self) -> Result<Value, String> {
        match &self.outcome {
            Outcome::Failed(why) => Err(why.clone()),
            Outcome::Met(_) => Err("nothing was asked".into()),
            Outcome::Answered { status: 200, body, .. } => {
                read_json(body.as_bytes()).map_err(|error| format!("HTTP 200 with a body that is not JSON ({error})"))
            }
            Outcome::Answered { status, .. } => Err(format!("HTTP {status}")),
        }
    }

    /// The converted objects, where the answer says `Success`.
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
