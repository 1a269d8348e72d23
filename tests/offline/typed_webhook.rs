//! The webhook of `examples/webhook.rs`, which people copy, as a process under test.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::cli::{crdproof, repository};

/// The example as a process, until it is dropped.
struct Webhook {
    process: Child,
    url: String,
    authority: Vec<u8>,
}

impl Webhook {
    fn start() -> Self {
        let mut command = Command::new(build_example());
        let mut process = command.arg("127.0.0.1:0").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = std::io::BufReader::new(process.stdout.take().unwrap()).lines();
        let mut said = |key: &str| {
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(key).unwrap_or_else(|| panic!("{line:?} does not start with {key:?}")).to_owned()
        };
        let url = said("url: ");
        let authority = base64::engine::general_purpose::STANDARD.decode(said("caBundle: ")).unwrap();
        Self { process, url, authority }
    }

    /// The subject of the databases, with this webhook as its converter.
    fn subject(&self) -> tempfile::TempDir {
        let folder = crate::cli::subject("databases");
        let file = folder.path().join("crdproof.yaml");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("fieldMap: {}"), "{text}");
        let webhook = format!("webhook: {{url: '{}', caFile: ca.crt}}", self.url);
        std::fs::write(&file, text.replace("fieldMap: {}", &webhook)).unwrap();
        std::fs::write(folder.path().join("ca.crt"), &self.authority).unwrap();
        folder
    }

    /// Converts one object, or returns the message of the refusal.
    fn convert(&self, object: &Value, desired: &str) -> Result<Value, String> {
        use crdproof::converter::endpoint::{Endpoint as _, Request};
        use crdproof::converter::{review, webhook};
        let endpoint = webhook::Webhook::new(&self.url, Some(&self.authority)).unwrap();
        let review = review::request("v1beta1", desired, std::slice::from_ref(object));
        let (outcome, _) = endpoint.send(&Request::post(review.to_string()));
        let crdproof::evidence::Outcome::Answered { status: 200, body, .. } = outcome else { panic!("{outcome:?}") };
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answer["apiVersion"], "apiextensions.k8s.io/v1beta1");
        assert_eq!(answer["response"]["uid"], review["request"]["uid"]);
        match answer["response"]["result"]["status"].as_str() {
            Some("Success") => Ok(answer["response"]["convertedObjects"][0].clone()),
            _ => Err(answer["response"]["result"]["message"].as_str().unwrap_or_default().to_owned()),
        }
    }
}

/// Builds the program: `cargo test --test offline` builds no examples, and a stale one would prove nothing.
fn build_example() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let tests = std::env::current_exe().unwrap();
        let profile = tests.ancestors().nth(2).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--example", "webhook"]).current_dir(repository());
        cargo.arg("--target-dir").arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        // Remove the variables that cargo sets for tests; they would make build scripts run again.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                cargo.env_remove(&*name);
            }
        }
        assert!(cargo.status().unwrap().success(), "the example cannot be built");
        profile.join("examples/webhook")
    })
}

impl Drop for Webhook {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_typed_webhook_passes_every_check() {
    let webhook = Webhook::start();
    let folder = webhook.subject();
    let arguments = ["run", "--suite", "converter", "--suite", "webhook", "--objects", "10000", "--report", "json"];
    let report = crdproof(folder.path(), &arguments).says(0, &[]).json();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    let results = report["results"].as_array().unwrap();
    let inconclusive: Vec<&str> = results
        .iter()
        .filter(|result| result["outcome"] != "passed")
        .filter_map(|result| result["check"].as_str())
        .collect();
    // The schema has neither keyed lists nor numbers.
    assert_eq!(inconclusive, ["converter/list-keys-kept", "converter/numbers-exact"]);
    assert!(results.len() > 35, "only {} checks were judged", results.len());
    for pair in report["conversions"][0]["pairs"].as_array().unwrap() {
        assert!(pair["objects"].as_u64().unwrap() >= 10_000 && pair["refused"] == 0, "{pair}");
    }
}

#[test]
fn the_typed_webhook_keeps_absent_null_and_empty_apart() {
    let webhook = Webhook::start();
    let (v1, v2) = ("example.com/v1", "example.com/v2");
    let object = |version: &str, rest: Value| {
        let mut object = rest;
        object["apiVersion"] = json!(version);
        object["kind"] = json!("Database");
        object
    };
    let annotated = |text: &str| json!({"annotations": {"example.com/v2-password": text}});
    let ways = [
        (json!({"metadata": {"unknown": {"deep": [1]}}}), json!({"metadata": {"unknown": {"deep": [1]}}})),
        (json!({"metadata": {}, "spec": {}}), json!({"metadata": {}, "spec": {}})),
        (json!({"metadata": {}, "spec": {"username": ""}}), json!({"metadata": {}, "spec": {"username": ""}})),
        (json!({"metadata": {}, "spec": {"username": null}}), json!({"metadata": {}, "spec": {"username": null}})),
        (json!({"metadata": {}, "spec": null}), json!({"metadata": {}, "spec": null})),
        (json!({"metadata": {}, "status": {"n": 1}}), json!({"metadata": {}, "status": {"n": 1}})),
        (json!({"metadata": {}, "spec": {"password": ""}}), json!({"metadata": annotated("\"\""), "spec": {}})),
        (json!({"metadata": {}, "spec": {"password": null}}), json!({"metadata": annotated("null"), "spec": {}})),
        (json!({"metadata": {}, "spec": {"password": "p"}}), json!({"metadata": annotated("\"p\""), "spec": {}})),
    ];
    for (rich, poor) in ways {
        let (rich, poor) = (object(v2, rich), object(v1, poor));
        assert_eq!(webhook.convert(&rich, v1).unwrap(), poor);
        assert_eq!(webhook.convert(&poor, v2).unwrap(), rich);
    }
    let bare = webhook.convert(&object(v1, json!({})), v2).unwrap();
    assert_eq!(bare, object(v2, json!({"metadata": {}})), "an API server insists on metadata");
    let stale = object(v2, json!({"metadata": annotated("\"old\""), "spec": {"username": "u"}}));
    assert_eq!(webhook.convert(&stale, v1).unwrap()["metadata"], json!({}), "at v2 only the field counts");
    let by_hand = object(v1, json!({"metadata": annotated("not JSON"), "spec": {}}));
    assert_eq!(webhook.convert(&by_hand, v2).unwrap()["metadata"], annotated("not JSON"));
    assert_eq!(webhook.convert(&bare, v2).unwrap_err(), "the object is of example.com/v2 already");
}
