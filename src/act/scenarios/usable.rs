//! Objects that scenarios can write and read at every version.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::session::Session;
use crate::converter::Converter;
use crate::converter::endpoint::Endpoint;
use crate::evidence::{LeftOut, LeftOutReason, Observation};
use crate::subject::Crd;
use crate::subject::objects::Planned;
use crdproof_envtest::api::Query;
use crdproof_envtest::{ClusterError, retry};
use crdproof_schema::kubernetes::{KubeVersion, label_value, qualified_name};
use crdproof_schema::structural::Validator;

/// An object that is not usable.
pub(super) struct Unusable {
    pub(super) planned: Planned,
    pub(super) left_out: LeftOut,
    /// The object that our validation refuses, and its version: itself, or its conversion.
    pub(super) refused: Option<(String, Value)>,
}

/// Separates usable objects from others. A usable object is valid at its version, the converter converts it to every
/// version and back, and the results are valid. One object that cannot be converted makes every list of its kind fail,
/// and one that is invalid makes every rewrite fail, so that nothing else could be observed. Without a release, objects
/// count as valid.
pub(super) async fn usable(
    crd: &Crd,
    kubernetes: Option<KubeVersion>,
    converter: Option<&Arc<dyn Endpoint>>,
    objects: Vec<Planned>,
) -> (Vec<Planned>, Vec<Unusable>) {
    let (crd, endpoint, all) = (crd.clone(), converter.map(Arc::clone), objects.clone());
    let split = tokio::task::spawn_blocking(move || {
        let validators = crd.versions.iter().filter_map(|version| {
            let schema = version.schema.as_ref()?;
            Some((version.name.as_str(), Validator::new(schema, kubernetes?)))
        });
        let judge = Judge {
            crd: &crd,
            converter: endpoint.as_deref().map(|endpoint| Converter::with_endpoint(&crd, endpoint)),
            validators: validators.collect(),
        };
        let (mut usable, mut left_out) = (Vec::new(), Vec::new());
        for planned in all {
            match judge.objection(&planned) {
                None => usable.push(planned),
                Some(Objection { reason, path, why, refused }) => {
                    let Planned { version, name, is_sample, .. } = planned.clone();
                    let left_out_here = LeftOut { version, name, is_sample, reason, path, why, answer: None };
                    left_out.push(Unusable { planned, left_out: left_out_here, refused });
                }
            }
        }
        (usable, left_out)
    });
    // The scenarios themselves observe a converter that panics.
    split.await.unwrap_or((objects, Vec::new()))
}

/// Records the objects that no scenario writes. The server has the last word on whether an object is valid: one that
/// it admits is written after all, if it can be converted.
pub(super) async fn settle_left_out(session: &mut Session<'_>) -> Result<(), ClusterError> {
    for Unusable { planned, mut left_out, refused } in std::mem::take(&mut session.left_out) {
        // A new object has no status where that is a subresource.
        let is_in_status = left_out.path.as_ref().is_some_and(|path| path.starts_with(".status"));
        let is_served = |version: &str| session.served().contains(&version);
        if let Some((version, object)) = refused.filter(|(version, _)| !is_in_status && is_served(version)) {
            let path = Query::new().dry_run().on(session.kind.at(&version).path());
            let answer = retry::while_unready(|| session.api.post(&path, &object)).await?;
            if answer.is_success() {
                let (admitted, others) = usable(session.crd, None, session.converter.as_ref(), vec![planned]).await;
                session.objects.extend(admitted);
                session.see_all(others.into_iter().map(|other| Observation::LeftOut(other.left_out)).collect());
                continue;
            }
            left_out.answer = Some(answer.message());
        }
        session.see(Observation::LeftOut(left_out));
    }
    Ok(())
}

struct Judge<'a> {
    crd: &'a Crd,
    converter: Option<Converter<'a>>,
    validators: BTreeMap<&'a str, Validator<'a>>,
}

/// The reason for leaving out an object.
struct Objection {
    reason: LeftOutReason,
    path: Option<String>,
    why: String,
    refused: Option<(String, Value)>,
}

impl Judge<'_> {
    fn objection(&self, planned: &Planned) -> Option<Objection> {
        let mut object = planned.object.clone();
        if let Some(status) = &planned.status {
            object["status"] = status.clone();
        }
        self.violation(&planned.version, &object, LeftOutReason::NotValid).or_else(|| {
            let names = self.crd.versions.iter().map(|version| version.name.as_str());
            names.filter(|name| *name != planned.version).find_map(|to| self.conversion(planned, &object, to))
        })
    }

    /// Converts an object to a version and back, as an API server does to serve it.
    fn conversion(&self, planned: &Planned, object: &Value, to: &str) -> Option<Objection> {
        let converter = self.converter.as_ref()?;
        let refused = |why| Some(Objection { reason: LeftOutReason::NotConverted, path: None, why, refused: None });
        let there = match converter.convert(object, &planned.version, to) {
            Ok(there) => there,
            Err(why) => return refused(why),
        };
        if let Some(objection) = wrong_label(there.served()) {
            return Some(objection);
        }
        let reason = LeftOutReason::NotValidAt(to.to_owned());
        self.violation(to, there.served(), reason)
            .or_else(|| converter.convert(there.served(), to, &planned.version).err().and_then(refused))
    }

    fn violation(&self, version: &str, object: &Value, reason: LeftOutReason) -> Option<Objection> {
        let validator = self.validators.get(version)?;
        let violations = validator.validate(&validator.filled(object)).violations;
        let violation = violations.into_iter().find(|violation| !violation.is_remark())?;
        let refused = Some((version.to_owned(), object.clone()));
        Some(Objection { reason, path: violation.path(), why: violation.message, refused })
    }
}

/// API servers refuse responses with invalid labels, and with them the whole list.
fn wrong_label(object: &Value) -> Option<Objection> {
    let labels = object["metadata"]["labels"].as_object()?;
    labels.iter().find_map(|(key, value)| {
        let why = qualified_name(key).and_then(|()| label_value(value.as_str().unwrap_or_default())).err()?;
        let why = format!("the label {key} has the value {value}, which API servers refuse: {why}");
        let path = Some(format!(".metadata.labels.{key}"));
        Some(Objection { reason: LeftOutReason::NotConverted, path, why, refused: None })
    })
}
