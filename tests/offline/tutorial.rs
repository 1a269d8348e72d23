//! The webhook that tutorials show, started from its subject file, and the findings that its author sees.

use std::path::PathBuf;

use crate::cli::{Ended, crdproof, repository};
use crate::nested_cargo::nested_cargo;

/// Builds the example with the same cargo into the same folder.
fn webhook() -> PathBuf {
    let mut build = nested_cargo();
    build.args(["build", "--quiet", "--locked", "--offline", "--example", "tutorial_webhook"]);
    assert!(build.current_dir(repository()).status().unwrap().success(), "the example does not build");
    let tests = std::env::current_exe().unwrap();
    tests.parent().and_then(|deps| deps.parent()).unwrap().join("examples/tutorial_webhook")
}

fn judged(keys: &str) -> Ended {
    let folder = crate::cli::subject("databases-tutorial");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let converter = format!("converter: {{process: {{run: ['{}']{keys}}}}}\n", webhook().display());
    std::fs::write(&file, text + &converter).unwrap();
    crdproof(folder.path(), &["run", "--suite", "quick", "--report", "json"])
}

#[test]
fn the_tutorial_webhook_fails_with_clear_messages() {
    let ended = judged("").says(1, &[]);
    let report = ended.json();
    let findings = report["findings"].as_array().unwrap();
    let expected = [
        ("manifest/conversion-stanza-valid", "https only", "https"),
        ("manifest/review-v1-offered", "not v1", "v1"),
        ("webhook/certificate-trusted", "serves plain HTTP", "serve HTTPS"),
        ("webhook/content-type-json", "the answer has no content type", "application/json"),
        ("webhook/count-and-order-kept", "objects", "objects"),
        (
            "webhook/envelope-kept",
            "of the answer \"apiextensions.k8s.io/v1beta1\"",
            "apiVersion and kind of the request",
        ),
        ("webhook/identity-kept", "came back at \"example.com/v1\"", "set apiVersion to desiredAPIVersion"),
        ("webhook/large-batch-converted", "500 objects", "convert every object"),
        ("webhook/refusal-explained", "a version that does not exist got Success", "Failure"),
        ("webhook/uid-echoed", "the answer's is null", "copy request.uid into response.uid"),
    ];
    for (check, message, help) in expected {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let of_check: Vec<_> = findings.iter().filter(|finding| finding["check"] == check).collect();
        let fits = |finding: &&&serde_json::Value| {
            text(&finding["message"]).contains(message) && text(&finding["help"]).contains(help)
        };
        assert!(of_check.iter().find(fits).is_some(), "{check}: {message}, {help}: {of_check:#?}");
    }
}

#[test]
fn plain_http_is_reported_even_if_declared() {
    let ended = judged(", tls: false, port: 38080").says(1, &["serves plain HTTP"]);
    assert!(crate::webhook::broken(&ended).len() >= 5);
}
