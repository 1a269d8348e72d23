//! Reports: their targets, and what happens if they cannot be written.

use super::{crdproof, crdproof_fed, folder, listing, repository, sound_crd, subject};

const FORMATS: [&str; 7] = ["terminal", "json", "junit", "sarif", "html", "markdown", "github"];

#[test]
fn reports_are_written_atomically() {
    let folder = subject("databases-none");
    let mut arguments = vec!["run".to_owned(), "-q".into()];
    for format in FORMATS {
        arguments.extend(["--report".into(), format!("{format}=out/deep/report.{format}")]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = crdproof(folder.path(), &arguments).says(1, &[]);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    let written = listing(&folder.path().join("out"));
    assert_eq!(written.len(), FORMATS.len(), "{written:?}");
    assert!(written.iter().all(|(_, text)| !text.is_empty()));
}

#[test]
fn a_report_replaces_the_one_before() {
    let folder = folder(&[("crd.yaml", &sound_crd()), ("out.json", "x".repeat(1_000_000).as_str())]);
    crdproof(folder.path(), &["run", "-q", "crd.yaml", "--report", "json=out.json"]).says(0, &[]);
    let text = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
}

#[test]
fn an_unwritable_target_ends_the_run_and_leaves_nothing() {
    let folder = folder(&[("crd.yaml", &sound_crd()), ("folder/keep", ""), ("file", "")]);
    let before = listing(folder.path());
    // A folder cannot be replaced by a file, and a file has no children; this is true even for root.
    for target in ["json=folder", "json=file/report.json"] {
        crdproof(folder.path(), &["run", "-q", "crd.yaml", "--report", target]).says(5, &["cannot write", "help:"]);
        assert_eq!(listing(folder.path()), before, "{target}");
    }
}

#[test]
fn one_report_goes_to_stdout_and_people_read_stderr() {
    let run = |arguments: &[&str]| {
        let mut all = vec!["run", "-"];
        all.extend(arguments);
        crdproof_fed(repository(), &all, &sound_crd())
    };
    run(&["--report", "json", "--report", "sarif"])
        .says(2, &["two reports cannot both go to stdout", "--report sarif=FILE"]);
    let ended = run(&["--report", "sarif"]).says(0, &["✔ passed"]);
    assert_eq!(ended.json()["version"], "2.1.0");
    let ended = run(&["--report", "sarif=-"]).says(0, &["✔ passed"]);
    assert_eq!(ended.json()["version"], "2.1.0");
    run(&["--report", "json=-", "--report", "sarif"]).says(2, &["two reports cannot both go to stdout"]);
    let ended = run(&[]).says(0, &["✔ passed"]);
    assert_eq!(ended.stdout, "");
    let ended = run(&["--quiet"]).says(0, &[]);
    assert_eq!(ended.stderr, "");
    let verbose = run(&["--verbose"]).says(0, &["manifest/one-storage-version"]);
    assert!(verbose.stderr.len() > ended.stderr.len());
}

#[test]
fn colour_is_used_on_terminals_or_on_request() {
    let run = |colour: &[&str]| {
        let mut all = vec!["run", "-f", "fixtures/crds/databases-none/crdproof.yaml"];
        all.extend(colour);
        crdproof(repository(), &all).says(1, &[])
    };
    assert!(!run(&[]).stderr.contains('\u{1b}'));
    assert!(!run(&["--color", "never"]).stderr.contains('\u{1b}'));
    assert!(run(&["--color", "always"]).stderr.contains('\u{1b}'));
    let error = crdproof(repository(), &["run", "nowhere"]);
    assert!(!error.stderr.contains('\u{1b}'));
}

#[test]
fn a_saved_report_can_be_rendered_and_merged_with_the_same_verdict() {
    let folder = subject("databases-none");
    for (only, file) in [("manifest", "a.json"), ("converter", "b.json")] {
        crdproof(folder.path(), &["run", "-q", "--only", only, "--report", &format!("json={file}")]).says(1, &[]);
    }
    crdproof(folder.path(), &["report", "render", "a.json", "--report", "markdown"]).says(1, &["1 error"]);
    crdproof(folder.path(), &["report", "render", "a.json", "--fail-on", "never"]).says(0, &[]);
    crdproof(folder.path(), &["report", "merge", "a.json", "b.json", "--report", "json=all.json"])
        .says(1, &["2 errors"]);
    crdproof(folder.path(), &["report", "render", "all.json"]).says(1, &["2 errors"]);
    crdproof(folder.path(), &["report", "render", "crdproof.yaml"]).says(2, &["this is not a crdproof report"]);
    crdproof(folder.path(), &["report", "render", "none.json"]).says(2, &["cannot read none.json"]);
}
