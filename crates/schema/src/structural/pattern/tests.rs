use rstest::rstest;
use serde_json::Value;

use super::*;

/// The table that `fixtures/patterns/record.go` wrote.
fn recorded() -> Vec<Value> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/patterns/recorded.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn patterns_are_accepted_and_refused_as_go_does() {
    let mut differences = Vec::new();
    for case in recorded() {
        let pattern = case["pattern"].as_str().unwrap();
        let go = case["refused"].as_str();
        let ours = Pattern::new(pattern);
        // Go quotes the part that it means.
        let kind = |text: &str| text.replace('`', "");
        let same = match (ours.fault(), go) {
            (None, None) => true,
            (Some(ours), Some(go)) => kind(go).contains(&kind(ours)),
            _ => false,
        };
        if !same {
            let short: String = pattern.chars().take(60).collect();
            differences.push(format!("{short}\n  Go: {go:?}\n  we: {:?}", ours.fault()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn matches_are_those_of_go_by_both_engines() {
    let mut compared = 0;
    let mut differences = Vec::new();
    for case in recorded() {
        let pattern = Pattern::new(case["pattern"].as_str().unwrap());
        let Some(tree) = pattern.tree() else { continue };
        let machine = Machine::new(tree);
        for (text, found) in strings(&case["texts"]).into_iter().zip(case["found"].as_array().unwrap()) {
            compared += 1;
            let go = strings(found);
            let ours = pattern.find_all(text).unwrap();
            let slow = machine.find_all(text);
            if ours != go || slow != go || pattern.matches(text) == go.is_empty() {
                differences
                    .push(format!("{} on {text:?}\n  Go {go:?}\n  we {ours:?}\n  machine {slow:?}", pattern.text));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 400, "{compared}");
}

#[rstest]
#[case(r"^[\p{L}\p{N}]{1,1000}$")]
#[case(r"^\p{L}{255}$")]
fn a_large_pattern_is_run_by_the_machine(#[case] text: &str) {
    let pattern = Pattern::new(text);
    assert!(pattern.fault().is_none() && pattern.regex().is_err());
    assert!(pattern.matches(&"é".repeat(255)) && !pattern.matches("-"));
}
