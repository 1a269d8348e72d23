//! Answers reviews by a subject's declared converters.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::endpoint::{Endpoint, Request};
use super::{Converter, review};
use crate::evidence::{Outcome, read_json};
use crate::subject::{Crd, Subject};

/// Answers reviews of every CRD of a subject by its declared field maps, and counts them.
pub struct Answerer<'a> {
    converters: Vec<(&'a Crd, Converter<'a>)>,
    answered: AtomicU64,
    refused: AtomicU64,
    objects: AtomicU64,
    micros: AtomicU64,
}

/// A subject's field maps as an endpoint in this process.
pub struct Maps(Arc<Subject>);

impl Maps {
    /// Answers for a subject. `Err` if it declares no field map.
    pub fn new(subject: Arc<Subject>) -> Result<Self, String> {
        Answerer::new(&subject)?;
        Ok(Self(subject))
    }
}

impl Endpoint for Maps {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let started = Instant::now();
        let answered = Answerer::new(&self.0).and_then(|answerer| answerer.answer(&request.body));
        let (status, body) = match answered {
            Ok(answer) => (200, answer.to_string()),
            Err(why) => (400, why),
        };
        let outcome = Outcome::Answered { status, content_type: Some("application/json".into()), body };
        (outcome, started.elapsed())
    }
}

impl<'a> Answerer<'a> {
    /// Answers for a subject. `Err` if it declares no field map.
    pub fn new(subject: &'a Subject) -> Result<Self, String> {
        let mut converters = Vec::new();
        let mut last = "the subject has no CRD".to_owned();
        for crd in &subject.crds {
            match Converter::of(subject, crd, None) {
                Ok(converter) => converters.push((crd, converter)),
                Err(why) => last = format!("{}: {why}", crd.name),
            }
        }
        if converters.is_empty() {
            return Err(format!("no field map to serve: {last}"));
        }
        let zero = AtomicU64::default;
        Ok(Self { converters, answered: zero(), refused: zero(), objects: zero(), micros: zero() })
    }

    /// Answers one review. `Err` says why the body is not a review.
    pub fn answer(&self, body: &[u8]) -> Result<Value, String> {
        let started = Instant::now();
        let request: Value = read_json(body).map_err(|error| format!("this is not JSON: {error}"))?;
        let answer = review::answer(&request, |object, desired| self.convert(object, desired))?;
        let counter = match answer["response"]["result"]["status"].as_str() {
            Some("Success") => &self.answered,
            _ => &self.refused,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let objects = request["request"]["objects"].as_array().map_or(0, Vec::len);
        self.objects.fetch_add(objects as u64, Ordering::Relaxed);
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        Ok(answer)
    }

    fn convert(&self, object: &Value, desired: &str) -> Result<Value, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (own, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let (group, from) = own.split_once('/').ok_or_else(|| format!("{own:?} is not a group and version"))?;
        let known = self.converters.iter().find(|(crd, _)| crd.group == group && crd.names.kind == kind);
        let (crd, converter) = known.ok_or_else(|| format!("nothing is declared for {kind:?} of {group:?}"))?;
        let to =
            desired.strip_prefix(&format!("{group}/")).ok_or_else(|| format!("{desired:?} is in another group"))?;
        for version in [from, to] {
            crd.version(version).ok_or_else(|| format!("{} has no version {version:?}", crd.name))?;
        }
        if from == to {
            return Ok(object.clone());
        }
        let answer = converter.convert(object, from, to)?;
        let mut answer = Value::clone(answer.served());
        review::add_metadata(&mut answer);
        Ok(answer)
    }

    /// Returns the counters, in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let seconds = std::time::Duration::from_micros(value(&self.micros)).as_secs_f64();
        format!(
            "# HELP crdproof_reviews_total Reviews answered, by result.\n# TYPE crdproof_reviews_total counter\n\
             crdproof_reviews_total{{result=\"success\"}} {}\ncrdproof_reviews_total{{result=\"failure\"}} {}\n\
             # HELP crdproof_objects_total Objects in reviews.\n# TYPE crdproof_objects_total counter\n\
             crdproof_objects_total {}\n\
             # HELP crdproof_review_seconds_total Time spent on reviews.\n# TYPE crdproof_review_seconds_total counter\n\
             crdproof_review_seconds_total {seconds}\n",
            value(&self.answered),
            value(&self.refused),
            value(&self.objects),
        )
    }
}
