//! Shards: parts of the work of one run, whose reports merge to the report of the whole.

use std::path::Path;

use crdproof::checks::{self, Check};
use crdproof::evidence::Scenario;
use crdproof::report::{Finding, MergeError, Report, json, read};
use crdproof::run::{Shard, merge_shards};
use rstest::rstest;
use serde_json::{Value, json};

use crate::cli::{Ended, copy, crdproof, repository, subject};
use crate::fixture::{check_fixtures, folders, judge_part, load, recordings, root};

/// Returns a report without what differs between two runs, and without what only shards have.
fn plain(mut report: Report) -> Report {
    report.timings.clear();
    report.conversions.iter_mut().for_each(|conversions| conversions.timings.clear());
    // Each part of a recorded scenario repeats the requests of the whole recording.
    for scenario in &mut report.scenarios {
        scenario.requests = 0;
        // Some recordings have the steps of a scenario in two places; a run has not.
        scenario.steps.sort_by_key(|step| step.step.split('/').next().map(str::to_owned));
    }
    report
}

/// Judges the recordings of a fixture as a whole and in shards, and compares the reports.
fn compare(folder: &Path, counts: &[usize]) {
    let (subject, recordings) = (load(folder), recordings(folder));
    let whole = plain(judge_part(&subject, recordings.clone(), None));
    for count in counts {
        let part = |index: usize| {
            let shard: Shard = format!("{index}/{count}").parse().unwrap();
            read(&json(&judge_part(&subject, recordings.clone(), Some(shard)))).unwrap()
        };
        // The order of the reports does not matter.
        let merged = merge_shards((1..=*count).rev().map(part).collect()).unwrap();
        assert!(merged.missing.is_empty(), "{:?}", merged.missing);
        assert_eq!(json(&plain(merged.report)), json(&whole), "{} in {count} shards", folder.display());
    }
}

#[test]
fn shards_of_every_fixture_subject_merge_to_the_whole_report() {
    let fixtures = folders(&root().join("crds"));
    assert!(fixtures.len() > 5, "{}", fixtures.len());
    for folder in &fixtures {
        compare(folder, &[1, 4, 7]);
    }
}

/// One fixture of every check that fails, so that findings of all kinds are merged.
#[test]
fn shards_with_findings_of_every_check_merge_to_the_whole_report() {
    let mut failing: Vec<_> = check_fixtures().into_iter().filter(|(_, folder)| folder.ends_with("fail")).collect();
    failing.dedup_by(|left, right| left.0 == right.0);
    assert!(failing.len() > 100, "{}", failing.len());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    std::thread::scope(|scope| {
        for own in failing.chunks(failing.len().div_ceil(threads)) {
            scope.spawn(move || {
                for (_, folder) in own {
                    compare(folder, &[4]);
                }
            });
        }
    });
}

/// A scenario is one work unit, so its checks must not read another scenario, which may be in another shard.
#[test]
fn a_check_reads_no_scenario_but_its_own() {
    let folder = root().join("checks/serving/crd-accepted/pass");
    let (subject, whole) = (load(&folder), recordings(&folder));
    let of = |report: &Report, scenario: Scenario| -> Vec<String> {
        let is_of = |check: &str| checks::find(check).and_then(Check::scenario) == Some(scenario);
        report.results.iter().filter(|result| is_of(&result.check)).map(|result| format!("{result:?}")).collect()
    };
    let all = judge_part(&subject, whole.clone(), None);
    for scenario in Scenario::ALL {
        let mut own = whole.clone();
        own.traces[0].records.retain(|record| record.step.scenario() == scenario);
        let expected = of(&all, scenario);
        assert!(!expected.is_empty(), "{scenario}");
        assert_eq!(of(&judge_part(&subject, own, None), scenario), expected);
    }
}

/// Two subjects in one, with a waiver that is used, one that is not, and one that has expired.
fn two_crds() -> tempfile::TempDir {
    let folder = subject("databases-none");
    copy(&repository().join("fixtures/crds/three-versions/crds"), &folder.path().join("crds"));
    let file = folder.path().join("crdproof.yaml");
    let waivers = "waivers:\n\
        - {check: manifest/none-strategy-lossless, path: .spec.password, reason: known, expires: 9999-12-31}\n\
        - {check: manifest/size-applicable, reason: never needed, expires: 9999-12-31}\n\
        - {check: 'converter/*', reason: over, expires: 2020-01-31}\n";
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("minimumCount: 1", "minimumCount: 2") + waivers).unwrap();
    folder
}

/// Runs with these flags, and writes the report to a file.
fn run(folder: &Path, flags: &[&str], file: &str) -> Ended {
    let report = format!("json={file}");
    let common = ["run", "--suite", "all", "--objects", "40", "--report", &report];
    crdproof(folder, &[&common[..], flags].concat())
}

/// Runs all shards, each to a file, and returns the names of the files.
fn run_shards(folder: &Path, count: usize, flags: &[&str]) -> Vec<String> {
    let of = |index: usize| {
        let (shard, file) = (format!("{index}/{count}"), format!("{index}-of-{count}.json"));
        let ended = run(folder, &[&["--shard", &shard], flags].concat(), &file);
        assert!([0, 1].contains(&ended.code), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("shard {shard}")), "{}", ended.stderr);
        file
    };
    (1..=count).map(of).collect()
}

fn merge(folder: &Path, files: &[String]) -> Ended {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    crdproof(folder, &[&["report", "merge", "--report", "json"], &files[..]].concat())
}

fn saved(folder: &Path, file: &str) -> Report {
    read(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

#[rstest]
#[case(1)]
#[case(4)]
#[case(7)]
fn shards_on_the_command_line_merge_to_the_whole_report(#[case] count: usize) {
    let (folder, whole) = (two_crds(), two_crds());
    let ended = run(whole.path(), &[], "whole.json").says(1, &["the waiver of converter/* expired"]);
    let files = run_shards(folder.path(), count, &[]);
    let merged = merge(folder.path(), &files);
    assert_eq!(merged.code, ended.code, "{}", merged.stderr);
    let merged = read(&merged.stdout).unwrap();
    assert!(!merged.timings.is_empty() && merged.shard.is_none());
    let expected = plain(saved(whole.path(), "whole.json"));
    assert_eq!(json(&plain(merged)), json(&expected));
}

#[test]
fn a_merged_report_says_how_to_replay_what_a_shard_saved() {
    let (folder, whole) = (subject("databases-none"), subject("databases-none"));
    let only = ["--only", "converter"];
    run(whole.path(), &only, "whole.json");
    let merged = read(&merge(folder.path(), &run_shards(folder.path(), 3, &only)).stdout).unwrap();
    let expected = plain(saved(whole.path(), "whole.json"));
    let replays =
        |finding: &Finding| finding.reproduce.as_ref().is_some_and(|line| line.starts_with("crdproof replay"));
    assert!(expected.findings.iter().any(replays), "{:?}", expected.findings);
    assert_eq!(json(&plain(merged)), json(&expected));
}

#[test]
fn a_missing_shard_is_named() {
    let folder = two_crds();
    let mut files = run_shards(folder.path(), 4, &["--no-counterexamples"]);
    files.remove(2);
    files.remove(0);
    let merged = merge(folder.path(), &files).says(
        6,
        &[
            "the reports of shards 1/4, 3/4 are missing: ",
            "crdproof run --shard 1/4",
            "incomplete: shard 1/4 is missing",
            "incomplete: shard 3/4 is missing",
        ],
    );
    let complaints = merged.json()["findings"].to_string();
    assert!(!complaints.contains("no finding matches the waiver"), "another shard may use it: {complaints}");
}

#[test]
fn an_interrupted_shard_is_named() {
    let folder = two_crds();
    let files = run_shards(folder.path(), 2, &["--no-counterexamples"]);
    let path = folder.path().join(&files[1]);
    let mut report: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    report["shard"]["interrupted"] = json!(true);
    std::fs::write(&path, report.to_string()).unwrap();
    merge(folder.path(), &files).says(6, &["incomplete: shard 2/2 was interrupted"]);
}

#[test]
fn shards_of_different_runs_are_refused() {
    let folder = two_crds();
    let files = run_shards(folder.path(), 2, &["--no-counterexamples"]);
    run(folder.path(), &["--shard", "2/2", "--seed", "7"], "other.json");
    let mixed = [files[0].clone(), "other.json".into()];
    merge(folder.path(), &mixed).says(2, &["the plan is ", "give all shards the same subject, flags"]);
    let twice = [files[0].clone(), files[0].clone()];
    merge(folder.path(), &twice).says(2, &["shard 1/2 is there twice"]);
    run(folder.path(), &[], "whole.json");
    merge(folder.path(), &[files[0].clone(), "whole.json".into()])
        .says(2, &["reports of shards cannot be merged with reports of whole runs"]);
    assert_eq!(merge_shards(Vec::new()).unwrap_err(), MergeError::Empty);
}

#[test]
fn shards_are_balanced_by_an_earlier_report() {
    let folder = two_crds();
    run_shards(folder.path(), 1, &[]);
    let timings = ["--timings", "1-of-1.json", "--no-counterexamples"];
    let files = run_shards(folder.path(), 2, &timings);
    let plan = crdproof(
        folder.path(),
        &["plan", "--suite", "all", "--objects", "40", "--shard", "1/2", "--timings", "1-of-1.json"],
    );
    assert!(plan.stdout.contains("► expected: ") && plan.stdout.contains(": conversions ("), "{}", plan.stdout);
    let units = |file: &str| saved(folder.path(), file).shard.unwrap().own_units;
    assert!(units(&files[0]) > 0 && units(&files[1]) > 0);
    merge(folder.path(), &files).says(1, &[]);
    run(folder.path(), &[], "whole.json");
    run(folder.path(), &["--shard", "1/2", "--timings", "whole.json"], "never.json")
        .says(2, &["whole.json has no durations", "--shard 1/1"]);
}

#[test]
fn a_shard_without_work_succeeds_and_says_so() {
    let folder = subject("three-versions");
    let flags = ["run", "--only", "manifest", "--report", "json"];
    let shards: Vec<Ended> = (1..=3)
        .map(|index| crdproof(folder.path(), &[&flags[..], &["--shard", &format!("{index}/3")]].concat()))
        .collect();
    let idle = shards.iter().find(|ended| ended.json()["results"] == json!([])).unwrap();
    assert_eq!(idle.code, 0, "{}", idle.stderr);
}

#[test]
fn a_plan_shows_the_work_of_a_shard() {
    let folder = two_crds();
    let all = ["--suite", "all", "--kubernetes", "1.36", "--shard", "1/1"];
    let planned = crdproof(folder.path(), &[&["plan"], &all[..]].concat());
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    for words in [
        "► shard 1/1: 12 of 12 work units\n",
        "  • databases.example.com: manifests\n",
        "  • databases.example.com: conversions\n",
        "  • databases.example.com: storage on 1.36\n",
    ] {
        assert!(planned.stdout.contains(words), "{words}: {}", planned.stdout);
    }
    let of = |index: usize| {
        let shard = format!("{index}/5");
        let flags = ["plan", "--suite", "all", "--kubernetes", "1.36", "--format", "json", "--shard", &shard];
        crdproof(folder.path(), &flags).json()
    };
    let plans: Vec<Value> = (1..=5).map(of).collect();
    let all: Vec<&Value> = plans.iter().flat_map(|plan| plan["shard"]["units"].as_array().unwrap()).collect();
    assert_eq!(all.len(), 12, "every unit belongs to one shard: {all:?}");
}

#[test]
fn a_folder_of_reports_is_merged() {
    let folder = two_crds();
    for index in ["1/2", "2/2"] {
        run(folder.path(), &["--shard", index, "--no-counterexamples"], &format!("shards/{}.json", &index[..1]));
    }
    std::fs::write(folder.path().join("shards/notes.txt"), "not a report").unwrap();
    crdproof(folder.path(), &["report", "merge", "shards"]).says(1, &["databases-none"]);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    crdproof(folder.path(), &["report", "merge", "empty"]).says(4, &["there is no report in empty"]);
}

#[rstest]
#[case(&["run", "--shard", "0/4"], "write it as NUMBER/COUNT")]
#[case(&["run", "--shard", "5/4"], "at most the count")]
#[case(&["run", "--shard", "index/4"], "JOB_COMPLETION_INDEX is not set, and must be from 0 to 3")]
#[case(&["run", "--timings", "a.json"], "--shard <NUMBER/COUNT>")]
#[case(&["run", "--shard", "1/4", "--record", "seen"], "--record needs a whole run, not a shard")]
#[case(&["run", "--shard", "1/4", "--report", "conformance"], "a conformance report needs a whole run")]
#[case(&["accept", "--shard", "1/4"], "accepting needs the findings of a whole run")]
fn wrong_uses_of_shards_are_refused(#[case] arguments: &[&str], #[case] words: &str) {
    crdproof(subject("databases").path(), arguments).says(2, &[words]);
}
