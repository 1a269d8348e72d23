//! Limits on memory and time: small files never cost gigabytes or minutes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cli::{BINARY, folder, sound_crd};

/// Runs the binary with at most this much memory, and returns its exit code, its output and its duration.
fn run_with_memory_limit(megabytes: usize, folder: &Path, arguments: &str) -> (Option<i32>, String, Duration) {
    let began = Instant::now();
    let script = format!("ulimit -v {}; exec '{BINARY}' {arguments}", megabytes << 10);
    let ended = Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap();
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned(), began.elapsed())
}

/// A CRD with this many versions of two fields.
fn with_versions(count: usize) -> String {
    let mut crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
                   metadata: {name: widgets.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  \
                   names: {plural: widgets, kind: Widget}\n  versions:\n"
        .to_owned();
    for number in 1..=count {
        let schema = "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: \
                      {size: {type: integer}, name: {type: string}}}}}}";
        let _ = writeln!(crd, "  - {{name: v{number}, served: true, storage: {}, schema: {schema}}}", number == 1);
    }
    crd
}

#[test]
fn many_versions_stay_within_memory_and_time_limits() {
    for count in [12, 60] {
        let folder = folder(&[("crd.yaml", &with_versions(count))]);
        let (code, said, took) =
            run_with_memory_limit(2000, folder.path(), "run crd.yaml --verbose --report json=out.json --jobs 4");
        assert!(matches!(code, Some(0 | 1)), "{count} versions: {code:?} {said}");
        assert!(took < Duration::from_secs(90), "{count} versions: {took:?}");
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.path().join("out.json")).unwrap()).unwrap();
        let conversions = &report["conversions"][0];
        assert_eq!(conversions["sampled"], 6, "{count} versions");
        // Every pair is tried, though not by every object.
        assert_eq!(conversions["pairs"].as_array().map(Vec::len), Some(count * (count - 1)));
    }
}

#[test]
fn aliases_and_anchors_stay_within_the_memory_limit() {
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(100_000).trim_end_matches(", "));
    let (open, close) = ("&a [".repeat(250), "]".repeat(250));
    let nested = format!("a: {open}{}{close}\n", "x, ".repeat(80_000).trim_end_matches(", "));
    for text in [long, nested] {
        let folder = folder(&[("crd.yaml", &text)]);
        let (code, said, took) = run_with_memory_limit(600, folder.path(), "run crd.yaml --jobs 2");
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("by more than 32 MiB") && took < Duration::from_secs(20), "{took:?} {said}");
    }
}

#[test]
fn globs_match_in_linear_time() {
    let folder = folder(&[("crd.yaml", &sound_crd())]);
    let stars = "*".repeat(5000);
    let (code, _, took) = run_with_memory_limit(2000, folder.path(), &format!("run crd.yaml --only '{stars}x'"));
    assert_eq!(code, Some(2), "no check is named so");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

/// Loops in each other over ten numbers. API servers accept five levels, and refuse six.
#[test]
fn nested_loops_of_rules_end_quickly_or_are_refused() {
    for (levels, expected) in [(5, Some(0)), (6, Some(1))] {
        let list = "[1,2,3,4,5,6,7,8,9,0]";
        let inner = (0..levels).fold("1".to_owned(), |body, level| format!("{list}.map(x{level}, {body})"));
        let rules = format!("[{{rule: \"{inner}.size() > 0\"}}]");
        let field = format!("name: {{type: string, x-kubernetes-validations: {rules}}}");
        let crd = with_versions(2).replace("name: {type: string}", &field);
        let folder = folder(&[("crd.yaml", &crd)]);
        let (code, said, took) = run_with_memory_limit(2000, folder.path(), "run crd.yaml --no-counterexamples");
        assert_eq!(code, expected, "{levels} levels: {said}");
        assert!(took < Duration::from_secs(90), "{levels} levels: {took:?}");
    }
}
