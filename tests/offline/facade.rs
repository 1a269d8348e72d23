//! The library in one expression, as an operator's test uses it.

use std::path::Path;

use serde_json::{Value, json};

fn fixture(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)
}

#[test]
fn crds_are_checked_in_one_line() {
    let report = crdproof::check(fixture("crds/three-versions/crds")).unwrap().suite("quick").run().unwrap();
    report.assert_passed();
    assert!(report.results.len() > 20, "{:?}", report.summary);
}

#[test]
fn a_subject_that_fails_panics_with_the_report() {
    let report = crdproof::check(fixture("crds/databases-none/crds")).unwrap().suite("manifest").run().unwrap();
    let panic = std::panic::catch_unwind(|| report.assert_passed()).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    for words in ["error[manifest/none-strategy-lossless]: .spec.password", "✗ failed: "] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let reproduce = report.findings[0].reproduce.as_deref().unwrap();
    assert!(reproduce.starts_with("crdproof run --suite manifest "), "{reproduce}");
}

#[test]
fn a_panic_ends_with_a_counterexample_that_people_can_read() {
    let report = crdproof::check(fixture("crds/databases-none/crds")).unwrap().suite("converter").run().unwrap();
    let panic = std::panic::catch_unwind(|| report.assert_passed()).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    let (_, example) = text.split_once("\ncounterexample: ").unwrap();
    assert!(example.starts_with(".spec.password"), "{example}");
    for line in ["--- v2 in", "+++ v2 converted", "    \"kind\": \"Database\"", "-     \"password\": \"•••\""] {
        assert!(example.lines().any(|own| own == line), "{line}: {example}");
    }
    assert!(example.contains("\nhelp: "), "{example}");
}

/// Renames a field on the way to v2 and back.
fn convert(object: &Value, to: &str) -> Result<Value, String> {
    let mut object = object.clone();
    if !object.is_object() {
        return Err("this is not an object".into());
    }
    let (from, into) = if to.ends_with("/v2") { ("hostPort", "endpoint") } else { ("endpoint", "hostPort") };
    object["apiVersion"] = json!(to);
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
        && let Some(value) = spec.remove(from)
    {
        spec.insert(into.to_owned(), value);
    }
    Ok(object)
}

const CRD: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://webhook.example.com/convert"}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {hostPort: {type: string}}}}}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {endpoint: {type: string}}}}}}
"#;

#[test]
fn a_conversion_in_rust_is_checked_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crd.yaml");
    std::fs::write(&path, CRD).unwrap();
    let check = || crdproof::check(&path).unwrap();
    check().converter(convert).objects(200).run().unwrap().assert_passed();
    let lossy = |object: &Value, to: &str| {
        let mut object = convert(object, to)?;
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
            spec.remove("hostPort");
        }
        Ok::<_, String>(object)
    };
    let report = check().converter(lossy).objects(200).run().unwrap();
    assert!(!report.has_passed());
    assert!(report.findings.iter().any(|finding| finding.check == "converter/round-trip-lossless"));
}

#[test]
fn unknown_names_are_errors_with_a_remedy() {
    let path = fixture("crds/three-versions/crds");
    let error = crdproof::check(&path).unwrap().suite("quik").run().unwrap_err();
    assert!(error.to_string().contains("there is no suite \"quik\""), "{error}");
    let error = crdproof::check(fixture("nowhere")).unwrap_err();
    assert!(matches!(error, crdproof::Error::Input(_)), "{error}");
}
