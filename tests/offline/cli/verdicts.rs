//! Verdicts, and when a run fails.

use super::{Ended, crdproof, crdproof_fed, repository, sound_crd};

fn judge(name: &str) -> Ended {
    let file = format!("fixtures/crds/{name}/crdproof.yaml");
    crdproof(repository(), &["run", "--suite", "quick", "-f", &file])
}

#[test]
fn the_stanza_of_tutorials_has_three_located_findings() {
    judge("databases-tutorial").says(
        1,
        &[
            "fixtures/crds/databases-tutorial/crds/databases.yaml:19:14",
            "the URL has the scheme http",
            "the URL points at localhost",
            "fixtures/crds/databases-tutorial/crds/databases.yaml:17:33",
            "offers v1beta1 but not v1",
        ],
    );
}

#[test]
fn a_field_that_one_version_lacks_is_reported_with_its_location() {
    let ended = judge("databases-none").says(
        1,
        &[
            "error[manifest/none-strategy-lossless]: .spec.password exists in v2 but not in v1: lost through v1",
            "fixtures/crds/databases-none/crds/databases.yaml:45:15",
            "also breaks: converter/absent-null-empty-distinct, converter/partial-objects-survive,",
            "converter/round-trip-lossless",
        ],
    );
    assert!(!ended.stderr.contains("not-a-real-secret"), "a password is shown:\n{}", ended.stderr);
}

#[test]
fn no_report_shows_a_secret() {
    for format in ["terminal", "json", "junit", "sarif", "html", "markdown", "github"] {
        let file = "fixtures/crds/databases-none/crdproof.yaml";
        let ended = crdproof(repository(), &["run", "-q", "-f", file, "--report", format]).says(1, &[]);
        assert!(ended.stdout.contains("password") && !ended.stdout.contains("not-a-real-secret"), "{format}");
    }
}

#[test]
fn versions_that_agree_pass() {
    judge("three-versions").says(0, &["✔ passed: no findings", "seed 1"]);
}

#[test]
fn fail_on_sets_the_lowest_failing_severity() {
    let warned = "fixtures/checks/manifest/storage-version-served/fail/crd.yaml";
    let run = |source: &str, least: &str| crdproof(repository(), &["run", source, "--fail-on", least]).code;
    assert_eq!(["never", "error", "warning", "note"].map(|least| run(warned, least)), [0, 0, 1, 1]);
    let broken = "fixtures/crds/databases-none/crds";
    assert_eq!(["never", "error", "warning", "note"].map(|least| run(broken, least)), [0, 1, 1, 1]);
}

#[test]
fn strict_fails_inconclusive_checks() {
    // Without samples nothing is converted, so the round trip cannot be judged.
    let source = "fixtures/crds/three-versions/crds";
    crdproof(repository(), &["run", source]).says(0, &["inconclusive"]);
    crdproof(repository(), &["run", source, "--strict"]).says(1, &["inconclusive"]);
}

#[test]
fn only_and_except_choose_checks() {
    let judged = |arguments: &[&str]| -> Vec<String> {
        let mut all = vec!["run", "-q", "--report", "json", "-f", "fixtures/crds/databases-none/crdproof.yaml"];
        all.extend(arguments);
        let report = crdproof(repository(), &all).json();
        report["results"].as_array().unwrap().iter().map(|result| result["check"].as_str().unwrap().into()).collect()
    };
    assert_eq!(judged(&["--only", "manifest/one-storage-version"]), ["manifest/one-storage-version"]);
    let converter = judged(&["--only", "converter"]);
    assert!(!converter.is_empty() && converter.iter().all(|check| check.starts_with("converter/")));
    let rest = judged(&["--except", "manifest/*", "--except", "converter/round-trip-lossless"]);
    assert!(!rest.is_empty() && !rest.iter().any(|check| check.starts_with("manifest/")));
    assert!(!rest.iter().any(|check| check == "converter/round-trip-lossless"));
    let nothing = ["run", "--only", "manifest", "--except", "manifest", "fixtures/crds/databases-none/crds"];
    crdproof(repository(), &nothing).says(4, &["the selection leaves nothing to test"]);
}

#[test]
fn every_report_shows_the_seed() {
    let ended = crdproof_fed(repository(), &["run", "-", "--seed", "7", "--report", "json"], &sound_crd());
    let ended = ended.says(0, &["seed 7"]);
    assert_eq!(ended.json()["seed"], 7);
}

#[test]
fn two_runs_give_the_same_bytes() {
    let run = |jobs: &str| {
        let file = "fixtures/crds/kustomizations-none/crdproof.yaml";
        crdproof(repository(), &["run", "-q", "-j", jobs, "-f", file, "--report", "json"]).stdout
    };
    assert_eq!(run("1"), run("4"));
}
