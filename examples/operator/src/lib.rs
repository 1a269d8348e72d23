//! The API of an operator for databases: two versions of one kind, and the conversion between them.
//!
//! v2 groups fields that v1 has at the top level, and adds a storage class. At v1 an annotation keeps the class, so
//! that no version loses it.

pub mod controller;
pub mod v1;
pub mod v2;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, ServiceReference, WebhookClientConfig, WebhookConversion,
};
use kube::CustomResourceExt as _;
use kube::core::crd::merge_crds;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The annotation that keeps the storage class of v2 in objects of v1.
const CLASS: &str = "example.com/v2-storage-class";

/// Returns the CRD with both versions. Objects are stored at v1, until all clients know v2.
pub fn crd() -> CustomResourceDefinition {
    let mut crd = merge_crds(vec![v1::Database::crd(), v2::Database::crd()], "v1").expect("the versions agree");
    let service = ServiceReference {
        name: "database-operator".into(),
        namespace: "databases".into(),
        path: Some("/convert".into()),
        port: Some(443),
    };
    crd.spec.conversion = Some(CustomResourceConversion {
        strategy: "Webhook".into(),
        webhook: Some(WebhookConversion {
            client_config: Some(WebhookClientConfig { service: Some(service), ..Default::default() }),
            conversion_review_versions: vec!["v1".into()],
        }),
    });
    crd
}

/// Converts an object to another version, as the webhook does with each object of a review.
///
/// Only `spec` has types. The rest of the object stays unchanged, because a struct would drop unknown fields.
pub fn convert(object: &Value, to: &str) -> Result<Value, String> {
    let mut object = object.clone();
    let from = object["apiVersion"].as_str().unwrap_or_default().to_owned();
    object["apiVersion"] = json!(to);
    match (from.as_str(), to) {
        ("example.com/v1", "example.com/v2") => {
            let class = take_annotation(&mut object, CLASS);
            convert_spec::<v1::DatabaseSpec, v2::DatabaseSpec>(&mut object)?;
            if let Some(class) = class {
                object["spec"]["storage"]["class"] = class;
            }
        }
        ("example.com/v2", "example.com/v1") => {
            // Annotations are strings; null means no class.
            let class = object.pointer("/spec/storage/class").and_then(Value::as_str).map(str::to_owned);
            convert_spec::<v2::DatabaseSpec, v1::DatabaseSpec>(&mut object)?;
            if let Some(class) = class {
                object["metadata"]["annotations"][CLASS] = json!(class);
            }
        }
        _ if from == to => {}
        _ => return Err(format!("cannot convert {from} to {to}")),
    }
    Ok(object)
}

/// Converts `spec`, if there is one: API servers also send parts of objects.
fn convert_spec<A: DeserializeOwned + Into<B>, B: Serialize>(object: &mut Value) -> Result<(), String> {
    let Some(spec) = object.get_mut("spec") else { return Ok(()) };
    let old: A = serde_json::from_value(spec.take()).map_err(|error| error.to_string())?;
    *spec = serde_json::to_value(old.into()).map_err(|error| error.to_string())?;
    Ok(())
}

/// Removes an annotation and returns its value. Removes the annotations if they become empty, too.
fn take_annotation(object: &mut Value, name: &str) -> Option<Value> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let value = annotations.remove(name);
    if value.is_some() && annotations == &Map::new() {
        metadata.remove("annotations");
    }
    value
}
