//! Converters with known defects: the check that names a defect must find it, and no check may fail for correct
//! converters.

mod change;
mod endpoint;
mod model;
mod place;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use crdproof::converter::endpoint::ReplacementEndpoint;
use crdproof::report::{Outcome, Report};
use crdproof::run::{Observations, Options, SUITES, Selection, ServerMatrix, Settings, load_suite, plan};
use crdproof::subject::Subject;
use crdproof_schema::document::{Sources, decode, parse};
use rstest::rstest;
use serde_json::{Value, json};

use self::endpoint::Faulty;
use self::model::{Fault, Mutant};
use crate::docs::source_problem;
use crate::fixture::{TODAY, load, name, root};

/// Numbers of objects of each version that a mutant is tried with. The next number applies if fewer did not reveal it.
const OBJECTS: [usize; 3] = [60, 300, 1500];

fn folder() -> PathBuf {
    root().join("mutants")
}

fn read(path: &Path) -> Mutant {
    let mut sources = Sources::default();
    let id = sources.add(path.display().to_string(), std::fs::read_to_string(path).unwrap());
    let documents = parse(&sources, id).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
    let mutant: Mutant = decode(&documents[0])
        .unwrap_or_else(|error| panic!("{}: {error}", sources.place(error.span.unwrap_or(documents[0].span))));
    assert_eq!(format!("{}.yaml", mutant.name), name(path), "a file has the name of its mutant");
    mutant
}

/// All mutants, by name.
fn mutants() -> Vec<Mutant> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// Subjects by name. They live as long as the tests, because endpoints borrow them.
fn subjects() -> &'static BTreeMap<String, &'static Subject> {
    static SUBJECTS: LazyLock<BTreeMap<String, &'static Subject>> = LazyLock::new(|| {
        let folders = crate::fixture::folders(&folder().join("subjects"));
        folders.iter().map(|folder| (name(folder), &*Box::leak(Box::new(load(folder))))).collect()
    });
    &SUBJECTS
}

/// Runs the converter and webhook checks on a mutant.
fn judge_mutant(subject: &'static Subject, mutant: &Mutant, objects: usize, seed: u64) -> Report {
    let suite = |wanted: &str| {
        let (name, text) = SUITES.iter().find(|(name, _)| *name == wanted).unwrap();
        load_suite(name, name, text).unwrap()
    };
    let stand = |faults: &[Fault]| ReplacementEndpoint(Arc::new(Faulty::new(subject, faults.to_vec())));
    let settings = Settings {
        selection: Selection { suites: vec![suite("converter"), suite("webhook")], ..Selection::default() },
        seed,
        objects: Some(objects),
        endpoint: Some(stand(&mutant.faults)),
        baseline: (!mutant.baseline.is_empty()).then(|| stand(&mutant.baseline)),
        ..Settings::default()
    };
    let plan = plan(subject, &settings, &ServerMatrix::default());
    let today = mutant.today.unwrap_or(TODAY);
    let options = Options { jobs: NonZeroUsize::MIN, ..Options::on(today) };
    crdproof::run::judge(&plan, &Observations::default(), &options).report
}

/// Judges a mutant whose subject is changed on disk before.
pub(crate) fn judge_with(path: &Path, change: &mut dyn FnMut(&Path)) -> Report {
    let mutant = read(path);
    let copy = tempfile::tempdir().unwrap();
    crate::cli::copy(&folder().join("subjects").join(&mutant.subject), copy.path());
    change(copy.path());
    judge_mutant(Box::leak(Box::new(load(copy.path()))), &mutant, OBJECTS[0], 1)
}

/// The checks that failed, in order.
fn failed_checks(report: &Report) -> Vec<String> {
    let broken = report.results.iter().filter(|result| result.outcome == Outcome::Failed);
    broken.map(|result| result.check.clone()).collect()
}

/// Calls a function for each item, on as many threads as there are cores, and returns the results in order.
fn on_all_cores<T: Sync, R: Send>(all: &[T], call: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let answers = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let index = all.iter().position(|other| std::ptr::eq(other, one));
                    let answer = call(one);
                    answers.lock().unwrap().push((index, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().unwrap();
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[test]
fn mutants_are_well_described() {
    let mutants = mutants();
    assert!(mutants.len() >= 115, "only {} mutants", mutants.len());
    let subjects = subjects();
    for mutant in &mutants {
        let Mutant { name, source, what, killed_by, subject, faults, baseline, today } = mutant;
        assert!(crdproof::checks::find(killed_by).is_some(), "{name}: there is no check {killed_by}");
        assert!(subjects.contains_key(subject), "{name}: there is no subject {subject}");
        assert!(what.ends_with('.') && !source.is_empty(), "{name} says too little");
        for source in source {
            assert_eq!(source_problem(source), None, "{name}: {source}");
        }
        assert!(!faults.is_empty() || !baseline.is_empty() || today.is_some(), "{name} has no faults");
    }
    let named: Vec<&str> = mutants.iter().map(|mutant| mutant.killed_by.as_str()).collect();
    let nobody = crdproof::checks::ALL.iter().filter(|check| matches!(check.family(), "converter" | "webhook"));
    let nobody: Vec<&str> = nobody.map(|check| check.id).filter(|id| !named.contains(id)).collect();
    // The first needs no converter, the second needs TLS.
    let elsewhere = ["converter/stored-version-keeps-all", "webhook/certificate-trusted"];
    assert_eq!(nobody, elsewhere, "checks that no mutant is named for");
}

/// Asserts that the check which names the defect of a mutant finds it.
#[rstest]
fn every_mutant_is_found_by_its_check(#[files("fixtures/mutants/*.yaml")] path: PathBuf) {
    let mutant = read(&path);
    let subject = subjects()[&mutant.subject];
    let mut found = Vec::new();
    for objects in OBJECTS {
        found = failed_checks(&judge_mutant(subject, &mutant, objects, 1));
        if found.contains(&mutant.killed_by) {
            return;
        }
    }
    panic!("{} is not found by {}, but by {found:?}", mutant.what, mutant.killed_by);
}

#[test]
fn correct_converters_fail_no_check() {
    let subjects = subjects();
    // Use the same converter as the previous release's, because releases must agree, too.
    let right = |subject: &str, seed: u64| -> Mutant {
        let baseline = if seed == 1 { json!([{"do": {"slow": 0}}]) } else { json!([]) };
        let mutant = json!({"name": "right", "source": [], "what": "", "killedBy": "", "subject": subject,
            "faults": [], "baseline": baseline});
        serde_json::from_value(mutant).unwrap()
    };
    let conversion_runs: Vec<(Mutant, u64)> =
        subjects.keys().flat_map(|name| (1..=10).map(move |seed| (right(name, seed), seed))).collect();
    let accused = on_all_cores(&conversion_runs, |(right, seed)| {
        let name = &right.subject;
        let report = judge_mutant(subjects[name], right, 2000, *seed);
        // How long answers take is up to the machine.
        let told = report
            .findings
            .iter()
            .filter(|finding| finding.check != "webhook/within-budget")
            .map(|finding| format!("{name}, seed {seed}: {}: {}", finding.check, finding.message));
        let told: Vec<String> = told.collect();
        let held = report.results.iter().filter(|result| result.outcome == Outcome::Passed).count();
        assert!(!told.is_empty() || held > 30, "{name}: only {held} checks held");
        told
    });
    let accused: Vec<String> = accused.into_iter().flatten().collect();
    assert!(accused.is_empty(), "{} accusations:\n{}", accused.len(), accused.join("\n"));
}

/// The minimal input of a finding, read from its evidence.
fn smallest(report: &Report, check: &str) -> Value {
    let finding = report.findings.iter().find(|finding| finding.check == check).expect("nothing was found");
    let evidence = finding.evidence.as_deref().unwrap();
    let (_, input) = evidence.lines().next().unwrap().split_once(" in: ").unwrap();
    serde_json::from_str(input).unwrap_or_else(|error| panic!("{error}: {evidence}"))
}

#[test]
fn a_defect_of_two_fields_is_shrunk_to_these_fields() {
    let mutant = mutants().into_iter().find(|mutant| mutant.name == "two-fields-at-once").unwrap();
    let report = judge_mutant(subjects()[&mutant.subject], &mutant, 1000, 1);
    // 1000 objects of each of the two versions; the host is required.
    let input = smallest(&report, "converter/round-trip-lossless");
    assert_eq!(input["spec"], json!({"host": "", "ratio": 1, "window": {"until": ""}}), "{input}");
}
