//! Canaries in every fixture and in every mutant: no report shows one.

use std::path::{Path, PathBuf};

use crdproof::report::{Format, Report, json, render};
use crdproof_schema::document::{Sources, parse};
use rstest::rstest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::is_mute;
use crate::fixture::{Recordings, check_fixtures, folders, judge_recorded, load, recordings, root};

/// Secrets as they are found in objects: plain, with signs that formats escape, in several lines, and below a secret name.
pub(super) fn canaries() -> Value {
    json!({
        "password": "canary-plain",
        "apiToken": "canary\"quoted\\back",
        "clientSecret": "canary<b>&'html'",
        "passphrase": "canary-ümlaut-\u{1f424}",
        "privateKey": "-----BEGIN KEY-----\ncanary-first-line\ncanary-second-line\n-----END KEY-----",
        "credentials": {"user": "canary-user", "deep": [{"value": "canary-nested"}], "type": "basic"},
        "tokens": ["canary-item-1", {"value": "canary-item-2"}],
        "passwordSecretRef": {"name": "visible-reference", "key": "visible-key"},
    })
}

/// Puts canaries into everything that looks like an object of Kubernetes, also where it stands in a text.
fn plant(value: &mut Value) -> usize {
    let mut planted = 0;
    match value {
        Value::Array(items) => planted += items.iter_mut().map(plant).sum::<usize>(),
        Value::String(text) if text.starts_with('{') => {
            if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                planted += plant(&mut inner);
                *text = inner.to_string();
            }
        }
        Value::Object(fields) => {
            planted += fields.values_mut().map(plant).sum::<usize>();
            let is_object = fields.get("apiVersion").is_some_and(|version| version != "apiextensions.k8s.io/v1");
            if is_object && let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
                let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
                if annotations.is_object() {
                    annotations["example.com/auth-token"] = json!("canary-annotation");
                    annotations["example.com/last-applied"] = json!({"spec": canaries()}).to_string().into();
                    planted += 1;
                }
                if let Some(Value::Object(spec)) = fields.get_mut("spec") {
                    spec.extend(canaries().as_object().cloned().unwrap_or_default());
                }
            }
        }
        _ => {}
    }
    planted
}

/// The same with canaries; as it was where they do not fit.
fn planted<T: Serialize + DeserializeOwned>(all: T, count: &mut usize) -> T {
    let mut value = serde_json::to_value(&all).unwrap();
    let planted = plant(&mut value);
    match serde_json::from_value(value) {
        Ok(changed) => {
            *count += planted;
            changed
        }
        Err(_) => all,
    }
}

/// Writes the samples of a folder with canaries.
fn plant_samples(folder: &Path, count: &mut usize) {
    for (path, text) in crate::cli::listing(folder) {
        let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        if !name.starts_with("sample") || path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let mut sources = Sources::default();
        let id = sources.add("sample", String::from_utf8(text).unwrap());
        let Ok(documents) = parse(&sources, id) else { continue };
        let texts = documents.iter().map(|document| {
            let mut value = document.to_value();
            *count += plant(&mut value);
            format!("---\n{value:#}\n")
        });
        std::fs::write(&path, texts.collect::<String>()).unwrap();
    }
}

/// Renders a report in every format, and looks for canaries.
#[track_caller]
pub(super) fn assert_mute(what: &str, report: &Report) {
    for format in Format::ALL {
        is_mute(&format!("{what} as {format:?}"), &render(report, format));
    }
    is_mute(what, &json(report));
}

#[test]
fn no_fixture_shows_a_canary_in_any_format() {
    let mut count = 0;
    let subjects = folders(&root().join("crds"));
    for folder in check_fixtures().into_iter().map(|(_, folder)| folder).chain(subjects) {
        let copy = tempfile::tempdir().unwrap();
        crate::cli::copy(&folder, copy.path());
        plant_samples(copy.path(), &mut count);
        let Recordings { traces, exchanges, conversions } = recordings(&folder);
        let recordings = Recordings {
            traces: planted(traces, &mut count),
            exchanges: planted(exchanges, &mut count),
            conversions: planted(conversions, &mut count),
        };
        assert_mute(&folder.display().to_string(), &judge_recorded(&load(copy.path()), recordings));
    }
    assert!(count > 500, "only {count} objects have canaries");
}

/// Converters that lose, change, refuse and crash, with canaries in the objects that they get.
#[rstest]
fn no_mutant_shows_a_canary(#[files("fixtures/mutants/*.yaml")] path: PathBuf) {
    let (mut count, mut has_samples) = (0, false);
    let report = crate::mutants::judge_with(&path, &mut |folder| {
        has_samples = folder.join("sample.yaml").exists();
        plant_samples(folder, &mut count);
    });
    assert_mute(&path.display().to_string(), &report);
    assert_eq!(count > 0, has_samples, "every sample has canaries");
}
