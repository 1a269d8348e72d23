use std::collections::BTreeMap;
use std::path::Path;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::document::{Sources, parse as read_yaml};

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rule-costs");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn document(text: &str) -> Value {
    let mut sources = Sources::default();
    let id = sources.add("document", text);
    read_yaml(&sources, id).unwrap()[0].to_value()
}

fn schema(value: &Value) -> Schema {
    let mut sources = Sources::default();
    let id = sources.add("schema", value.to_string());
    Schema::read(&read_yaml(&sources, id).unwrap()[0])
}

#[derive(serde::Deserialize)]
struct Recorded {
    estimated: u64,
}

/// The cost of one evaluation of each rule that servers compile, with the estimate here.
fn compared() -> Vec<(String, u64, (u64, bool))> {
    let recorded: BTreeMap<String, BTreeMap<String, Recorded>> =
        serde_json::from_str(&fixture("recorded.json")).unwrap();
    let cases = document(&fixture("cases.yaml"));
    let mut compared = Vec::new();
    for case in cases["cases"].as_array().unwrap() {
        let schema = schema(&case["schema"]);
        let declared = Declared::of(&schema, false, 0).unwrap();
        for rule in case["rules"].as_array().unwrap() {
            let (name, rule) = (case["name"].as_str().unwrap(), rule.as_str().unwrap());
            if let Some(cost) = recorded[name].get(rule) {
                compared.push((format!("{name}: {rule}"), cost.estimated, estimate(rule, &declared, false)));
            }
        }
    }
    compared
}

#[test]
fn estimates_are_those_of_kubernetes() {
    let wrong: Vec<_> = compared()
        .into_iter()
        .filter(|(_, theirs, (ours, is_exact))| if *is_exact { theirs != ours } else { ours > theirs })
        .map(|(rule, theirs, ours)| format!("{rule}\n  Kubernetes {theirs}, here {ours:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn most_estimates_are_exact() {
    let compared = compared();
    let open: Vec<_> = compared.iter().filter(|(_, _, (_, is_exact))| !is_exact).map(|(rule, ..)| rule).collect();
    assert!(compared.len() > 120 && open.len() < 8, "{} of {}: {open:#?}", open.len(), compared.len());
}

/// `[1, …, 9]` in loops of a number of levels.
fn nested(levels: usize) -> String {
    let list = "[1,2,3,4,5,6,7,8,9,0]";
    let inner = (0..levels).fold("1".to_owned(), |body, level| format!("{list}.map(x{level}, {body})"));
    format!("{inner}.size() > 0")
}

/// Kubernetes 1.36 accepts five levels and refuses six.
#[rstest]
#[case(4, false)]
#[case(5, false)]
#[case(6, true)]
fn rules_of_many_nested_loops_are_over_the_limit(#[case] levels: usize, #[case] is_refused: bool) {
    let schema = schema(&json!({"type": "object", "x-kubernetes-validations": [{"rule": nested(levels)}]}));
    let costs = rule_costs(&schema);
    assert!(costs[0].is_exact);
    assert_eq!(costs[0].cost > RULE_COST_LIMIT, is_refused, "{}", costs[0].cost);
}

/// The number of occurrences is a product of bounds, or what fits into a request where one is missing.
#[rstest]
#[case(json!({"maxItems": 5}), 5)]
#[case(json!({}), 3 * 1024 * 1024 / 3)]
fn costs_are_multiplied_by_occurrences(#[case] bounds: Value, #[case] times: u64) {
    let mut list = json!({
        "type": "array",
        "items": {"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "size(self) > 1"}]},
    });
    list.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
    let schema = schema(&json!({"type": "object", "properties": {"list": list}}));
    let costs = rule_costs(&schema);
    assert_eq!((costs[0].cost, costs[0].is_exact), (3 * times, true));
    assert_eq!(costs[0].path.to_string(), ".list[*]");
}

#[test]
fn costs_of_messages_count_once() {
    let rules = json!([{"rule": "true", "messageExpression": "self + self"}]);
    let text = json!({"type": "string", "x-kubernetes-validations": rules});
    let schema = schema(&json!({"type": "object", "properties": {"text": text}}));
    let costs = rule_costs(&schema);
    assert!(costs[1].is_message && costs[1].cost > 600_000 && costs[0].cost == 0, "{costs:?}");
}
