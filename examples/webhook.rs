//! A conversion webhook for `databases.example.com`, as an operator's author writes it: typed, and careful where types
//! lose data.
//!
//! ```sh
//! cargo run --example webhook                  # on a free port; prints the clientConfig for the CRD
//! cargo run --example webhook -- 0.0.0.0:8443 databases-webhook.databases-system.svc
//! ```
//!
//! v1 is stored and has no field for the password of v2, so an annotation keeps it there. The name after the address is
//! the one that API servers use.

#![expect(clippy::print_stdout, reason = "whoever starts it needs its address and authority")]

use std::error::Error;
use std::net::SocketAddr;

use crdproof::converter::proxy::{Call, Credentials, Listener, Reply};
use kube::core::Status;
use kube::core::conversion::{ConversionRequest, ConversionResponse, ConversionReview};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

const V1: &str = "example.com/v1";
const V2: &str = "example.com/v2";

/// The annotation that keeps the password in an object of v1, as JSON, so that null and a string stay distinct.
const STASH: &str = "example.com/v2-password";

/// A value that may be missing or null, which `Option` does not distinguish.
#[derive(Debug, Default, PartialEq)]
enum Field<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T> Field<T> {
    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A missing field gets its default and never reaches this function.
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

impl<T: Serialize> Serialize for Field<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent | Self::Null => serializer.serialize_none(),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

/// A database of any version. Server-side apply sends objects without metadata, spec or both; responses must have
/// metadata, otherwise the API server refuses them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Database<S> {
    api_version: String,
    kind: String,
    // Untyped: a typed ObjectMeta drops unknown fields.
    #[serde(default, deserialize_with = "null_is_empty")]
    metadata: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    spec: Field<S>,
    // For example a status, which the versions have in common.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct V1Spec {
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    database_name: Field<String>,
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    username: Field<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct V2Spec {
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    database_name: Field<String>,
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    username: Field<String>,
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    password: Field<String>,
}

impl From<Database<V1Spec>> for Database<V2Spec> {
    fn from(mut old: Database<V1Spec>) -> Self {
        // Nobody can change the password at v1, so the saved one is still right.
        let password = take_stash(&mut old.metadata);
        let spec = match (old.spec, password) {
            (Field::Value(V1Spec { database_name, username }), password) => {
                Field::Value(V2Spec { database_name, username, password })
            }
            (Field::Absent, Field::Absent) => Field::Absent,
            (Field::Null, Field::Absent) => Field::Null,
            (Field::Absent | Field::Null, password) => Field::Value(V2Spec { password, ..V2Spec::default() }),
        };
        Self { api_version: V2.into(), kind: old.kind, metadata: old.metadata, spec, rest: old.rest }
    }
}

impl From<Database<V2Spec>> for Database<V1Spec> {
    fn from(mut new: Database<V2Spec>) -> Self {
        // At v2 only the field counts: an annotation of unknown origin is not the password.
        take_stash(&mut new.metadata);
        let spec = match new.spec {
            Field::Absent => Field::Absent,
            Field::Null => Field::Null,
            Field::Value(V2Spec { database_name, username, password }) => {
                put_stash(&mut new.metadata, &password);
                Field::Value(V1Spec { database_name, username })
            }
        };
        Self { api_version: V1.into(), kind: new.kind, metadata: new.metadata, spec, rest: new.rest }
    }
}

/// Takes the password out of the annotation. Keeps values that others wrote there.
fn take_stash(metadata: &mut Map<String, Value>) -> Field<String> {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else {
        return Field::Absent;
    };
    let text = annotations.get(STASH).and_then(Value::as_str);
    let Some(Ok(password)) = text.map(serde_json::from_str) else { return Field::Absent };
    annotations.remove(STASH);
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    password
}

fn put_stash(metadata: &mut Map<String, Value>, password: &Field<String>) {
    let text = match password {
        Field::Absent => return,
        Field::Null => "null".to_owned(),
        Field::Value(password) => Value::from(password.as_str()).to_string(),
    };
    let annotations = metadata.entry("annotations").or_insert(Value::Null);
    if !annotations.is_object() {
        *annotations = Value::Object(Map::new());
    }
    annotations[STASH] = text.into();
}

fn null_is_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Converts one object, or returns the reason for a refusal. Each object is converted separately: a request may mix
/// versions.
fn convert(object: &Value, desired: &str) -> Result<Value, String> {
    if object["kind"] != "Database" {
        return Err(format!("objects of kind {} are not converted here", object["kind"]));
    }
    match (object["apiVersion"].as_str().unwrap_or_default(), desired) {
        (V1, V2) => translate::<Database<V1Spec>, Database<V2Spec>>(object),
        (V2, V1) => translate::<Database<V2Spec>, Database<V1Spec>>(object),
        (own, desired) if own == desired => Err(format!("the object is of {desired} already")),
        (own, desired) => Err(format!("{own} cannot be converted to {desired}; there are {V1} and {V2}")),
    }
}

fn translate<'de, A, B>(object: &'de Value) -> Result<Value, String>
where
    A: Deserialize<'de> + Into<B>,
    B: Serialize,
{
    let own = A::deserialize(object).map_err(|error| format!("the object cannot be read: {error}"))?;
    serde_json::to_value(own.into()).map_err(|error| error.to_string())
}

/// Answers one call. A refusal is also an answer: only its message reaches the user.
fn answer(call: &Call) -> Reply {
    if call.method != "POST" {
        return Reply::text(405, "POST a ConversionReview\n");
    }
    let review = serde_json::from_slice::<ConversionReview>(&call.body).map_err(|error| error.to_string());
    let request = review.and_then(|review| match review.types.kind.as_str() {
        "ConversionReview" => ConversionRequest::from_review(review).map_err(|error| error.to_string()),
        kind => Err(format!("{kind} is not a ConversionReview")),
    });
    let request = match request {
        Ok(request) => request,
        Err(why) => return Reply::text(400, format!("{why}\n")),
    };
    let converted: Result<Vec<Value>, String> =
        request.objects.iter().map(|object| convert(object, &request.desired_api_version)).collect();
    // The response has the uid and the review version of the request.
    let response = ConversionResponse::for_request(request);
    let response = match converted {
        Ok(objects) => response.success(objects),
        Err(message) => response.failure(Status::failure(&message, "Invalid")),
    };
    serde_json::to_value(response.into_review())
        .map_or_else(|error| Reply::text(500, error.to_string()), |review| Reply::json(&review))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address: SocketAddr = arguments.next().as_deref().unwrap_or("127.0.0.1:0").parse()?;
    let names: Vec<String> = arguments.collect();
    let listener = Listener::bind(address, Credentials::Own(names), |call: Call| answer(&call)).await?;
    let config = listener.client_config("/convert");
    for name in ["url", "caBundle"] {
        println!("{name}: {}", config[name].as_str().unwrap_or_default());
    }
    tokio::signal::ctrl_c().await?;
    listener.stop().await;
    Ok(())
}
