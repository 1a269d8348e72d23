//! Operators in both directions, refusals, routes, problems, and round trips over random values.

mod operators;
mod problems;
mod properties;
mod refusals;
mod routes;

use serde_json::{Value, json};

use super::{FieldMap, Problem, Refusal, Relation};

/// A map between v1 and v2 with these operators.
fn map(operators: &Value) -> FieldMap {
    let mut map = json!({"crd": "a.example.com", "between": ["v1", "v2"]});
    map.as_object_mut().unwrap().extend(operators.as_object().unwrap().clone());
    serde_json::from_value(map).unwrap()
}

fn convert(operators: &Value, object: &Value, from: &str, to: &str) -> Result<Value, Refusal> {
    let map = map(operators);
    Relation::new([&map], |_| None).unwrap_or_else(|wrong| panic!("{wrong:?}")).convert(object, from, to)
}

/// Asserts that v1 and v2 are converted to each other.
#[track_caller]
fn both_ways(operators: &Value, v1: &Value, v2: &Value) {
    assert_eq!(convert(operators, v1, "v1", "v2").as_ref(), Ok(v2), "v1 to v2");
    assert_eq!(convert(operators, v2, "v2", "v1").as_ref(), Ok(v1), "v2 to v1");
}

/// Asserts that an object comes back the same, and returns its converted form.
#[track_caller]
fn there_and_back(operators: &Value, object: &Value, from: &str, to: &str) -> Value {
    let there = convert(operators, object, from, to).unwrap();
    assert_eq!(convert(operators, &there, to, from).as_ref(), Ok(object), "by way of {there}");
    there
}

fn refused(operators: &Value, object: &Value, from: &str, to: &str) -> (String, String) {
    let Refusal { path, message } = convert(operators, object, from, to).unwrap_err();
    (path, message)
}

fn problem(operators: &Value) -> Problem {
    let map = map(operators);
    Relation::new([&map], |_| None).unwrap_err().problem
}
