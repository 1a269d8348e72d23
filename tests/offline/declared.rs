//! What authors declare about conversion: losses by path, zero values that may go, hints for generated values.

use std::collections::BTreeSet;

use crdproof::{Finding, Report, Severity};
use serde_json::{Value, json};

/// Two versions with a text that is a duration to the converter, and a field that only one version has.
const CRD: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Job, listKind: JobList, plural: jobs, singular: job}
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://webhook.example.com/convert"}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              timeout: {type: string}
              retries: {type: integer}
              note: {type: string, minLength: 1}
              steps: {type: array, items: {type: object, properties: {timeout: {type: string}}}}
  - {name: v2, served: true, storage: false, schema: *schema}
"#;

fn subject(declared: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {{paths: [crd.yaml]}}\n{declared}");
    std::fs::write(folder.path().join("crdproof.yaml"), file).unwrap();
    std::fs::write(folder.path().join("crd.yaml"), CRD).unwrap();
    folder
}

fn run(declared: &str, convert: fn(&Value, &str) -> Result<Value, String>) -> Report {
    let folder = subject(declared);
    let checker = crdproof::check(folder.path().join("crdproof.yaml")).unwrap();
    checker.converter(convert).objects(300).run().unwrap()
}

fn found(report: &Report) -> BTreeSet<&str> {
    let counts = |finding: &&Finding| finding.severity >= Severity::Warning && finding.waiver.is_none();
    report.findings.iter().filter(counts).map(|finding| finding.check.as_str()).collect()
}

fn at(object: &Value, to: &str) -> Value {
    let mut object = object.clone();
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    object["apiVersion"] = json!(to);
    object
}

#[expect(clippy::unnecessary_wraps, reason = "a conversion may refuse, so that its type says so")]
fn loses_notes(object: &Value, to: &str) -> Result<Value, String> {
    let mut object = at(object, to);
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("note");
    }
    Ok(object)
}

#[test]
fn losses_are_declared_by_path() {
    let without = run("", loses_notes);
    assert!(found(&without).contains("converter/round-trip-lossless"), "{:?}", found(&without));
    let with = run("losses: [{path: '.spec.no*', reason: gone in v3, expires: 2999-01-01}]\n", loses_notes);
    assert_eq!(found(&with), BTreeSet::new());
    let expired = run("losses: [{path: .spec.note, reason: gone in v3, expires: 2020-01-01}]\n", loses_notes);
    assert_eq!(found(&expired), BTreeSet::from(["converter/loss-is-declared"]));
    let unreal = run("losses: [{path: .spec.retries, reason: was dropped, expires: 2999-01-01}]\n", |object, to| {
        Ok(at(object, to))
    });
    assert_eq!(found(&unreal), BTreeSet::from(["converter/declared-loss-is-real"]));
}

#[test]
fn omitted_zeros_are_fine_where_the_author_says_so() {
    let omits: fn(&Value, &str) -> Result<Value, String> = |object, to| {
        let mut object = at(object, to);
        if let Some(Value::Object(spec)) = object.get_mut("spec") {
            spec.retain(|_, value| *value != json!(0) && *value != json!("") && *value != json!([]));
        }
        Ok(object)
    };
    assert_eq!(found(&run("", omits)), BTreeSet::from(["converter/absent-null-empty-distinct"]));
    assert_eq!(found(&run("omittedZeros: {reason: Go structs with omitempty}\n", omits)), BTreeSet::new());
    // A value that is not zero is lost all the same.
    let with_loss = run("omittedZeros: {reason: Go structs with omitempty}\n", loses_notes);
    assert!(found(&with_loss).contains("converter/round-trip-lossless"), "{:?}", found(&with_loss));
}

/// Refuses whatever is not a duration, as Go's `time.ParseDuration` does.
fn parses(object: &Value, to: &str) -> Result<Value, String> {
    let is_duration = |text: &str| {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &text[number.len()..];
        number.parse::<u32>().is_ok() && ["ms", "s", "m", "h"].contains(&unit)
    };
    let steps = object["spec"]["steps"].as_array().into_iter().flatten().map(|step| &step["timeout"]);
    let timeouts = steps.chain([&object["spec"]["timeout"]]).filter_map(Value::as_str);
    match timeouts.into_iter().find(|text| !is_duration(text)) {
        Some(text) => Err(format!("time: invalid duration {text:?}")),
        None => Ok(at(object, to)),
    }
}

#[test]
fn hints_say_what_text_fields_hold() {
    let without = run("", parses);
    assert!(found(&without).contains("converter/valid-always-converts"), "{:?}", found(&without));
    let hints = "generate: {hints: [{path: '.**.timeout', as: duration}, {path: .spec.note, values: [a, b]}]}\n";
    let with = run(hints, parses);
    assert_eq!(found(&with), BTreeSet::new());
    let refused: usize =
        with.conversions.iter().flat_map(|conversions| &conversions.pairs).map(|pair| pair.refused).sum();
    assert_eq!(refused, 0);
}

#[test]
fn declarations_that_cannot_be_meant_are_errors_with_a_place() {
    for (declared, line, said) in [
        ("losses: [{path: spec.a, reason: x, expires: 2999-01-01}]\n", 4, "not the path of a field"),
        ("losses: [{path: .spec.a, reason: '', expires: 2999-01-01}]\n", 4, "the reason is empty"),
        ("omittedZeros: {reason: ''}\n", 4, "the reason is empty"),
        ("generate:\n  hints:\n  - {path: .spec.note}\n", 6, "exactly one of as, values and pattern"),
        ("generate:\n  hints:\n  - {path: .spec.nothing, as: cron}\n", 6, "no field is named"),
        ("generate:\n  hints:\n  - {path: .spec.note, pattern: '('}\n", 6, "cannot be compiled"),
    ] {
        let folder = subject(declared);
        let error = crdproof::check(folder.path().join("crdproof.yaml"))
            .err()
            .unwrap_or_else(|| panic!("{declared} is accepted"))
            .to_string();
        assert!(error.contains(said) && error.contains(&format!("crdproof.yaml:{line}:")), "{declared}: {error}");
    }
}
