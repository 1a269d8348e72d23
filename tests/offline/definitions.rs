//! Verdicts on definitions, compared with those of a real API server. A definition that the server refuses must have an
//! error, and one that it accepts must have no error that predicts a refusal.

use crdproof::checks::Severity;
use crdproof::subject::load::{self, Text};
use crdproof_schema::document::{Node, Sources, parse};
use serde_json::{Value, json};

use crate::fixture::{judge, root};

/// Definitions whose fault only the server's own CEL compiler finds: types and cost. Our check is inconclusive there,
/// never passed.
const LEFT_TO_THE_SERVER: &str = "manifest/rules-affordable";

#[test]
fn definitions_are_refused_exactly_where_the_server_refuses_them() {
    let mut wrong = Vec::new();
    let mut counts = (0, 0, 0);
    for entry in std::fs::read_dir(root().join("verdicts/recorded/v1.36.4")).unwrap().flatten() {
        let recorded: Value = serde_json::from_str(&std::fs::read_to_string(entry.path()).unwrap()).unwrap();
        let theme = recorded["theme"].as_str().unwrap();
        let mut sources = Sources::default();
        let id = sources.add(theme, std::fs::read_to_string(root().join(format!("verdicts/{theme}.yaml"))).unwrap());
        let documents = parse(&sources, id).unwrap();
        let cases = documents[0].get("cases").unwrap().items();
        for (case, result) in cases.iter().zip(recorded["cases"].as_array().unwrap()) {
            let refused = !result["crd"].is_null();
            let report = judge(&definition(case), Vec::new());
            let errors: Vec<_> = report.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
            let open = report.results.iter().any(|verdict| {
                verdict.check == LEFT_TO_THE_SERVER && verdict.outcome == crdproof::report::Outcome::Inconclusive
            });
            match (refused, errors.is_empty()) {
                (true, true) if open => counts.2 += 1,
                (true, true) => wrong.push(format!("{theme}: {:?} is refused: {}", case.str_at("name"), result["crd"])),
                (false, false) => {
                    wrong.push(format!("{theme}: {:?} is accepted: {}", case.str_at("name"), errors[0].message));
                }
                (true, false) => counts.0 += 1,
                (false, true) => counts.1 += 1,
            }
        }
    }
    println!(
        "{} refused by both, {} accepted by both, {} refused and left to the server by us",
        counts.0, counts.1, counts.2
    );
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts.0 > 0 && counts.1 > 200);
}

/// The CRD that the recorder installs for a case.
fn definition(case: &Node) -> crdproof::subject::Subject {
    let around = |name: &str, schema: Value| json!({"type": "object", "properties": {name: schema}});
    let schema = match (case.get("schema"), case.get("specSchema"), case.get("rootSchema")) {
        (Some(value), ..) => around("spec", around("value", value.to_value())),
        (_, Some(spec), _) => around("spec", spec.to_value()),
        (.., Some(root)) => root.to_value(),
        _ => panic!("a case has a schema"),
    };
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    if case.get("status").and_then(Node::as_bool) == Some(true) {
        version["subresources"] = json!({"status": {}});
    }
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "cases.verdicts.example.com"},
        "spec": {
            "group": "verdicts.example.com", "scope": "Cluster",
            "names": {"kind": "Case", "listKind": "CaseList", "plural": "cases", "singular": "case"},
            "versions": [version],
        },
    });
    load::from_texts(vec![Text { name: "crd.json".into(), text: crd.to_string() }], Vec::new(), None).unwrap()
}
