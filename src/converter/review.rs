//! `ConversionReview`: how API servers ask webhooks.

use serde_json::{Deserializer, Value, json};

use super::Question;
use crate::evidence::Object;

/// API servers make one for each review; ours need no telling apart.
const UID: &str = "0f3e9a34-6f1c-4f0b-9a52-4b0de7d4a1c5";

/// A review without objects is about as long.
const ENVELOPE: usize = 512;

/// A review as API servers send it: of this version, with objects to be converted to `group/version`.
pub fn request(version: &str, desired: &str, objects: &[Value]) -> Value {
    json!({
        "apiVersion": format!("apiextensions.k8s.io/{version}"), "kind": "ConversionReview",
        "request": {"uid": UID, "desiredAPIVersion": desired, "objects": objects},
    })
}

/// The body of such a review, of version v1, without copying the objects.
pub(super) fn body<'o>(desired: &str, objects: impl Iterator<Item = &'o Object> + Clone) -> Vec<u8> {
    // Grown step by step it would be copied again and again.
    let length: usize = objects.clone().map(|object| object.text().len() + 1).sum();
    let mut body = Vec::with_capacity(ENVELOPE + length);
    body.extend_from_slice(br#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":""#);
    body.extend_from_slice(UID.as_bytes());
    body.extend_from_slice(br#"","desiredAPIVersion":"#);
    body.extend_from_slice(json!(desired).to_string().as_bytes());
    body.extend_from_slice(br#","objects":["#);
    for (index, object) in objects.enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(object.text());
    }
    body.extend_from_slice(b"]}}");
    body
}

/// What holds the objects of an answer.
const OBJECTS: &str = "\"convertedObjects\"";

/// An object of an answer.
#[derive(Debug, PartialEq)]
pub(super) struct Converted {
    pub(super) object: Object,
    /// Whether it is one that the question knew, and so in the form in which servers hold it.
    pub(super) is_known: bool,
}

impl Converted {
    /// One that nobody knew.
    pub(super) fn new(object: Value) -> Self {
        Self { object: object.into(), is_known: false }
    }
}

/// The objects of an answer that says `Success`. Only those are read that are not known to the letter, which most are
/// in the answers of a good converter. `None` where the answer is made in any other way than expected; then it must be
/// read as a whole to tell what it says.
pub(super) fn converted(body: &str, questions: &[Question<'_>], to: &str) -> Option<Vec<Converted>> {
    let (before, rest) = body.split_once(OBJECTS)?;
    let mut rest = skip(skip(rest).strip_prefix(':')?).strip_prefix('[')?;
    let mut objects = Vec::with_capacity(questions.len());
    for question in questions {
        rest = skip(if objects.is_empty() { rest } else { skip(rest).strip_prefix(',')? });
        // The text of an object is never the beginning of another one's.
        let is_next = |text: &&[u8]| text.starts_with(b"{") && rest.as_bytes().starts_with(text);
        let length = |known: &Object| known.written().filter(is_next).map(<[u8]>::len);
        let same = question.known(to).find_map(|known| Some((known, rest.get(length(known)?..)?)));
        if let Some((known, after)) = same {
            objects.push(Converted { object: known.clone(), is_known: true });
            rest = after;
            continue;
        }
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        objects.push(Converted::new(values.next()?.ok()?));
        rest = rest.get(values.byte_offset()..)?;
    }
    let after = skip(rest).strip_prefix(']')?;
    // What is left must be an answer without objects, and these must have been where they belong.
    let answer: Value = serde_json::from_str(&format!("{before}{OBJECTS}:[]{after}")).ok()?;
    let response = &answer["response"];
    let whole = response["convertedObjects"].is_array() && !after.contains(OBJECTS);
    (whole && response["result"]["status"] == "Success").then_some(objects)
}

/// A text without the white space at its beginning.
fn skip(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

/// Answers a review with a function that converts one object to the version `group/version` asked for.
/// The first refusal is the answer to all, as the protocol has it. `Err` says why this is no review.
pub fn answer(
    review: &Value,
    mut convert: impl FnMut(&Value, &str) -> Result<Value, String>,
) -> Result<Value, &'static str> {
    let request = &review["request"];
    if review["kind"] != "ConversionReview" || !request.is_object() {
        return Err("this is no ConversionReview with a request");
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
    use rstest::rstest;

    use super::*;
    use crate::evidence::{Fit, Origin, Trial};

    #[test]
    fn a_body_is_the_review() {
        let objects = [json!({"a": "\"ä\""}), json!({})];
        let sent = objects.clone().map(Object::from);
        let body: Value = serde_json::from_slice(&body("g/v1", sent.iter())).unwrap();
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

    /// What `converted` makes of a body by itself, where one object is known.
    fn read(body: &str, known: &Object) -> Option<Vec<Converted>> {
        let object = Object::from(json!({}));
        let trial = Trial {
            crd: "a".into(),
            version: "v1".into(),
            origin: Origin::Sample("a".into()),
            fit: Fit::Valid,
            input: known.clone(),
            legs: Vec::new(),
            meant: Vec::new(),
        };
        let question = || Question { object: &object, trial: Some(&trial) };
        converted(body, &[question(), question()], "v1")
    }

    #[test]
    fn known_objects_are_shared_and_others_are_read() {
        let known = Object::from(json!({"a": 1, "b": [0.5, "\"convertedObjects\":[]"]}));
        let body = |objects: &str| {
            format!(
                r#"{{"kind":"x","response":{{"uid":"u","convertedObjects" : [ {objects} ],"result":{{"status":"Success"}}}}}}"#
            )
        };
        let twice = body(&format!("{}, {{\"c\": 2}}", *known));
        // Nobody has written it yet, so that it cannot be recognised.
        let read_all = read(&twice, &known).unwrap();
        assert!(!read_all[0].is_known);
        known.text();
        let shared = read(&twice, &known).unwrap();
        assert!(shared[0].object.is(&known) && shared[0].is_known);
        assert_eq!(shared[0].object, read_all[0].object);
        assert_eq!((&*shared[1].object, shared[1].is_known), (&json!({"c": 2}), false));
    }

    #[rstest]
    #[case::too_few(r#"{"response":{"convertedObjects":[{}],"result":{"status":"Success"}}}"#)]
    #[case::too_many(r#"{"response":{"convertedObjects":[{},{},{}],"result":{"status":"Success"}}}"#)]
    #[case::failure(r#"{"response":{"convertedObjects":[{},{}],"result":{"status":"Failure"}}}"#)]
    #[case::elsewhere(r#"{"convertedObjects":[{},{}],"response":{"result":{"status":"Success"}}}"#)]
    #[case::twice(r#"{"response":{"convertedObjects":[{},{}],"convertedObjects":[],"result":{"status":"Success"}}}"#)]
    #[case::in_a_text(r#"{"response":{"x\"convertedObjects":[{},{}],"result":{"status":"Success"}}}"#)]
    #[case::cut(r#"{"response":{"convertedObjects":[{},{}],"result":{"status":"Success"}"#)]
    #[case::no_comma(r#"{"response":{"convertedObjects":[{} {}],"result":{"status":"Success"}}}"#)]
    #[case::broken(r#"{"response":{"convertedObjects":[{},{"a":}],"result":{"status":"Success"}}}"#)]
    #[case::none("{}")]
    fn anything_else_is_left_to_a_closer_look(#[case] body: &str) {
        assert_eq!(read(body, &Object::from(json!({"a": 1}))), None);
    }
}
