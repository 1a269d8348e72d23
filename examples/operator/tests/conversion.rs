//! Tests of the conversion. `cargo test` needs no cluster for them.

use serde_json::Value;

/// Writes the CRD to a file, which crdproof reads.
fn checker() -> (tempfile::TempDir, crdproof::Checker) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("databases.json");
    std::fs::write(&file, serde_json::to_vec_pretty(&operator::crd()).unwrap()).unwrap();
    let checker = crdproof::check(&file).unwrap();
    (folder, checker)
}

#[test]
fn the_crd_is_sound() {
    let (_folder, checker) = checker();
    checker.suite("manifest").run().unwrap().assert_passed();
}

#[test]
fn conversion_loses_nothing() {
    let (_folder, checker) = checker();
    checker.converter(operator::convert).objects(300).run().unwrap().assert_passed();
}

/// A conversion that drops the backup schedule when it converts to v1.
fn forgetful(object: &Value, to: &str) -> Result<Value, String> {
    let mut converted = operator::convert(object, to)?;
    if to == "example.com/v1"
        && let Some(spec) = converted["spec"].as_object_mut()
    {
        spec.remove("backupSchedule");
    }
    Ok(converted)
}

#[test]
fn a_planted_loss_is_caught() {
    let (_folder, checker) = checker();
    let report = checker.converter(forgetful).objects(300).run().unwrap();
    assert!(!report.has_passed());
    let lost = report.findings.iter().find(|finding| finding.check == "converter/round-trip-lossless").unwrap();
    assert!(lost.message.starts_with(".spec.backupSchedule"), "{}", lost.message);
    assert!(lost.message.ends_with("is lost on the way v1→v2→v1"), "{}", lost.message);
}

#[test]
#[should_panic(expected = "counterexample: .spec.backupSchedule")]
fn the_panic_names_the_field() {
    let (_folder, checker) = checker();
    checker.converter(forgetful).objects(300).run().unwrap().assert_passed();
}
