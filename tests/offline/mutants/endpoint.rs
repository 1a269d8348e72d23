//! A mutant as an endpoint: the correct conversion with faults around it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crdproof::converter::Converter;
use crdproof::converter::endpoint::{Endpoint, Request};
use crdproof::evidence::{NO_ANSWER, Outcome};
use crdproof::subject::{Crd, Subject};
use serde_json::{Value, json};

use super::change::change;
use super::model::{Call, Fault, Given, Sort, What};
use super::place::{annotate, annotation};

/// Answers reviews by the field map of a subject, with faults.
pub(super) struct Faulty {
    crd: &'static Crd,
    right: Converter<'static>,
    faults: Vec<Fault>,
    calls: AtomicU64,
    together: AtomicBool,
    before: Mutex<Option<Value>>,
}

/// The response that replaces a review.
enum Instead {
    Refusal(String),
    Outcome(Outcome),
}

impl Faulty {
    pub(super) fn new(subject: &'static Subject, faults: Vec<Fault>) -> Self {
        let crd = &subject.crds[0];
        let right = Converter::of(subject, crd, None).unwrap_or_else(|why| panic!("{why}"));
        let (calls, together, before) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::default());
        Self { crd, right, faults, calls, together, before }
    }

    fn answer(&self, request: &Request) -> Result<Value, Instead> {
        if request.method != "POST" {
            self.fail_call(|call| call.sort == Some(Sort::OtherMethod))?;
            return Err(http(405, "POST only"));
        }
        let mut parsed = serde_json::from_slice::<Value>(&request.body).ok();
        let objects = parsed.as_mut().and_then(|review| review.pointer_mut("/request/objects")).map(Value::take);
        let is_review = |review: &Value| review["kind"] == "ConversionReview";
        let review = parsed.filter(is_review).zip(objects);
        let Some((review, Value::Array(objects))) = review else {
            self.fail_call(|call| call.sort == Some(Sort::Malformed))?;
            return Err(http(400, "this is not a review"));
        };
        let count = objects.len();
        let newer = review["request"].get("sentBy").is_some() || review.get("response").is_some();
        let fits = |call: &Call| {
            let sort = match call.sort {
                None => true,
                Some(Sort::Together) => self.together.load(Ordering::Relaxed),
                Some(Sort::Empty) => count == 0,
                Some(Sort::Newer) => newer,
                Some(Sort::Refused | Sort::Malformed | Sort::OtherMethod) => false,
            };
            let version = call.review.as_ref().is_none_or(|version| review["apiVersion"] == version.as_str());
            sort && version && call.over.is_none_or(|over| count > over)
        };
        self.fail_call(|call| *call != Call::default() && call.every.is_none() && fits(call))?;
        let desired = review["request"]["desiredAPIVersion"].as_str().unwrap_or_default();
        let first = objects.first().and_then(|object| object["apiVersion"].as_str()).unwrap_or_default().to_owned();
        let like_first = self.faults.iter().any(|fault| matches!(fault.what, What::LikeFirst));
        let convert = |mut object: Value| {
            if like_first {
                object["apiVersion"] = json!(first);
            }
            self.convert(object, desired, &fits)
        };
        let converted: Result<Vec<Value>, Instead> = objects.into_iter().map(convert).collect();
        let (objects, refusal) = match converted {
            Ok(objects) => (Some(objects), None),
            Err(Instead::Refusal(message)) => (None, Some(message)),
            Err(outcome @ Instead::Outcome(_)) => return Err(outcome),
        };
        let refused = refusal.is_some();
        let result = refusal
            .map_or_else(|| json!({"status": "Success"}), |message| json!({"status": "Failure", "message": message}));
        let mut answer = json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview",
            "response": {"uid": review["request"]["uid"], "result": result}});
        if let Some(objects) = objects {
            // Moved, because there may be many objects.
            answer["response"]["convertedObjects"] = Value::Array(objects);
        }
        for fault in &self.faults {
            if fits(&fault.call) || (fault.call.sort == Some(Sort::Refused) && refused) {
                rewrite(&fault.what, &mut answer)?;
            }
            if let (What::Http(status, body), Some(Sort::Refused), true) = (&fault.what, fault.call.sort, refused) {
                return Err(http(*status, body));
            }
        }
        Ok(answer)
    }

    /// Applies the faults that end a call before anything is converted.
    fn fail_call(&self, fits: impl Fn(&Call) -> bool) -> Result<(), Instead> {
        let all = |fault: &&Fault| fault.from.is_empty() && fault.to.is_empty() && fault.given == Given::default();
        let mut faults = self.faults.iter().filter(all).filter(|fault| fits(&fault.call));
        faults.find_map(|fault| replacement(&fault.what)).map_or(Ok(()), Err)
    }

    /// Converts one object, with the faults that apply to it.
    fn convert(&self, object: Value, desired: &str, fits: &dyn Fn(&Call) -> bool) -> Result<Value, Instead> {
        let refused = |why: String| Instead::Refusal(why);
        let own = object["apiVersion"].as_str().unwrap_or_default();
        let (group, from) = own.split_once('/').ok_or_else(|| refused(format!("{own:?} is not a version")))?;
        let to = desired.strip_prefix(&format!("{}/", self.crd.group)).unwrap_or_default();
        if group != self.crd.group || object["kind"] != self.crd.names.kind.as_str() {
            return Err(refused(format!("{} of {own} is unknown here", object["kind"])));
        }
        if let Some(unknown) = [from, to].iter().find(|version| self.crd.version(version).is_none()) {
            return Err(refused(format!("there is no version {unknown:?}")));
        }
        let faults: Vec<&Fault> =
            self.faults.iter().filter(|fault| self.concerns(fault, &object, from, to, fits)).collect();
        if let Some(instead) = faults.iter().find_map(|fault| replacement(&fault.what)) {
            return Err(instead);
        }
        let mut input = std::borrow::Cow::Borrowed(&object);
        for fault in &faults {
            if let What::Rename { annotation: right, to: own } = &fault.what {
                rename(input.to_mut(), own, right);
            }
        }
        if from == to && faults.is_empty() {
            return Ok(object);
        }
        let mut output = if from == to {
            object.clone()
        } else {
            Value::clone(self.right.convert(&input, from, to).map_err(refused)?.served())
        };
        // Server-side apply requires metadata in the response.
        if output["metadata"].is_null() {
            output["metadata"] = json!({});
        }
        if faults.is_empty() {
            return Ok(output);
        }
        let mut before = self.before.lock().unwrap();
        for fault in faults {
            change(&fault.what, &object, before.as_ref(), to, &mut output);
            if let What::Rename { annotation: right, to: own } = &fault.what {
                rename(&mut output, right, own);
            }
        }
        *before = Some(output.clone());
        Ok(output)
    }

    fn concerns(&self, fault: &Fault, object: &Value, from: &str, to: &str, fits: &dyn Fn(&Call) -> bool) -> bool {
        let given = &fault.given;
        let versions = |all: &[String], one: &str| all.is_empty() || all.iter().any(|version| version == one);
        let above = given.above.as_ref().is_none_or(|(place, limit)| {
            let number = |value: &Value| value.as_i64().is_some_and(|number| number > *limit);
            place.values(object).iter().flatten().any(number)
        });
        let equal =
            given.equals.as_ref().is_none_or(|(place, value)| place.values(object).contains(&Some(value.clone())));
        let each_time = |every: u64| self.calls.fetch_add(1, Ordering::Relaxed) % every == every - 1;
        // Skip objects that already have the desired version unless a fault names both versions.
        let same = from != to || (!fault.from.is_empty() && !fault.to.is_empty());
        same && versions(&fault.from, from)
            && versions(&fault.to, to)
            && given.has.iter().all(|place| place.is_in(object))
            && !given.lacks.iter().any(|place| place.is_in(object))
            && equal
            && above
            && fits(&fault.call)
            && fault.call.every.is_none_or(each_time)
    }

    fn slowness(&self, request: &Request) -> Duration {
        let micros = self.faults.iter().map(|fault| if let What::Slow(micros) = fault.what { micros } else { 0 });
        let micros: u64 = micros.sum();
        if micros == 0 {
            return Duration::ZERO;
        }
        let review: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let objects = review["request"]["objects"].as_array().map_or(0, Vec::len) as u64;
        Duration::from_micros(micros * objects)
    }
}

fn http(status: u16, text: &str) -> Instead {
    let content_type = Some("text/plain".to_owned());
    Instead::Outcome(Outcome::Answered { status, content_type, body: text.to_owned() })
}

fn replacement(what: &What) -> Option<Instead> {
    match what {
        What::Refuse(message) => Some(Instead::Refusal(message.clone())),
        What::HangUp => Some(Instead::Outcome(Outcome::Failed("the connection was closed (EOF)".into()))),
        What::Hang => Some(Instead::Outcome(Outcome::Failed(format!("{NO_ANSWER} 30 s")))),
        What::Http(status, body) => Some(http(*status, body)),
        _ => None,
    }
}

/// Applies faults to a whole response.
fn rewrite(what: &What, answer: &mut Value) -> Result<(), Instead> {
    let objects = |answer: &mut Value, change: &dyn Fn(&mut Vec<Value>)| {
        if let Some(objects) = answer["response"]["convertedObjects"].as_array_mut() {
            change(objects);
        }
    };
    match what {
        What::Answer(pointer, value) => {
            if let Some(found) = answer.pointer_mut(pointer) {
                *found = value.clone();
            }
        }
        What::AnswerWithout(pointer) => {
            let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
            answer.pointer_mut(parent).and_then(Value::as_object_mut).map(|parent| parent.remove(name));
        }
        What::Backwards => objects(answer, &|objects| objects.reverse()),
        What::Only(count) => objects(answer, &|objects| objects.truncate(*count)),
        What::ContentType(media) => {
            let body = answer.to_string();
            let outcome = Outcome::Answered { status: 200, content_type: Some(media.clone()), body };
            return Err(Instead::Outcome(outcome));
        }
        _ => {}
    }
    Ok(())
}

fn rename(object: &mut Value, from: &str, to: &str) {
    if let Some(text) = annotation(object, from).map(str::to_owned) {
        annotate(object, from, None);
        annotate(object, to, Some(text.into()));
    }
}

impl Endpoint for Faulty {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let started = Instant::now();
        let json = Some("application/json".to_owned());
        let outcome = match self.answer(request) {
            Ok(answer) => Outcome::Answered { status: 200, content_type: json, body: answer.to_string() },
            Err(Instead::Outcome(outcome)) => outcome,
            Err(Instead::Refusal(message)) => {
                let review: Value = serde_json::from_slice(&request.body).unwrap_or_default();
                let result = json!({"status": "Failure", "message": message});
                let answer = json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview",
                    "response": {"uid": review["request"]["uid"], "result": result}});
                Outcome::Answered { status: 200, content_type: json, body: answer.to_string() }
            }
        };
        // Add the simulated delay to the measured time instead of sleeping.
        (outcome, started.elapsed() + self.slowness(request))
    }

    fn send_together(&self, requests: &[Request]) -> Vec<(Outcome, Duration)> {
        self.together.store(true, Ordering::Relaxed);
        let answers = requests.iter().map(|request| self.send(request)).collect();
        self.together.store(false, Ordering::Relaxed);
        answers
    }
}
