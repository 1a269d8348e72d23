//! Objects that a trace contains many times, stored once.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::Trace;

/// An object in a trace. Clones share it.
#[derive(Debug, Clone, PartialEq)]
pub struct Body(Arc<Value>);

impl Deref for Body {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl From<Value> for Body {
    fn from(value: Value) -> Self {
        Self(Arc::new(value))
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

/// The objects so far, by digest.
#[derive(Debug, Default)]
pub struct Bodies(HashMap<[u8; 32], Body>);

impl Bodies {
    /// Returns a shared object; equal objects are stored once.
    pub fn keep(&mut self, value: Value) -> Body {
        self.0.entry(digest(&value)).or_insert_with(|| value.into()).clone()
    }
}

fn digest(value: &Value) -> [u8; 32] {
    Sha256::digest(value.to_string()).into()
}

/// The name of an object in a packed trace: enough digits that no two objects of a trace share one.
fn name(value: &Value) -> String {
    digest(value).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The places of a trace that hold repeated objects, as keys below `seen`; `*` is any key or item.
const PLACES: [&[&str]; 5] =
    [&["snapshot", "objects", "*"], &["call", "sent"], &["call", "answered"], &["definition"], &["reviews", "*"]];

impl Trace {
    /// The trace with every object once, under `bodies`, and its name wherever it occurs.
    pub fn packed(&self) -> Value {
        let mut packed = serde_json::to_value(self).unwrap_or_default();
        let mut bodies = BTreeMap::new();
        visit_objects(&mut packed, &mut |place: &mut Value| {
            let name = name(place);
            let body = std::mem::replace(place, Value::String(name.clone()));
            bodies.entry(name).or_insert(body);
            Ok(())
        })
        .unwrap_or_default();
        packed["bodies"] = bodies.into_iter().collect::<Map<_, _>>().into();
        packed
    }

    /// Reads a packed trace. `Err` says what is wrong with it.
    pub fn unpacked(mut packed: Value) -> Result<Self, String> {
        let fields = packed.as_object_mut().ok_or("a trace is an object")?;
        let Some(Value::Object(bodies)) = fields.remove("bodies") else { return Err("it has no bodies".into()) };
        visit_objects(&mut packed, &mut |place: &mut Value| {
            let body = place.as_str().and_then(|name| bodies.get(name));
            *place = body.ok_or_else(|| format!("there is no body {place}"))?.clone();
            Ok(())
        })?;
        let mut trace: Self = serde_json::from_value(packed).map_err(|error| error.to_string())?;
        trace.share();
        Ok(trace)
    }

    /// Stores every object of its snapshots once.
    fn share(&mut self) {
        let mut known = Bodies::default();
        for record in &mut self.records {
            let super::Observation::Snapshot(snapshot) = &mut record.seen else { continue };
            for body in snapshot.objects.values_mut() {
                *body = known.keep(body.0.as_ref().clone());
            }
        }
    }
}

/// Calls a function for every place that holds a whole object; skips null and absent ones.
fn visit_objects(trace: &mut Value, change: &mut dyn FnMut(&mut Value) -> Result<(), String>) -> Result<(), String> {
    for record in trace["records"].as_array_mut().into_iter().flatten() {
        for place in PLACES {
            visit_at(&mut record["seen"], place, change)?;
        }
    }
    Ok(())
}

fn visit_at(
    value: &mut Value,
    place: &[&str],
    change: &mut dyn FnMut(&mut Value) -> Result<(), String>,
) -> Result<(), String> {
    match (place, value) {
        ([], Value::Null) => Ok(()),
        ([], value) => change(value),
        (["*", rest @ ..], Value::Object(map)) => map.values_mut().try_for_each(|value| visit_at(value, rest, change)),
        (["*", rest @ ..], Value::Array(items)) => items.iter_mut().try_for_each(|value| visit_at(value, rest, change)),
        ([first, rest @ ..], Value::Object(map)) => {
            map.get_mut(*first).map_or(Ok(()), |value| visit_at(value, rest, change))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::ServingStep;

    fn trace() -> Trace {
        let object = json!({"kind": "Widget", "spec": {"text": "a text that is long enough to be worth it"}});
        let record = |step: &str, seen: Value| json!({"step": step, "seen": seen});
        let snapshot = |version: &str| json!({"snapshot": {"version": version, "objects": {"a": object, "b": object}}});
        let call =
            json!({"call": {"what": "create", "version": "v1", "status": 201, "sent": "a text", "answered": object}});
        let review =
            json!({"from": ["v1"], "to": "v2", "uids": ["u"], "metadata": true, "spec": true, "answered": true});
        let records = [
            record("serving/create", call),
            record("serving/read", snapshot("v1")),
            record("serving/read", snapshot("v2")),
            record("serving/install", json!({"definition": {"spec": {}}})),
            record("apply/reviews", json!({"reviews": [review, review]})),
            record("storage/busy", json!({"refusedWrites": 2})),
        ];
        let trace = json!({"kubernetes": "1.36.4", "recorded": "2026-11-16T00:00:00Z", "crd": "widgets.example.com",
            "requests": 3, "records": records});
        serde_json::from_value(trace).unwrap()
    }

    #[test]
    fn every_object_is_written_once_and_restored() {
        let trace = trace();
        let packed = trace.packed();
        assert_eq!(
            packed["bodies"].as_object().unwrap().len(),
            4,
            "the object, the text, the definition and the review"
        );
        assert_eq!(packed.to_string().matches("worth it").count(), 1);
        let back = Trace::unpacked(packed).unwrap();
        assert_eq!(back, trace);
        let bodies: Vec<&Body> =
            back.snapshots(ServingStep::Read).flat_map(|snapshot| snapshot.objects.values()).collect();
        assert!(bodies.iter().all(|body| Arc::ptr_eq(&body.0, &bodies[0].0)));
    }

    #[test]
    fn malformed_packed_traces_are_refused() {
        let without = |name: &str| {
            let mut packed = trace().packed();
            packed.as_object_mut().unwrap().remove(name);
            Trace::unpacked(packed).unwrap_err()
        };
        assert_eq!(without("bodies"), "it has no bodies");
        assert!(without("crd").contains("crd"), "{}", without("crd"));
        let mut torn = trace().packed();
        torn["bodies"] = json!({});
        assert!(Trace::unpacked(torn).unwrap_err().starts_with("there is no body"));
        assert_eq!(Trace::unpacked(json!(7)).unwrap_err(), "a trace is an object");
    }
}
