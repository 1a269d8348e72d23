//! Declarations about conversion: losses by path, omitted zero values, hints for generated values.

use std::collections::BTreeSet;

use crdproof::{Finding, Report, Severity};
use serde_json::{Value, json};

/// Two versions with a string that the converter parses as a duration, and a field that only one version has.
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

fn failed_checks(report: &Report) -> BTreeSet<&str> {
    let counts = |finding: &&Finding| finding.severity >= Severity::Warning && finding.waiver.is_none();
    report.findings.iter().filter(counts).map(|finding| finding.check.as_str()).collect()
}

fn converted_to(object: &Value, to: &str) -> Value {
    let mut object = object.clone();
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    object["apiVersion"] = json!(to);
    object
}

#[expect(clippy::unnecessary_wraps, reason = "a conversion may refuse, so that its type says so")]
fn loses_notes(object: &Value, to: &str) -> Result<Value, String> {
    let mut object = converted_to(object, to);
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("note");
    }
    Ok(object)
}

#[test]
fn losses_are_declared_by_path() {
    let without = run("", loses_notes);
    assert!(failed_checks(&without).contains("converter/round-trip-lossless"), "{:?}", failed_checks(&without));
    let with = run("losses: [{path: '.spec.no*', reason: gone in v3, expires: 2999-01-01}]\n", loses_notes);
    assert_eq!(failed_checks(&with), BTreeSet::new());
    let expired = run("losses: [{path: .spec.note, reason: gone in v3, expires: 2020-01-01}]\n", loses_notes);
    assert_eq!(failed_checks(&expired), BTreeSet::from(["converter/loss-is-declared"]));
    let unreal = run("losses: [{path: .spec.retries, reason: was dropped, expires: 2999-01-01}]\n", |object, to| {
        Ok(converted_to(object, to))
    });
    assert_eq!(failed_checks(&unreal), BTreeSet::from(["converter/declared-loss-is-real"]));
}

#[test]
fn declared_omitted_zeros_are_not_findings() {
    let omits: fn(&Value, &str) -> Result<Value, String> = |object, to| {
        let mut object = converted_to(object, to);
        if let Some(Value::Object(spec)) = object.get_mut("spec") {
            spec.retain(|_, value| *value != json!(0) && *value != json!("") && *value != json!([]));
        }
        Ok(object)
    };
    assert_eq!(failed_checks(&run("", omits)), BTreeSet::from(["converter/absent-null-empty-distinct"]));
    assert_eq!(failed_checks(&run("omittedZeros: {reason: Go structs with omitempty}\n", omits)), BTreeSet::new());
    // A lost value that is not zero is still a finding.
    let with_loss = run("omittedZeros: {reason: Go structs with omitempty}\n", loses_notes);
    assert!(failed_checks(&with_loss).contains("converter/round-trip-lossless"), "{:?}", failed_checks(&with_loss));
}

/// Refuses every value that is not a duration, as Go's `time.ParseDuration` does.
fn convert_durations_only(object: &Value, to: &str) -> Result<Value, String> {
    let is_duration = |text: &str| {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &text[number.len()..];
        number.parse::<u32>().is_ok() && ["ms", "s", "m", "h"].contains(&unit)
    };
    let steps = object["spec"]["steps"].as_array().into_iter().flatten().map(|step| &step["timeout"]);
    let timeouts = steps.chain([&object["spec"]["timeout"]]).filter_map(Value::as_str);
    match timeouts.into_iter().find(|text| !is_duration(text)) {
        Some(text) => Err(format!("time: invalid duration {text:?}")),
        None => Ok(converted_to(object, to)),
    }
}

#[test]
fn hints_restrict_generated_strings() {
    let without = run("", convert_durations_only);
    assert!(failed_checks(&without).contains("converter/valid-always-converts"), "{:?}", failed_checks(&without));
    let hints = "generate: {hints: [{path: '.**.timeout', as: duration}, {path: .spec.note, values: [a, b]}]}\n";
    let with = run(hints, convert_durations_only);
    assert_eq!(failed_checks(&with), BTreeSet::new());
    let refused: usize =
        with.conversions.iter().flat_map(|conversions| &conversions.pairs).map(|pair| pair.refused).sum();
    assert_eq!(refused, 0);
}

#[test]
fn contradictory_declarations_are_errors_with_a_location() {
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
