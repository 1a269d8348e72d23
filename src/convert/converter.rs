//! A converter as laws see it: many objects in, one answer for each.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use super::endpoint::{Endpoint, Request};
use super::{Declared, declared, review};
use crate::field_map::Relation;
use crate::observe::{Answer, Ask, Exchange, Outcome, Reply};
use crate::schema;
use crate::subject::{Crd, Subject};

/// So many requests in a row without any answer mean that nobody is there any more.
const PATIENCE: usize = 8;

/// A request that takes longer and has no answer counts for several, so that a converter that hangs is given up sooner.
const SLOW: Duration = Duration::from_secs(2);

/// The converter of one CRD.
pub struct Converter<'a> {
    crd: &'a Crd,
    way: Way<'a>,
    silence: AtomicUsize,
    stopped: OnceLock<String>,
    times: Mutex<BTreeMap<usize, Vec<u64>>>,
}

/// How it converts.
enum Way<'a> {
    /// The API server rewrites `apiVersion` and prunes.
    None,
    /// The declared field maps, compiled once for all objects.
    FieldMap(Box<Relation<'a>>),
    /// Something that answers reviews.
    Endpoint(&'a dyn Endpoint),
}

impl<'a> Converter<'a> {
    /// The converter of a CRD, or why there is none to ask. The endpoint is what answers the subject's reviews.
    pub fn of(subject: &'a Subject, crd: &'a Crd, endpoint: Option<&'a dyn Endpoint>) -> Result<Self, String> {
        let way = match (declared(subject, crd)?, endpoint) {
            (Declared::None, _) => Way::None,
            (Declared::FieldMap, _) => Way::FieldMap(Box::new(subject.relation_of(crd)?)),
            (_, Some(endpoint)) => Way::Endpoint(endpoint),
            (_, None) => return Err("its converter could not be opened".into()),
        };
        Ok(Self::new(crd, way))
    }

    /// A CRD whose reviews are answered by an endpoint.
    pub fn asking(crd: &'a Crd, endpoint: &'a dyn Endpoint) -> Self {
        Self::new(crd, Way::Endpoint(endpoint))
    }

    fn new(crd: &'a Crd, way: Way<'a>) -> Self {
        Self { crd, way, silence: AtomicUsize::new(0), stopped: OnceLock::new(), times: Mutex::default() }
    }

    /// Converts one object. `Err` is the refusal, or what an API server dislikes about the answer.
    pub fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Value, String> {
        match self.convert_all(&[object], from, to).pop() {
            Some(Reply::Object(answer)) => Ok(answer.served.unwrap_or(answer.raw)),
            Some(Reply::Unusable(_, why) | Reply::Refused(why)) => Err(why),
            None => Err("nothing was converted".into()),
        }
    }

    /// Converts objects of one version to another; one reply for each, in order.
    pub fn convert_all(&self, objects: &[&Value], from: &str, to: &str) -> Vec<Reply> {
        if self.crd.version(to).is_none() {
            let reply = || Reply::Refused(format!("{} has no version {to}", self.crd.name));
            return objects.iter().map(|_| reply()).collect();
        }
        match &self.way {
            Way::None => objects.iter().map(|object| self.read(object, to, (*object).clone(), true)).collect(),
            Way::FieldMap(relation) => {
                let convert = |object: &&Value| match relation.convert(object, from, to) {
                    Ok(converted) => self.read(object, to, converted, true),
                    Err(refusal) => Reply::Refused(refusal.to_string()),
                };
                objects.iter().map(convert).collect()
            }
            Way::Endpoint(endpoint) => self.ask(*endpoint, objects, to),
        }
    }

    /// Why there is nobody to ask any more, where that is so.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.get().map(String::as_str)
    }

    /// How long answers took, in microseconds, by the number of objects in a review. Empty where nothing is sent.
    pub fn times(&self) -> BTreeMap<usize, Vec<u64>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks in one review. A review that fails as a whole is split, so that one object does not speak for all.
    fn ask(&self, endpoint: &dyn Endpoint, objects: &[&Value], to: &str) -> Vec<Reply> {
        if objects.is_empty() {
            return Vec::new();
        }
        let failure = match self.ask_together(endpoint, objects, to) {
            Ok(replies) => return replies,
            Err(failure) => failure,
        };
        let (first, second) = objects.split_at(objects.len() / 2);
        if first.is_empty() || self.stopped().is_some() {
            return objects.iter().map(|_| Reply::Refused(failure.clone())).collect();
        }
        let mut replies = self.ask(endpoint, first, to);
        replies.extend(self.ask(endpoint, second, to));
        replies
    }

    fn ask_together(&self, endpoint: &dyn Endpoint, objects: &[&Value], to: &str) -> Result<Vec<Reply>, String> {
        if let Some(why) = self.stopped() {
            return Err(why.to_owned());
        }
        let body = review::body(&format!("{}/{to}", self.crd.group), objects);
        let (outcome, took) = endpoint.send(&Request::post(body));
        self.note(&outcome, objects.len(), took);
        let exchange =
            Exchange { ask: Ask::Conversion, method: "POST".into(), sent: String::new(), outcome, micros: 0 };
        let converted = exchange.converted()?;
        if converted.len() != objects.len() {
            return Err(format!("{} objects were sent and {} came back", objects.len(), converted.len()));
        }
        Ok(objects.iter().zip(converted).map(|(object, raw)| self.read(object, to, raw, false)).collect())
    }

    fn note(&self, outcome: &Outcome, objects: usize, took: Duration) {
        match outcome {
            Outcome::Answered { .. } => {
                self.silence.store(0, Ordering::Relaxed);
                let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
                let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
                times.entry(objects).or_default().push(micros);
            }
            // Only a question about certificates is answered so.
            Outcome::Met(_) => {}
            Outcome::Failed(why) => {
                let weight = if took >= SLOW { PATIENCE / 2 } else { 1 };
                if self.silence.fetch_add(weight, Ordering::Relaxed) + weight >= PATIENCE {
                    self.stopped.get_or_init(|| why.clone());
                }
            }
        }
    }

    /// What an API server makes of an answer. Where the server itself converts, it writes `apiVersion`.
    fn read(&self, sent: &Value, to: &str, mut raw: Value, own: bool) -> Reply {
        if own {
            match raw.as_object_mut() {
                Some(fields) => drop(fields.insert("apiVersion".into(), format!("{}/{to}", self.crd.group).into())),
                // A document that is no object can pass for a sample of a CRD that names neither group nor kind.
                None => return Reply::Refused("this is no object".into()),
            }
        }
        match self.served(sent, to, &raw, own) {
            Ok(served) => Reply::Object(Answer { raw, served }),
            Err(why) => Reply::Unusable(raw, why),
        }
    }

    /// The object as it is served, where that is not the answer as it came; most are, so copies are made late.
    fn served(&self, sent: &Value, to: &str, raw: &Value, own: bool) -> Result<Option<Value>, String> {
        let mut metadata = None;
        if !own {
            let desired = format!("{}/{to}", self.crd.group);
            if raw["apiVersion"] != desired.as_str() {
                return Err(format!("apiVersion is {} instead of {desired:?}", raw["apiVersion"]));
            }
            for path in [&["kind"] as &[&str], &["metadata", "name"], &["metadata", "namespace"], &["metadata", "uid"]]
            {
                let (was, now) = (text(sent, path), text(raw, path));
                if was != now {
                    let name = path.join(".");
                    return Err(format!("{name} is {now:?} instead of {was:?}, so API servers refuse the answer"));
                }
            }
            metadata = restored(sent, raw)?;
        }
        let schema = self.crd.version(to).and_then(|version| version.schema.as_ref());
        if metadata.is_none() && schema::is_held(schema, raw) {
            return Ok(None);
        }
        let mut served = raw.clone();
        if let Some(metadata) = metadata {
            served["metadata"] = Value::Object(metadata);
        }
        schema::as_held(schema, &mut served);
        Ok((served != *raw).then_some(served))
    }
}

/// Absent, null and empty are the same to an API server here.
fn text<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    path.iter().try_fold(object, |object, name| object.get(name)).and_then(Value::as_str).unwrap_or_default()
}

/// What the answer takes from its own metadata; API servers put the rest back.
const ITS_OWN: [&str; 2] = ["labels", "annotations"];

/// The metadata of a converted object as an API server restores it; `None` where the answer has it so already.
fn restored(sent: &Value, raw: &Value) -> Result<Option<Map<String, Value>>, String> {
    let Some(own) = raw.get("metadata").and_then(Value::as_object) else {
        return Err("metadata is missing from the answer, and API servers insist on it, be it empty".into());
    };
    for name in ITS_OWN {
        match own.get(name) {
            Some(Value::Object(entries)) => {
                if let Some((key, value)) = entries.iter().find(|(_, value)| !value.is_string()) {
                    return Err(format!("metadata.{name}[{key:?}] is {value}, which is no string"));
                }
            }
            Some(Value::Null) | None => {}
            Some(other) => return Err(format!("metadata.{name} is {other}, which is no map")),
        }
    }
    let entries = || own.iter().filter(|(name, value)| ITS_OWN.contains(&name.as_str()) && !value.is_null());
    let none = Map::new();
    let sent = sent.get("metadata").and_then(Value::as_object).unwrap_or(&none);
    let others = || sent.iter().filter(|(name, _)| !ITS_OWN.contains(&name.as_str()));
    let as_it_came =
        own.len() == entries().count() + others().count() && others().all(|(name, value)| own.get(name) == Some(value));
    if as_it_came {
        return Ok(None);
    }
    Ok(Some(others().chain(entries()).map(|(name, value)| (name.clone(), value.clone())).collect()))
}

impl std::fmt::Debug for Converter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Converter").field("crd", &self.crd.name).finish_non_exhaustive()
    }
}
