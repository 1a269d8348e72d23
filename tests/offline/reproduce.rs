//! The `reproduce` line of a finding shows the same finding again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::cli::{BINARY, copy, crdproof, repository};

/// Whole subjects, and failing fixtures of the manifest and upgrade families, which need no recorded evidence.
fn folders() -> Vec<PathBuf> {
    let children = |path: PathBuf| {
        let mut children: Vec<PathBuf> = std::fs::read_dir(path).unwrap().flatten().map(|entry| entry.path()).collect();
        children.sort();
        children
    };
    let is_broken = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("fail");
    let families = ["fixtures/checks/manifest", "fixtures/checks/upgrade"];
    let fixtures = families.into_iter().flat_map(|family| children(repository().join(family))).flat_map(children);
    children(repository().join("fixtures/crds")).into_iter().chain(fixtures.filter(is_broken)).collect()
}

/// The command that judges a fixture: by its subject file, compared with its baseline, or by its CRDs.
fn command(folder: &Path) -> Vec<String> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let is_there = |name: &str| folder.join(name).is_file();
    match () {
        () if is_there("crdproof.yaml") => words("run --suite quick --no-counterexamples -f crdproof.yaml"),
        () if is_there("old.yaml") && is_there("crd.yaml") => words("diff old.yaml crd.yaml --minimum 1.29"),
        () => ["run", "--suite", "quick", "--no-counterexamples"]
            .map(str::to_owned)
            .into_iter()
            .chain(crds(folder))
            .collect(),
    }
}

fn crds(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let mut crds: Vec<String> = names.filter(|name| name.starts_with("crd")).collect();
    crds.sort();
    crds
}

/// Every `reproduce` line of a report, with the fingerprints of its findings.
fn lines(report: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut lines: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for finding in report["findings"].as_array().unwrap() {
        let line = finding["reproduce"].as_str().unwrap_or_else(|| panic!("no command reproduces {finding}"));
        lines.entry(line.to_owned()).or_default().insert(finding["fingerprint"].as_str().unwrap().to_owned());
    }
    lines
}

fn check(fixture: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    copy(fixture, folder.path());
    let command = command(folder.path());
    let words: Vec<&str> = command.iter().map(String::as_str).chain(["-q", "--report", "json"]).collect();
    let run = crdproof(folder.path(), &words);
    if run.stdout.is_empty() {
        return 0;
    }
    let lines = lines(&run.json());
    for (line, fingerprints) in &lines {
        let words = line.strip_prefix("crdproof ").unwrap_or_else(|| panic!("not a command of ours: {line}"));
        let script = format!("\"$0\" {words} -q --report json");
        let again = Command::new("sh")
            .current_dir(folder.path())
            .env("CRDPROOF_NO_COUNTEREXAMPLES", "1")
            .args(["-c", &script, BINARY])
            .output()
            .unwrap()
            .stdout;
        let again = String::from_utf8_lossy(&again);
        for fingerprint in fingerprints {
            assert!(again.contains(fingerprint), "{}: `{line}` does not show {fingerprint}", fixture.display());
        }
    }
    lines.len()
}

#[test]
fn every_reproduce_line_shows_its_findings_again() {
    let (folders, next, tried) = (folders(), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    tried.fetch_add(check(folder), Ordering::Relaxed);
                }
            });
        }
    });
    let tried = tried.into_inner();
    assert!(tried > 90, "only {tried} lines");
}
