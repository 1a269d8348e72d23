//! Invalid maps are reported with a location and a remedy.

use rstest::rstest;
use serde_json::{Value, json};

use super::problem;

#[rstest]
#[case(json!({"rename": [{"v1": ".spec.a", "v3": ".spec.b"}]}), "/rename/0/v3", "not one of the two versions")]
#[case(json!({"rename": [{"v1": ".spec.a"}]}), "/rename/0", "in both versions")]
#[case(json!({"rename": [{"v1": "spec.a", "v2": ".spec.b"}]}), "/rename/0/v1", "not a path of fields")]
#[case(json!({"rename": [{"v1": ".spec.a[*].b", "v2": ".spec.b"}]}), "/rename/0", "as many lists")]
#[case(json!({"rename": [{"v1": ".spec.a[*].b", "v2": ".spec.c[*].b"}]}), "/rename/0", "nothing relates them")]
#[case(json!({"rename": [{"v1": ".spec.a", "v2": ".spec.b"}, {"v1": ".spec.c", "v2": ".spec.b"}]}),
    "/rename/1/v2", "another operator writes .spec.b of v2")]
#[case(json!({"rename": [{"v1": ".spec.a", "v2": ".spec.b"}],
    "lost": [{"from": "v1", "to": "v2", "path": ".spec.a", "reason": "x", "until": "2027-01-01"}]}),
    "/lost/0/path", "another operator writes .spec.a of v1")]
#[case(json!({"values": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"},
    "table": [{"v1": "x", "v2": 1}, {"v1": "y", "v2": 1}]}]}), "/values/0/table/1/v2", "no way back")]
#[case(json!({"values": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "table": []}]}), "/values/0/table", "empty")]
#[case(json!({"values": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "table": [{"v1": 1}]}]}),
    "/values/0/table/0", "in both versions")]
#[case(split("{h}{p}", &json!({})), "/split/0/template", "nothing separates the parts h and p")]
#[case(split("{h}:{h}", &json!({})), "/split/0/template", "stands twice")]
#[case(split("{h}:{p", &json!({})), "/split/0/template", "names no part")]
#[case(split("{h}:", &json!({})), "/split/0/parts/p", "no part \"p\"")]
#[case(split("{h}:{q}", &json!({})), "/split/0/template", "not described")]
#[case(split("{h}:{p}", &json!({"pattern": "("})), "/split/0/parts/p/pattern", "does not compile")]
#[case(json!({"split": [{"version": "v1", "path": ".spec.a", "template": "{h}:{p}", "parts": {
    "h": {"path": ".spec.h", "pattern": ".+"}, "p": {"path": ".spec.p", "pattern": ".+"}}}]}),
    "/split/0/template", "more than one way")]
#[case(json!({"units": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "units": {"v1": "seconds", "v2": "bytes"}}]}),
    "/units/0/units", "one unit is of time")]
#[case(compute("self.spec.("), "/compute/0/v2/expression", "cannot be used")]
#[case(compute("object.spec.a"), "/compute/0/v2/expression", "called self")]
#[case(json!({"constant": [{"version": "v3", "path": ".spec.a", "value": 1}]}), "/constant/0/version", "not one of")]
#[case(json!({"default": [{"version": "v2", "path": ".spec.a[*]", "value": 1}]}), "/default/0/path", "items of a list")]
#[case(json!({"gather": [{"version": "v1", "lists": [{"path": ".spec.a"}], "into": ".spec.b"}]}),
    "/gather/0", "nobody knows which list")]
#[case(json!({"stash": [{"from": "v1", "to": "v3", "path": ".spec.a", "annotation": "a"}]}), "/stash/0/from", "v1 to v3")]
#[case(json!({"stash": [{"from": "v1", "to": "v2", "path": ".spec.a", "annotation": "a"},
    {"from": "v1", "to": "v2", "path": ".spec.b", "annotation": "a"}]}), "/stash/1/annotation", "another operator keeps")]
fn an_invalid_map_is_refused(#[case] operators: Value, #[case] pointer: &str, #[case] words: &str) {
    let problem = problem(&operators);
    assert_eq!(problem.pointer, pointer, "{problem:?}");
    assert!(problem.message.contains(words), "{problem:?}");
    assert!(!problem.help.is_empty());
}

fn split(template: &str, more: &Value) -> Value {
    let mut part = json!({"path": ".spec.p"});
    part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"split": [{"version": "v1", "path": ".spec.a", "template": template,
        "parts": {"h": {"path": ".spec.h"}, "p": part}}]})
}

fn compute(expression: &str) -> Value {
    json!({"compute": [{"v1": {"path": ".spec.a", "expression": "self.spec.b"},
        "v2": {"path": ".spec.b", "expression": expression}}]})
}
