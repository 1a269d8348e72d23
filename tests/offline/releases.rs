//! Server behaviour that depends on the release.

use crdproof_schema::document::{Sources, parse};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Admission, Outcome, Request, Schema, Validator};
use rstest::rstest;
use serde_json::{Value, json};

fn answer(schema: &str, object: &Value, old: Option<&Value>, minor: u32) -> Admission {
    let mut sources = Sources::default();
    let text = format!("{{type: object, properties: {{spec: {schema}}}}}");
    let id = sources.add("schema", text);
    let schema = Schema::read(&parse(&sources, id).expect("the schema parses")[0]);
    let whole = |spec: &Value| json!({"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n"}, "spec": spec});
    let (object, old) = (whole(object), old.map(whole));
    Validator::new(&schema, KubeVersion::minor(minor)).admit(&Request {
        object: &object,
        old: old.as_ref(),
        group: "g",
        version: "v1",
        kind: "K",
        namespaced: true,
        status_subresource: false,
        scale: None,
    })
}

#[rstest]
#[case::nulls("{type: object, properties: {a: {type: string}}}", json!({"a": null}), 20)]
fn admits_from(#[case] schema: &str, #[case] spec: Value, #[case] minor: u32) {
    assert!(!answer(schema, &spec, None, minor - 1).is_admitted());
    assert!(answer(schema, &spec, None, minor).is_admitted());
}

#[rstest]
#[case::list_maps("{type: array, x-kubernetes-list-type: set, items: {type: string}}", json!(["a", "a"]), 18)]
#[case::rules("{type: string, x-kubernetes-validations: [{rule: 'self == \"\"'}]}", json!("a"), 25)]
#[case::names("{type: string, format: k8s-short-name}", json!("A"), 35)]
#[case::widths("{type: integer, format: int32}", json!(4_294_967_296_i64), 36)]
fn refuses_from(#[case] schema: &str, #[case] spec: Value, #[case] minor: u32) {
    assert!(answer(schema, &spec, None, minor - 1).is_admitted());
    let refused = answer(schema, &spec, None, minor).outcome;
    assert!(matches!(refused, Outcome::Refused(_)), "{refused:?}");
}

#[rstest]
#[case::keywords("{type: object, properties: {a: {type: string, maxLength: 1}, b: {type: integer}}}")]
#[case::rules(
    "{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: 'self == \"\"'}]}, b: {type: integer}}}"
)]
fn ratcheting_starts_with_1_30(#[case] schema: &str) {
    let (old, new) = (json!({"a": "long", "b": 1}), json!({"a": "long", "b": 2}));
    assert!(!answer(schema, &new, Some(&old), 29).is_admitted());
    assert!(answer(schema, &new, Some(&old), 30).is_admitted());
}

#[test]
fn a_null_is_a_value_before_1_20() {
    let schema =
        "{type: object, properties: {a: {type: string, nullable: true, default: d}, b: {type: string, default: d}}}";
    let spec = |minor, object: Value| answer(schema, &object, None, minor).object["spec"].clone();
    assert_eq!(spec(19, json!({"a": null})), json!({"a": null, "b": "d"}));
    assert_eq!(spec(19, json!({"b": null})), json!({"a": "d", "b": null}));
    assert_eq!(spec(20, json!({"b": null})), json!({"a": "d", "b": "d"}));
}

#[test]
fn a_validator_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Validator<'_>>();
}
