//! Routes through hub versions, and expected results.

use serde_json::{Value, json};

use super::super::{FieldMap, Relation, expected, inverse_gaps};

fn between(left: &str, right: &str, operators: &Value) -> FieldMap {
    let mut map = json!({"crd": "a.example.com", "between": [left, right]});
    map.as_object_mut().unwrap().extend(operators.as_object().unwrap().clone());
    serde_json::from_value(map).unwrap()
}

#[test]
fn versions_are_reached_through_a_hub() {
    let maps = [
        between("v1", "hub", &json!({"rename": [{"v1": ".spec.a", "hub": ".spec.b"}]})),
        between("v2", "hub", &json!({"rename": [{"v2": ".spec.c", "hub": ".spec.b"}]})),
    ];
    let relation = Relation::new(&maps, |_| None).unwrap();
    assert_eq!(relation.way("v1", "v2"), Some(vec!["v1", "hub", "v2"]));
    assert_eq!(relation.way("v1", "v1"), Some(vec!["v1"]));
    assert_eq!(relation.way("v1", "v9"), None);
    let old = json!({"apiVersion": "example.com/v1", "spec": {"a": 1}});
    let new = json!({"apiVersion": "example.com/v2", "spec": {"c": 1}});
    assert_eq!(expected(&relation, &old, "v1", "v2"), Ok(new.clone()));
    assert_eq!(expected(&relation, &new, "v2", "v1"), Ok(old.clone()));
    assert_eq!(expected(&relation, &old, "v1", "v1"), Ok(old.clone()));
    let refusal = expected(&relation, &old, "v1", "v9").unwrap_err();
    assert_eq!(refusal.message, "no field map relates v1 and v9");
}

#[test]
fn two_shortest_routes_are_refused() {
    let none = json!({});
    let pairs = [("v1", "v2"), ("v2", "v4"), ("v1", "v3"), ("v3", "v4")];
    let maps = pairs.map(|(left, right)| between(left, right, &none));
    let wrong = Relation::new(&maps, |_| None).unwrap_err();
    assert_eq!((wrong.map, wrong.problem.pointer.as_str()), (3, "/between"));
    assert!(wrong.problem.message.contains("two shortest ways"), "{wrong:?}");
    let twice = [between("v1", "v2", &none), between("v2", "v1", &none)];
    let wrong = Relation::new(&twice, |_| None).unwrap_err();
    assert_eq!(wrong.map, 1);
    assert_eq!(wrong.problem.message, "another map relates v1 and v2 already");
}

#[test]
fn expressions_that_are_not_inverse_are_found() {
    let compute = |back: &str| {
        between(
            "v1",
            "v2",
            &json!({"compute": [{
                "v1": {"path": ".spec.a", "expression": back},
                "v2": {"path": ".spec.b", "expression": "self.spec.a * 2"},
            }]}),
        )
    };
    let objects = |values: [i64; 2]| values.map(|a| json!({"apiVersion": "example.com/v1", "spec": {"a": a}}));
    let (right, wrong) = (compute("self.spec.b / 2"), compute("self.spec.b / 2 > 3 ? 3 : self.spec.b / 2"));
    let gaps = |map: &FieldMap| {
        let relation = Relation::new([map], |_| None).unwrap();
        inverse_gaps(&relation, &[map], &objects([1, 7]))
    };
    assert_eq!(gaps(&right), []);
    let found = gaps(&wrong);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].object, found[0].pointer.as_str()), (1, "/spec/a"));
    assert_eq!(found[0].what, "7 comes back as 3");
}

#[test]
fn a_declared_loss_is_not_a_gap() {
    let map = between(
        "v1",
        "v2",
        &json!({"lost": [
        {"from": "v1", "to": "v2", "path": ".spec.l[*].old", "reason": "x", "until": "2027-01-01"}]}),
    );
    let relation = Relation::new([&map], |_| None).unwrap();
    let object = json!({"apiVersion": "example.com/v1", "spec": {"l": [{"old": 1}, {"a": 2}]}});
    assert_eq!(inverse_gaps(&relation, &[&map], &[object]), []);
}
