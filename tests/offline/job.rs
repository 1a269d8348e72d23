//! `crdproof job`: the manifests are as reviewed, and the commands in them, run as processes, give the report of a whole run.

use std::process::Command;

use crdproof::report::{Report, json, read};
use crdproof_schema::document::{Node, Sources, parse};
use rstest::rstest;

use crate::cli::{BINARY, Ended, crdproof, repository, subject};

fn job(arguments: &[&str]) -> Ended {
    crdproof(repository(), &[&["job"], arguments].concat())
}

fn documents(text: &str) -> Vec<Node> {
    let mut sources = Sources::default();
    let id = sources.add("printed", text);
    parse(&sources, id).unwrap_or_else(|error| panic!("{}: {}", sources.place(error.span), error.message))
}

const JOB: [&str; 10] = [
    "--shards",
    "4",
    "--image",
    "registry.example.com/test:1",
    "--namespace",
    "ci",
    "--kubernetes",
    "1.36",
    "--",
    "--suite=all",
];

#[test]
fn the_indexed_job_is_as_reviewed() {
    let printed = job(&JOB);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert_eq!(documents(&printed.stdout).len(), 2);
    insta::assert_snapshot!("indexed_job", printed.stdout);
}

#[rstest]
#[case("github")]
#[case("gitlab")]
#[case("tekton")]
fn the_jobs_of_a_ci_system_are_as_reviewed(#[case] format: &str) {
    let printed = job(&["matrix", "--format", format, "--shards", "3", "--", "--suite", "all", "--only", "manifest/*"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    documents(&printed.stdout);
    insta::assert_snapshot!(format!("matrix_{format}"), printed.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// The arguments of the container of a job.
fn arguments(job: &Node) -> Vec<String> {
    let args = &job.to_value()["spec"]["template"]["spec"]["containers"][0]["args"];
    args.as_array().unwrap().iter().map(|argument| argument.as_str().unwrap().to_owned()).collect()
}

/// Returns a report without durations.
fn plain(text: &str) -> String {
    let mut report: Report = read(text).unwrap();
    report.timings.clear();
    report.conversions.iter_mut().for_each(|conversions| conversions.timings.clear());
    json(&report)
}

#[test]
fn the_pods_of_the_job_give_the_report_of_a_whole_run() {
    let folder = subject("databases-lossy");
    let printed = job(&["--shards", "4", "--image", "x", "--", "--suite", "all", "--objects", "30"]);
    let documents = documents(&printed.stdout);
    let reports = folder.path().join("reports");
    let here = |argument: &String| argument.replace("/reports", &reports.display().to_string());
    // What Kubernetes does: it sets the variable, and replaces its name in arguments.
    let pods = (0..4).map(|index: usize| {
        let replaced = arguments(&documents[0]);
        let replaced = replaced.iter().map(|word| here(word).replace("$(JOB_COMPLETION_INDEX)", &index.to_string()));
        let mut pod = Command::new(BINARY);
        pod.args(replaced).env("JOB_COMPLETION_INDEX", index.to_string()).current_dir(folder.path());
        pod.spawn().unwrap()
    });
    let pods: Vec<_> = pods.collect();
    for mut pod in pods {
        assert!(pod.wait().unwrap().success(), "findings do not fail a pod");
    }
    let merge: Vec<String> = arguments(&documents[1]).iter().map(here).collect();
    let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
    let merged = crdproof(folder.path(), &merge);
    let whole = crdproof(
        folder.path(),
        &["run", "--suite", "all", "--objects", "30", "--no-counterexamples", "--report", "json"],
    );
    assert_eq!((merged.code, whole.code), (1, 1), "{}", merged.stderr);
    let merged = std::fs::read_to_string(reports.join("crdproof.json")).unwrap();
    assert_eq!(plain(&merged), plain(&whole.stdout));

    std::fs::remove_file(reports.join("shards/2.json")).unwrap();
    crdproof(folder.path(), &merge).says(6, &["shard 3/4 is missing"]);
}

#[rstest]
#[case(&["--shards", "4"], "--image <IMAGE>")]
#[case(&["--shards", "0", "--image", "x"], "--shards")]
#[case(&["--shards", "4", "--image", "x", "--", "--suit", "all"], "the flags after -- are not those of `run`")]
#[case(&["--shards", "4", "--image", "x", "--", "--fail-on=never"], "--fail-on is not a flag of the shards")]
#[case(&["--shards", "4", "--image", "x", "--", "--shard", "1/4"], "the number of shards is --shards")]
#[case(&["--shards", "4", "--image", "x", "--name", "My Job"], "is not the name of an object")]
#[case(&["matrix", "--shards", "4"], "--format <FORMAT>")]
fn wrong_flags_are_refused_before_anything_is_printed(#[case] arguments: &[&str], #[case] words: &str) {
    let refused = job(arguments).says(2, &[words]);
    assert_eq!(refused.stdout, "");
}

#[test]
fn texts_of_the_user_stay_texts_in_the_manifest() {
    let printed = job(&["--shards", "2", "--image", "a\nb: {claim}", "--", "--only", "$(HOME)\"x"]);
    // The check does not exist, which only the run finds out.
    let documents = documents(&printed.stdout);
    let container = &documents[0].to_value()["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "a\nb: {claim}");
    assert!(arguments(&documents[0]).contains(&"$$(HOME)\"x".to_owned()), "{container}");
}
