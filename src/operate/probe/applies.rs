//! Probes of server-side apply of values.

use serde_json::{Value, json};

use super::ProbeResult;
use super::bench::{Bench, said};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::Answer;

/// V08: the server refused integers in number fields.
pub(super) async fn whole_numbers(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    bench.plain(json!({"type": "object", "properties": {"ratio": {"type": "number"}}})).await?;
    let mut answers = Vec::new();
    for ratio in [json!(1), json!(1.5), json!(2)] {
        answers.push(bench.apply("v1", "m1", &json!({"ratio": ratio})).await?);
    }
    Ok(numbers_accepted(&answers))
}

fn numbers_accepted(answers: &[Answer]) -> ProbeResult {
    match answers.iter().find(|answer| !answer.is_success()) {
        None => ProbeResult::Good("1, 1.5 and 2 were applied".into()),
        Some(answer) if answer.message().contains("cannot convert") => ProbeResult::Bad(said(answer)),
        Some(answer) => ProbeResult::Unclear(said(answer)),
    }
}

/// V11: items stayed in the order of the first apply.
pub(super) async fn submitted_order(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let item = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
    let list = json!({"type": "array", "items": item, "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"]});
    bench.plain(json!({"type": "object", "properties": {"list": list, "turn": {"type": "integer"}}})).await?;
    // Some releases ignore an apply that only changes the order, so another field changes as well.
    let spec = |turn: u32, names: [&str; 3]| json!({"turn": turn, "list": names.map(|name| json!({"name": name}))});
    bench.apply("v1", "m1", &spec(1, ["a", "b", "c"])).await?.ok()?;
    Ok(ordered(&bench.apply("v1", "m1", &spec(2, ["c", "a", "b"])).await?))
}

fn ordered(answer: &Answer) -> ProbeResult {
    let object = answer.json();
    let items = object["spec"]["list"].as_array().into_iter().flatten();
    let names: String = items.filter_map(|item| item["name"].as_str()).collect();
    let seen = format!("abc was stored, cab applied, and the order is {names}");
    match names.as_str() {
        "cab" => ProbeResult::Good(seen),
        "abc" => ProbeResult::Bad(seen),
        _ => ProbeResult::Unclear(format!("{seen}: {}", said(answer))),
    }
}

/// V34: a withdrawn object stayed behind without its fields, including required ones.
pub(super) async fn emptied_parent(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let part = json!({"type": "object", "nullable": true, "required": ["name"],
        "properties": {"name": {"type": "string"}}});
    bench.plain(json!({"type": "object", "properties": {"part": part}})).await?;
    bench.apply("v1", "m1", &json!({"part": {"name": "x"}})).await?.ok()?;
    Ok(withdrawn(&bench.apply("v1", "m1", &json!({"part": Value::Null})).await?))
}

fn withdrawn(answer: &Answer) -> ProbeResult {
    match answer.status {
        200 => ProbeResult::Good(format!("null was applied, and the field is {}", answer.json()["spec"]["part"])),
        422 if answer.message().contains("Required value") => ProbeResult::Bad(said(answer)),
        _ => ProbeResult::Unclear(said(answer)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::bench::tests::{answer, refusal, word};
    use super::*;

    #[rstest]
    #[case(&[], "good")]
    #[case(&[(500, "cannot convert int64 to float64")], "bad")]
    #[case(&[(403, "you may not")], "unclear")]
    fn integers_are_accepted(#[case] refusals: &[(u16, &str)], #[case] expected: &str) {
        let mut answers = vec![answer(201, &json!({}))];
        answers.extend(refusals.iter().map(|(status, message)| refusal(*status, message)));
        assert_eq!(word(&numbers_accepted(&answers)), expected);
    }

    #[rstest]
    #[case("cab", "good")]
    #[case("abc", "bad")]
    #[case("bca", "unclear")]
    fn the_order_is_that_of_the_apply(#[case] order: &str, #[case] expected: &str) {
        let list: Vec<Value> = order.chars().map(|name| json!({"name": name.to_string()})).collect();
        assert_eq!(word(&ordered(&answer(200, &json!({"spec": {"list": list}})))), expected);
    }

    #[rstest]
    #[case(answer(200, &json!({"spec": {"part": null}})), "good")]
    #[case(refusal(422, "spec.part.name: Required value"), "bad")]
    #[case(refusal(422, "spec.part: must be of type object"), "unclear")]
    fn a_withdrawn_object_is_removed_completely(#[case] answer: Answer, #[case] expected: &str) {
        assert_eq!(word(&withdrawn(&answer)), expected);
    }
}
