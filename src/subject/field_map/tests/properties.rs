//! Every converted value comes back the same, or is refused.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{convert, map};
use crate::subject::field_map::Relation;

/// A random small JSON value, including null.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |number| number.is_finite().then(|| Value::from(number))),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Texts that operators can read, and some that they cannot.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z:{}.0-9 -]{0,8}",
        "[0-9]{1,4}(\\.[0-9]{1,3})?(h|m|s|ms|Mi|Ki|k|)",
        "[a-z.]{1,4}:[0-9]{1,5}",
        "\\{\"a\": ?[0-9]\\}",
        "\\PC{0,6}",
    ]
}

/// A field that is present or absent.
fn spec(name: &'static str) -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(json!({"metadata": {}, "spec": {}})),
        9 => value().prop_map(move |value| json!({"metadata": {}, "spec": {name: value}})),
    ]
}

/// Every operator on single values, with every handling of values that do not fit.
fn operators() -> Vec<Value> {
    let paths = json!({"v1": ".spec.a", "v2": ".spec.b"});
    let mut all = vec![json!({"rename": [paths]})];
    for otherwise in [json!("refuse"), json!({"stash": "example.com/kept"})] {
        all.push(json!({"values": [{"paths": paths, "table": [{"v1": true, "v2": "a"}, {"v1": 0, "v2": false}],
            "otherwise": otherwise}]}));
        all.push(json!({"split": [{"version": "v1", "path": ".spec.a", "template": "{h}:{p}", "otherwise": otherwise,
            "parts": {"h": {"path": ".spec.b"}, "p": {"path": ".spec.p", "type": "integer"}}}]}));
        all.push(json!({"wrap": [{"paths": paths, "list": "v2", "otherwise": otherwise}]}));
        for (left, right) in [("seconds", "duration"), ("bytes", "quantity"), ("milliseconds", "minutes")] {
            all.push(json!({"units": [{"paths": paths, "units": {"v1": left, "v2": right}, "otherwise": otherwise}]}));
        }
        for format in ["json", "yaml"] {
            all.push(json!({"stringify": [{"paths": paths, "text": "v2", "format": format, "otherwise": otherwise}]}));
        }
    }
    all.push(json!({"values": [{"paths": paths, "table": [{"v1": true, "v2": "a"}], "otherwise": "accept"}]}));
    all
}

fn comes_back(operators: &Value, object: &Value, from: &str, to: &str) -> Result<(), TestCaseError> {
    let keeps = operators.to_string().contains("stash");
    match convert(operators, object, from, to) {
        Err(refusal) => prop_assert!(!keeps, "{operators} keeps what does not fit: {refusal}"),
        Ok(there) => {
            let back = convert(operators, &there, to, from);
            prop_assert_eq!(back.as_ref(), Ok(object), "{} by way of {}", operators, there);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_of_the_first_version_comes_back(object in spec("a")) {
        for operators in operators() {
            comes_back(&operators, &object, "v1", "v2")?;
        }
    }

    #[test]
    fn any_value_of_the_second_version_comes_back(object in spec("b")) {
        for operators in operators() {
            comes_back(&operators, &object, "v2", "v1")?;
        }
    }

    #[test]
    fn addresses_come_back(host in "[a-z.]{1,9}", port in any::<i64>()) {
        let split = json!({"split": [{"version": "v1", "path": ".spec.a", "template": "{h}:{p}",
            "parts": {"h": {"path": ".spec.h"}, "p": {"path": ".spec.p", "type": "integer"}}}]});
        let parts = json!({"spec": {"h": host, "p": port}});
        let there = convert(&split, &parts, "v2", "v1").unwrap();
        prop_assert_eq!(convert(&split, &there, "v1", "v2"), Ok(parts));
    }

    #[test]
    fn items_of_lists_come_back(items in prop::collection::vec(value(), 0..5)) {
        let renames = json!({"rename": [
            {"v1": ".spec.a", "v2": ".spec.b"}, {"v1": ".spec.a[*].a", "v2": ".spec.b[*].e"}]});
        let object = json!({"spec": {"a": items}});
        let there = convert(&renames, &object, "v1", "v2").unwrap();
        prop_assert_eq!(convert(&renames, &there, "v2", "v1"), Ok(object));
    }

    #[test]
    fn the_whole_difference_brings_back_anything(left in value(), right in value()) {
        let map = map(&json!({
            "constant": [{"version": "v2", "path": ".spec.c", "value": 1}],
            "default": [{"version": "v2", "path": ".spec.d", "value": 1}],
            "stash": [{"from": "v1", "to": "v2", "path": ".", "annotation": "example.com/v1"}],
        }));
        let relation = Relation::new([&map], |_| None).unwrap();
        let object = json!({"metadata": {}, "spec": {"a": left, "d": right}});
        let there = relation.convert(&object, "v1", "v2").unwrap();
        prop_assert_eq!(relation.convert(&there, "v2", "v1"), Ok(object));
    }
}
