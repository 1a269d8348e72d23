//! A converter as checks use it: many objects in, one reply for each.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use super::endpoint::{Endpoint, Request};
use super::{Declared, declared, review};
use crate::evidence::{Answer, Exchange, NotConverted, Object, Outcome, Purpose, Reply, out_of_proportion};
use crate::subject::field_map::Relation;
use crate::subject::{Crd, Subject};
use crdproof_schema::structural;

/// The number of objects of a review after a larger one failed.
const RETRY_BATCH: usize = 8;

/// After this many consecutive requests without a response, the endpoint counts as unreachable.
const MAX_CONSECUTIVE_FAILURES: usize = 8;

/// An unanswered request that takes longer counts as several, so that a converter that hangs is given up sooner.
const SLOW_REQUEST: Duration = Duration::from_secs(2);

/// The converter of one CRD.
pub struct Converter<'a> {
    crd: &'a Crd,
    way: Way<'a>,
    silence: AtomicUsize,
    stopped: OnceLock<String>,
    times: Mutex<BTreeMap<usize, Vec<u64>>>,
}

/// The way of converting.
enum Way<'a> {
    /// The API server rewrites `apiVersion` and prunes.
    None,
    /// The declared field maps, compiled once for all objects.
    FieldMap(Box<Relation<'a>>),
    /// An endpoint that answers reviews.
    Endpoint(&'a dyn Endpoint),
}

impl<'a> Converter<'a> {
    /// The converter of a CRD, or the reason why there is none. `endpoint` answers the subject's reviews.
    pub fn of(subject: &'a Subject, crd: &'a Crd, endpoint: Option<&'a dyn Endpoint>) -> Result<Self, String> {
        let way = match (declared(subject, crd)?, endpoint) {
            (Declared::None, _) => Way::None,
            (Declared::FieldMap, _) => Way::FieldMap(Box::new(subject.relation_of(crd)?)),
            (_, Some(endpoint)) => Way::Endpoint(endpoint),
            (_, None) => return Err("its converter could not be opened".into()),
        };
        Ok(Self::new(crd, way))
    }

    /// The converter of a CRD whose reviews an endpoint answers.
    pub fn with_endpoint(crd: &'a Crd, endpoint: &'a dyn Endpoint) -> Self {
        Self::new(crd, Way::Endpoint(endpoint))
    }

    fn new(crd: &'a Crd, way: Way<'a>) -> Self {
        Self { crd, way, silence: AtomicUsize::new(0), stopped: OnceLock::new(), times: Mutex::default() }
    }

    /// Converts one object. `Err` is the refusal, or the API server's objection to the response.
    pub fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Answer, String> {
        if let Way::Endpoint(endpoint) = self.way {
            let object = Object::from(object.clone());
            return match self.request(endpoint, &[&object], to).pop() {
                Some(Reply::Object(answer)) => Ok(answer),
                Some(Reply::Unusable(_, why) | Reply::Refused(why) | Reply::Failed(why)) => Err(why),
                None => Err("nothing was converted".into()),
            };
        }
        self.answer_here(object, from, to)
    }

    /// Converts objects of one version to another; one reply for each, in order.
    pub fn convert_all(&self, objects: &[&Object], from: &str, to: &str) -> Vec<Reply> {
        if let Way::Endpoint(endpoint) = self.way {
            return self.request(endpoint, objects, to);
        }
        let convert = |object: &&Object| match self.answer_here(object, from, to) {
            Ok(answer) => Reply::Object(answer),
            Err(why) => Reply::Refused(why),
        };
        objects.iter().map(convert).collect()
    }

    fn answer_here(&self, object: &Value, from: &str, to: &str) -> Result<Answer, String> {
        let raw = self.convert_here(object, from, to)?;
        let served = self.served_form(to, &raw, None).map(Object::from);
        Ok(Answer { raw: raw.into(), served })
    }

    /// Converts objects like [`Self::convert_all`], with one review for each.
    pub fn convert_each(&self, objects: &[&Object], from: &str, to: &str) -> Vec<Reply> {
        objects.iter().flat_map(|object| self.convert_all(&[object], from, to)).collect()
    }

    /// Converts an object without an endpoint: strategy None copies it, field maps convert it, and the server writes
    /// `apiVersion`.
    fn convert_here(&self, object: &Value, from: &str, to: &str) -> Result<Value, String> {
        self.expect_version(to)?;
        let mut raw = match &self.way {
            Way::FieldMap(relation) => relation.convert(object, from, to).map_err(|refusal| refusal.to_string())?,
            Way::None | Way::Endpoint(_) => object.clone(),
        };
        // A document that is not an object can pass for a sample of a CRD that names neither group nor kind.
        let fields = raw.as_object_mut().ok_or("this is not an object")?;
        fields.insert("apiVersion".into(), format!("{}/{to}", self.crd.group).into());
        Ok(raw)
    }

    fn expect_version(&self, to: &str) -> Result<(), String> {
        self.crd.version(to).map(|_| ()).ok_or_else(|| format!("{} has no version {to}", self.crd.name))
    }

    /// Returns the reason why the endpoint is unreachable, if it is.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.get().map(String::as_str)
    }

    /// Returns response times in microseconds, by the number of objects in a review. Empty if nothing was sent.
    pub fn times(&self) -> BTreeMap<usize, Vec<u64>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends one review. A review that fails as a whole is split, so that one object does not fail all others: into a
    /// few parts, and parts that fail again into single objects. Repeated halving would send most objects many times.
    fn request(&self, endpoint: &dyn Endpoint, objects: &[&Object], to: &str) -> Vec<Reply> {
        if objects.is_empty() {
            return Vec::new();
        }
        let all = |reply: Reply| objects.iter().map(|_| reply.clone()).collect();
        if let Err(why) = self.expect_version(to) {
            return all(Reply::Refused(why));
        }
        let failure = match self.request_batch(endpoint, objects, to) {
            Ok(replies) => return replies,
            Err(failure) => failure,
        };
        if objects.len() == 1 || self.stopped().is_some() {
            return all(match failure {
                NotConverted::Refused(why) => Reply::Refused(why),
                NotConverted::Failed(why) => Reply::Failed(why),
            });
        }
        let part = if objects.len() > RETRY_BATCH { RETRY_BATCH } else { 1 };
        objects.chunks(part).flat_map(|part| self.request(endpoint, part, to)).collect()
    }

    fn request_batch(
        &self,
        endpoint: &dyn Endpoint,
        objects: &[&Object],
        to: &str,
    ) -> Result<Vec<Reply>, NotConverted> {
        if let Some(why) = self.stopped() {
            return Err(NotConverted::Failed(why.to_owned()));
        }
        let body = review::body(&format!("{}/{to}", self.crd.group), objects)
            .map_err(|error| NotConverted::Failed(error.to_string()))?;
        let (outcome, took) = endpoint.send(&Request::post(body));
        self.note(&outcome, objects.len(), took);
        let (ask, method) = (Purpose::Conversion, "POST".into());
        let exchange = Exchange { ask, method, sent: String::new(), outcome, micros: 0 };
        let converted = exchange.converted()?;
        if converted.len() != objects.len() {
            let why = format!("{} objects were sent and {} came back", objects.len(), converted.len());
            let Some(why) = out_of_proportion(objects.len(), converted.len()) else {
                return Err(NotConverted::Failed(why));
            };
            // No part of such a review would tell more, and each costs as much.
            self.stopped.get_or_init(|| why.clone());
            return Err(NotConverted::Failed(why));
        }
        Ok(objects.iter().zip(converted).map(|(sent, raw)| self.read(sent, to, raw)).collect())
    }

    fn note(&self, outcome: &Outcome, objects: usize, took: Duration) {
        match outcome {
            Outcome::Answered { .. } => {
                self.silence.store(0, Ordering::Relaxed);
                let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
                let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
                times.entry(objects).or_default().push(micros);
            }
            // Only requests for certificates have this outcome.
            Outcome::Met(_) => {}
            Outcome::Failed(why) => {
                let weight = if took >= SLOW_REQUEST { MAX_CONSECUTIVE_FAILURES / 2 } else { 1 };
                if self.silence.fetch_add(weight, Ordering::Relaxed) + weight >= MAX_CONSECUTIVE_FAILURES {
                    self.stopped.get_or_init(|| why.clone());
                }
            }
        }
    }

    /// Reads a response as an API server does.
    fn read(&self, sent: &Value, to: &str, raw: Value) -> Reply {
        match self.metadata(sent, to, &raw) {
            Ok(metadata) => {
                let served = self.served_form(to, &raw, metadata).map(Object::from);
                Reply::Object(Answer { raw: raw.into(), served })
            }
            Err(why) => Reply::Unusable(raw, why),
        }
    }

    /// The metadata that an API server gives to a converted object, if it differs from the response. `Err` says why the
    /// server refuses the response.
    fn metadata(&self, sent: &Value, to: &str, raw: &Value) -> Result<Option<Map<String, Value>>, String> {
        let group_and_version = raw["apiVersion"].as_str().and_then(|own| own.split_once('/'));
        if group_and_version != Some((self.crd.group.as_str(), to)) {
            let desired = format!("{}/{to}", self.crd.group);
            return Err(format!("apiVersion is {} instead of {desired:?}", raw["apiVersion"]));
        }
        check_unchanged("kind", &sent["kind"], &raw["kind"])?;
        let (own, given) = (&raw["metadata"], &sent["metadata"]);
        let none = Map::new();
        let before = given.as_object().unwrap_or(&none);
        let unchanged = own.as_object().is_some_and(|own| restored_fields(own).eq(restored_fields(before)));
        if !unchanged {
            check_unchanged("metadata.name", &given["name"], &own["name"])?;
            check_unchanged("metadata.namespace", &given["namespace"], &own["namespace"])?;
            check_unchanged("metadata.uid", &given["uid"], &own["uid"])?;
        }
        restored(before, own, unchanged)
    }

    /// The object as the server serves it, if it differs from the response; most do not, so copies are made late.
    fn served_form(&self, to: &str, raw: &Value, metadata: Option<Map<String, Value>>) -> Option<Value> {
        let schema = self.crd.version(to).and_then(|version| version.schema.as_ref());
        if metadata.is_none() && structural::is_canonical(schema, raw) {
            return None;
        }
        let mut served = raw.clone();
        if let Some(metadata) = metadata {
            served["metadata"] = Value::Object(metadata);
        }
        structural::canonicalize(schema, &mut served);
        (served != *raw).then_some(served)
    }
}

/// Checks a field that conversion must not change. API servers treat absent, null and empty as equal here.
fn check_unchanged(place: &str, was: &Value, now: &Value) -> Result<(), String> {
    let [was, now] = [was, now].map(|value| value.as_str().unwrap_or_default());
    if was == now {
        return Ok(());
    }
    Err(format!("{place} is {now:?} instead of {was:?}, so API servers refuse the answer"))
}

/// The metadata that a response may change.
const CHANGEABLE_METADATA: [&str; 2] = ["labels", "annotations"];

/// Returns the metadata that API servers restore.
fn restored_fields(metadata: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    metadata.iter().filter(|(name, _)| !CHANGEABLE_METADATA.contains(&name.as_str()))
}

/// The metadata of a converted object as an API server restores it; `None` if the response already has it. `unchanged`
/// says that nothing needs to be restored.
fn restored(sent: &Map<String, Value>, own: &Value, unchanged: bool) -> Result<Option<Map<String, Value>>, String> {
    let Some(own) = own.as_object() else {
        return Err("metadata is missing from the answer, and API servers insist on it, be it empty".into());
    };
    for name in CHANGEABLE_METADATA {
        match own.get(name) {
            Some(Value::Object(entries)) => {
                if let Some((key, value)) = entries.iter().find(|(_, value)| !value.is_string()) {
                    return Err(format!("metadata.{name}[{key:?}] is {value}, which is not a string"));
                }
            }
            Some(Value::Null) | None => {}
            Some(other) => return Err(format!("metadata.{name} is {other}, which is not a map")),
        }
    }
    let nothing = CHANGEABLE_METADATA.iter().any(|name| own.get(*name).is_some_and(Value::is_null));
    if unchanged && !nothing {
        return Ok(None);
    }
    let is_own = |name: &String| CHANGEABLE_METADATA.contains(&name.as_str());
    let entries = own.iter().filter(|(name, value)| is_own(name) && !value.is_null());
    Ok(Some(restored_fields(sent).chain(entries).map(|(name, value)| (name.clone(), value.clone())).collect()))
}

impl std::fmt::Debug for Converter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Converter").field("crd", &self.crd.name).finish_non_exhaustive()
    }
}
