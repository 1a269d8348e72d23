//! `ConversionReview`: the protocol between API servers and webhooks.

use serde::Serialize;
use serde_json::{Value, json};

use crate::evidence::Object;

/// The uid of all our reviews. API servers generate one for each; ours need not be distinguished.
const UID: &str = "0f3e9a34-6f1c-4f0b-9a52-4b0de7d4a1c5";

/// A review as API servers send it: of this version, with objects to convert to `group/version`.
pub fn request(version: &str, desired: &str, objects: &[Value]) -> Value {
    json!({
        "apiVersion": format!("apiextensions.k8s.io/{version}"), "kind": "ConversionReview",
        "request": {"uid": UID, "desiredAPIVersion": desired, "objects": objects},
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'a str,
    kind: &'a str,
    request: ReviewRequest<'a>,
}

#[derive(Serialize)]
struct ReviewRequest<'a> {
    uid: &'a str,
    #[serde(rename = "desiredAPIVersion")]
    desired: &'a str,
    objects: &'a [&'a Object],
}

/// Writes a review of version v1 without copying its objects.
pub(super) fn body(desired: &str, objects: &[&Object]) -> serde_json::Result<Vec<u8>> {
    let request = ReviewRequest { uid: UID, desired, objects };
    serde_json::to_vec(&Review { api_version: "apiextensions.k8s.io/v1", kind: "ConversionReview", request })
}

/// Adds empty metadata to a converted object that has none: server-side apply sends objects without metadata, and API
/// servers require it in the response.
pub fn add_metadata(object: &mut Value) {
    if let Some(fields) = object.as_object_mut()
        && fields.get("metadata").is_none_or(Value::is_null)
    {
        fields.insert("metadata".into(), json!({}));
    }
}

/// Answers a review with a function that converts one object to the desired `group/version`. The first refusal is the
/// response for all objects, as the protocol requires. `Err` says why this is not a review.
pub fn answer(
    review: &Value,
    mut convert: impl FnMut(&Value, &str) -> Result<Value, String>,
) -> Result<Value, &'static str> {
    let request = &review["request"];
    if review["kind"] != "ConversionReview" || !request.is_object() {
        return Err("this is not a ConversionReview with a request");
    }
    let desired = request["desiredAPIVersion"].as_str().ok_or("the request has no desiredAPIVersion")?;
    let objects = request["objects"].as_array().ok_or("the request has no objects")?;
    let converted: Result<Vec<Value>, String> = objects.iter().map(|object| convert(object, desired)).collect();
    let response = match converted {
        Ok(objects) => {
            json!({"uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}})
        }
        Err(message) => json!({"uid": request["uid"], "result": {"status": "Failure", "message": message}}),
    };
    Ok(json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_review() {
        let objects = [json!({"a": "\"ä\""}), json!({})];
        let sent = objects.clone().map(Object::from);
        let body: Value = serde_json::from_slice(&body("g/v1", &sent.each_ref()).unwrap()).unwrap();
        assert_eq!(body, request("v1", "g/v1", &objects));
    }

    #[test]
    fn a_review_is_answered_in_its_own_version_and_order() {
        let review = json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "ConversionReview",
            "request": {"uid": "u", "desiredAPIVersion": "g/v2", "objects": [{"n": 1}, {"n": 2}]}});
        let said = answer(&review, |object, to| Ok(json!({"n": object["n"], "apiVersion": to}))).unwrap();
        assert_eq!(said["apiVersion"], "apiextensions.k8s.io/v1beta1");
        assert_eq!(said["response"]["uid"], "u");
        assert_eq!(said["response"]["result"]["status"], "Success");
        assert_eq!(
            said["response"]["convertedObjects"],
            json!([{"n": 1, "apiVersion": "g/v2"}, {"n": 2, "apiVersion": "g/v2"}])
        );
        let refused = answer(&review, |_, _| Err("no".into())).unwrap();
        assert_eq!(refused["response"]["result"], json!({"status": "Failure", "message": "no"}));
        assert_eq!(refused["response"]["convertedObjects"], Value::Null);
        assert!(answer(&json!({"kind": "Pod"}), |_, _| Err("no".into())).is_err());
    }
}
