//! Recordings: their content, and that judging them gives the same results.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{crdproof, folder, listing, subject};

/// Removes the `reproduce` lines from a report.
fn without_reproduce(mut report: Value) -> Value {
    for finding in report["findings"].as_array_mut().unwrap() {
        finding["reproduce"] = Value::Null;
    }
    report
}

fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    let all = [arguments, &["-q", "--report", "json"]].concat();
    crdproof(folder, &all).json()
}

/// Records a run, judges the recording, and returns both reports.
fn run_and_judge(folder: &Path, suites: &[&str]) -> (Value, Value) {
    let run = json_of(folder, &[&["run", "--record", "seen", "--time", "20s"], suites].concat());
    let started = Instant::now();
    let judged = json_of(folder, &["judge", "seen"]);
    assert!(started.elapsed() < Duration::from_secs(5), "judging took {:?}", started.elapsed());
    (without_reproduce(run), without_reproduce(judged))
}

#[test]
fn a_recording_is_judged_as_the_run_was() {
    for (name, findings) in [("kustomizations-none", 3), ("databases", 0), ("databases-none", 1), ("three-versions", 0)]
    {
        let folder = subject(name);
        let suites = ["--suite", "quick", "--suite", "converter", "--objects", "80", "--seed", "5"];
        let (run, judged) = run_and_judge(folder.path(), &suites);
        assert!(run["findings"].as_array().unwrap().len() >= findings, "{name}: {run}");
        assert!(run["conversions"].as_array().is_some_and(|all| !all.is_empty()), "{name}");
        assert_eq!(run, judged, "{name}");
    }
}

#[test]
fn a_recording_is_private_complete_and_replaced_only_by_another() {
    let folder = subject("databases-none");
    let record = |target: &str| crdproof(folder.path(), &["run", "-q", "--no-counterexamples", "--record", target]);
    record("deep/seen/").says(1, &[]);
    let names = |target: &str| -> Vec<String> {
        let all = listing(&folder.path().join(target));
        all.into_iter().map(|(path, _)| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names("deep"), ["0.conversions.jsonl", "recording.json"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &str| std::fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("deep/seen"), mode("deep/seen/0.conversions.jsonl")), (0o700, 0o600));
    }
    std::fs::write(folder.path().join("deep/seen/7.conversions.jsonl"), "of an older one").unwrap();
    record("deep/seen").says(1, &[]);
    assert_eq!(names("deep"), ["0.conversions.jsonl", "recording.json"]);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    record("empty").says(1, &[]);
    let before = listing(folder.path());
    record("samples").says(2, &["samples is neither empty nor a recording", "pass a new folder"]);
    record("crdproof.yaml").says(2, &["crdproof.yaml cannot be used"]);
    assert_eq!(listing(folder.path()), before);
}

#[test]
fn judge_calls_no_converter_and_reports_changes() {
    let folder = subject("databases-none");
    crdproof(folder.path(), &["run", "-q", "--record", "seen", "--only", "converter"]).says(1, &[]);
    let crd = folder.path().join("crds/databases.yaml");
    let old = std::fs::read_to_string(&crd).unwrap();
    crdproof(folder.path(), &["judge", "seen", "--only", "converter/round-trip-lossless"])
        .says(1, &["converter/round-trip-lossless", ".spec.password (•••) is lost"]);
    std::fs::write(&crd, old.replace("kind: Database\n", "kind: Database\n    categories: [all]\n")).unwrap();
    crdproof(folder.path(), &["judge", "seen"]).says(1, &["○ databases.example.com has changed since"]);
    std::fs::write(&crd, old.replace("databases", "datastores")).unwrap();
    let gone = "databases.example.com was recorded, and the subject no longer has it";
    crdproof(folder.path(), &["judge", "seen", "--only", "converter/round-trip-lossless"])
        .says(4, &[gone, "the selection leaves nothing to test"]);
}

#[test]
fn folders_that_are_not_recordings_are_refused() {
    let folder = subject("databases-none");
    crdproof(folder.path(), &["run", "-q", "--record", "seen"]).says(1, &[]);
    crdproof(folder.path(), &["judge", "none"])
        .says(2, &["none/recording.json: it cannot be read", "help: name a folder"]);
    let header = folder.path().join("seen/recording.json");
    let good = std::fs::read_to_string(&header).unwrap();
    for (text, words) in [
        (good.replace("\"Recording\"", "\"Report\""), "this is a \"Report\""),
        (good[..good.len() / 2].to_owned(), "this is not a recording"),
    ] {
        std::fs::write(&header, text).unwrap();
        crdproof(folder.path(), &["judge", "seen"]).says(2, &["seen/recording.json", words]);
    }
    std::fs::write(&header, good).unwrap();
    let conversion_runs = folder.path().join("seen/0.conversions.jsonl");
    let lines = std::fs::read_to_string(&conversion_runs).unwrap();
    let fewer: String = lines.lines().skip(1).map(|line| format!("{line}\n")).collect();
    for (text, words) in [(fewer, "lines, not"), (format!("{lines}{{"), "line ")] {
        std::fs::write(&conversion_runs, text).unwrap();
        crdproof(folder.path(), &["judge", "seen"]).says(2, &["seen/0.conversions.jsonl", words]);
    }
}

#[test]
fn a_recording_knows_its_seed_and_its_day() {
    let folder = folder(&[("crd.yaml", &super::sound_crd())]);
    crdproof(folder.path(), &["run", "-q", "crd.yaml", "--seed", "9", "--record", "seen"]).says(0, &[]);
    let header: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("seen/recording.json")).unwrap()).unwrap();
    assert_eq!((&header["seed"], &header["toolVersion"]), (&json!(9), &json!(env!("CARGO_PKG_VERSION"))));
    header["day"].as_str().unwrap().parse::<jiff::civil::Date>().unwrap();
    crdproof(folder.path(), &["judge", "seen", "--crd", "crd.yaml"]).says(0, &["seed 9"]);
}
