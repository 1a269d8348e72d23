//! Conformance reports: identity, claims, and that omitted checks are never claimed.

use std::path::Path;
use std::process::Command;

use crdproof_schema::document::{Sources, parse};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{BINARY, crdproof, repository, subject};

fn read(path: &Path) -> (String, Value) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut sources = Sources::default();
    let id = sources.add("report.yaml", text.as_str());
    let documents = parse(&sources, id).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, documents[0].to_value())
}

/// The first block of a language in the document about these reports.
fn block(language: &str) -> String {
    let page = std::fs::read_to_string(repository().join("docs/conformance.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// A subject with the identity that the document shows.
fn identified(name: &str) -> tempfile::TempDir {
    let folder = subject(name);
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text + &block("yaml")).unwrap();
    folder
}

fn level_of<'v>(report: &'v Value, profile: &str, level: &str) -> &'v Value {
    let profiles = report["profiles"].as_array().unwrap();
    &profiles.iter().find(|one| one["name"] == profile).unwrap()[level]
}

#[test]
fn the_example_of_the_document_runs_and_its_digest_is_right() {
    let folder = identified("databases");
    let binaries = Path::new(BINARY).parent().unwrap().display();
    let path = format!("{binaries}:{}", std::env::var("PATH").unwrap_or_default());
    let ended = Command::new("bash").args(["-c", &block("sh")]).current_dir(folder.path()).env("PATH", path).output();
    let ended = ended.unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let (text, report) = read(&folder.path().join("default-v2.1.0-report.yaml"));
    let (before, digest) = text.trim_end().rsplit_once('\n').unwrap();
    let hash: String = Sha256::digest(format!("{before}\n")).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, format!("digest: \"sha256:{hash}\""));

    assert_eq!((&report["apiVersion"], &report["kind"]), (&json!("crdproof/v1alpha1"), &json!("ConformanceReport")));
    assert_eq!(report["tool"], json!({"name": "crdproof", "version": env!("CARGO_PKG_VERSION"), "seed": 1}));
    assert_eq!(report["implementation"]["contact"], json!(["@example/databases"]));
    assert_eq!(report["crds"][0]["name"], "databases.example.com");
    assert_eq!((&report["mode"], &report["reproduction"]["objects"]), (&json!("default"), &json!(50)));
    let command = report["reproduction"]["command"].as_str().unwrap();
    assert_eq!(command, "crdproof run --suite converter --suite webhook --objects 50");
    report["date"].as_str().unwrap().parse::<jiff::civil::Date>().unwrap();

    let core = level_of(&report, "CONVERSION", "core");
    assert_eq!(core["statistics"]["failed"], 0);
    assert!(core["statistics"]["passed"].as_u64().unwrap() > 5, "{core}");
    // Nothing goes over the wire, so nothing is claimed about it.
    let wire = level_of(&report, "WIRE", "core");
    assert_eq!((&wire["result"], &wire["statistics"]["passed"]), (&json!("partial"), &json!(0)));
    let reason = &wire["skippedTests"][0]["reason"];
    assert_eq!(reason, "the converter has no HTTP endpoint");
}

#[test]
fn failed_checks_fail_and_omitted_checks_are_skipped() {
    let folder = identified("databases-none");
    let file = folder.path().join("crdproof.yaml");
    let waiver = "waivers:\n- {check: 'converter/*', reason: known, expires: 9999-12-31}\n";
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + waiver).unwrap();
    let run = ["run", "-q", "--only", "converter", "--record", "seen"];
    let run = [&run[..], &["--report", "conformance=a.yaml"]].concat();
    crdproof(folder.path(), &run).says(0, &[]);
    let (_, report) = read(&folder.path().join("a.yaml"));
    let core = level_of(&report, "CONVERSION", "core");
    assert_eq!(core["result"], "failure");
    let failed = core["failedTests"].as_array().unwrap();
    assert_eq!(core["statistics"]["failed"], failed.len());
    assert!(
        failed.contains(&json!({"test": "converter/round-trip-lossless", "crd": "databases.example.com"})),
        "{core}"
    );
    let wire = level_of(&report, "WIRE", "extended");
    assert_eq!(wire["result"], "partial");
    let reasons = wire["skippedTests"].as_array().unwrap().iter().map(|test| &test["reason"]);
    assert!(reasons.into_iter().all(|reason| reason == "the run left it out"), "{wire}");

    // A recording gives the same profiles.
    crdproof(folder.path(), &["judge", "-q", "seen", "--report", "conformance=b.yaml"]).says(0, &[]);
    assert_eq!(read(&folder.path().join("b.yaml")).1["profiles"], report["profiles"]);
}

#[test]
fn an_identity_is_needed_before_anything_runs() {
    let folder = subject("databases-none");
    let run = ["run", "--report", "conformance=out.yaml", "--report", "json=out.json"];
    let all = "missing are organization, project, version, url, contact";
    crdproof(folder.path(), &run).says(2, &[all, "crdproof.yaml:", "= help: write `implementation: {organization"]);
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text + "implementation: {organization: a, project: b, version: ' ', contact: [c]}\n")
        .unwrap();
    crdproof(folder.path(), &run).says(2, &["crdproof.yaml:8:", "missing are version, url"]);
    assert!(!folder.path().join("out.json").exists() && !folder.path().join(".crdproof").exists());
    crdproof(folder.path(), &["run", "crds", "--report", "conformance"]).says(2, &[all]);
    crdproof(folder.path(), &["diff", "crds", "crds", "--report", "conformance"]).says(2, &["`crdproof run` and"]);
    crdproof(folder.path(), &["run", "--report", "conformanse"]).says(2, &["no report format", "conformance"]);
}
