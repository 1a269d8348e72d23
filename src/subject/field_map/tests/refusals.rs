//! Values that cannot be converted are refused with a message and a location.

use rstest::rstest;
use serde_json::{Value, json};

use super::refused;

#[rstest]
#[case::table(json!({"values": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "table": [{"v1": "x", "v2": "y"}]}]}),
    json!({"a": "z"}), ".spec.a", "\"z\" is not in the table")]
#[case::table_taken(json!({"values": [{"paths": {"v1": ".spec.a", "v2": ".spec.a"}, "table": [{"v1": "x", "v2": "y"}],
    "otherwise": "accept"}]}), json!({"a": "y"}), ".spec.a", "\"y\" would come back as \"x\"")]
#[case::split(split(), json!({"a": "x"}), ".spec.a", "\"x\" does not have the form {h}:{p}")]
#[case::split_spelling(split(), json!({"a": "x:01"}), ".spec.a", "would come back as \"x:1\"")]
#[case::split_type(split(), json!({"a": 1}), ".spec.a", "a text is expected, and there is a number")]
#[case::two_ways(json!({"split": [{"version": "v1", "path": ".spec.a", "template": "{h}-x-{p}",
    "parts": {"h": {"path": ".spec.h", "pattern": "a(-x-b)?"}, "p": {"path": ".spec.p", "pattern": "(b-x-)?c"}}}]}),
    json!({"a": "a-x-b-x-c"}), ".spec.a", "split in more than one way")]
#[case::wrap(wrap(), json!({"a": [1, 2]}), ".spec.a", "the list has 2 items")]
#[case::wrap_empty(wrap(), json!({"a": []}), ".spec.a", "the list is empty")]
#[case::unit(units("refuse"), json!({"a": "90s"}), ".spec.a", "\"90s\" would come back as \"1m30s\"")]
#[case::unit_fraction(units("accept"), json!({"a": "1.5s"}), ".spec.a", "not a whole number of seconds")]
#[case::unit_text(units("accept"), json!({"a": "soon"}), ".spec.a", "\"soon\" is not a duration")]
#[case::text(json!({"stringify": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "text": "v1"}]}),
    json!({"a": "{"}), ".spec.a", "the text cannot be read")]
#[case::constant(json!({"constant": [{"version": "v1", "path": ".spec.a", "value": "x"}]}),
    json!({"a": "y"}), ".spec.a", "the map says that it is always \"x\"")]
#[case::constant_missing(json!({"constant": [{"version": "v1", "path": ".spec.a", "value": "x"}]}),
    json!({}), ".spec.a", "it is missing")]
#[case::compute(json!({"compute": [{"v1": {"path": ".spec.a", "expression": "self.spec.b"},
    "v2": {"path": ".spec.b", "expression": "100 / self.spec.a"}}]}),
    json!({"a": 0}), ".spec.a", ".spec.b cannot be computed")]
#[case::in_the_way(json!({"rename": [{"v1": ".spec.a", "v2": ".spec.b.c"}]}),
    json!({"a": 1, "b": "text"}), ".spec.b.c", "there is a text")]
#[case::hole(json!({"rename": [{"v1": ".spec.l[*].a", "v2": ".spec.b[*]"}]}),
    json!({"l": [{}, {"a": 1}]}), ".spec.l[*].a", "1 of 2 items have no value")]
fn a_value_that_would_not_come_back_is_refused(
    #[case] operators: Value,
    #[case] spec: Value,
    #[case] path: &str,
    #[case] words: &str,
) {
    let (at, message) = refused(&operators, &json!({"spec": spec}), "v1", "v2");
    assert_eq!(at, path, "{message}");
    assert!(message.contains(words), "{message}");
}

fn split() -> Value {
    json!({"split": [{"version": "v1", "path": ".spec.a", "template": "{h}:{p}",
        "parts": {"h": {"path": ".spec.h"}, "p": {"path": ".spec.p", "type": "integer"}}}]})
}

fn wrap() -> Value {
    json!({"wrap": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "list": "v1", "otherwise": "refuse"}]})
}

fn units(otherwise: &str) -> Value {
    json!({"units": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "units": {"v1": "duration", "v2": "seconds"},
        "otherwise": otherwise}]})
}

#[test]
fn a_refusal_does_not_reveal_secrets() {
    let split = json!({"split": [{"version": "v1", "path": ".spec.login", "template": "{user}:{pass}",
        "parts": {"user": {"path": ".spec.user"}, "pass": {"path": ".spec.password"}}}]});
    let (_, message) = refused(&split, &json!({"spec": {"login": "hunter2"}}), "v1", "v2");
    assert!(!message.contains("hunter2"), "{message}");
    let constant = json!({"constant": [{"version": "v1", "path": ".spec.token", "value": "t0"}]});
    let (_, message) = refused(&constant, &json!({"spec": {"token": "hunter2"}}), "v1", "v2");
    assert!(!message.contains("hunter2") && !message.contains("t0"), "{message}");
}

#[test]
fn parts_must_be_complete_and_unambiguous() {
    let join = |spec: Value| refused(&split(), &json!({"spec": spec}), "v2", "v1");
    assert_eq!(join(json!({"h": "x"})), (".spec.h, .spec.p".into(), "the part p is missing".into()));
    let (_, message) = join(json!({"h": "a:b", "p": 1}));
    assert!(message.contains("would not be split into the same parts"), "{message}");
    let (_, message) = join(json!({"h": 1, "p": 1}));
    assert!(message.contains("the part h is a number"), "{message}");
}
