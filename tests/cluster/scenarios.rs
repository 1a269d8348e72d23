//! Scenarios: a correct subject passes everywhere, and broken converters fail on a real server.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crdproof::act::scenarios::{Setup, run as run_scenarios};
use crdproof::converter::Maps;
use crdproof::converter::endpoint::{Endpoint, Request};
use crdproof::evidence::Scenario;
use crdproof::evidence::{Outcome, StorageStep, Trace};
use crdproof::report::Report;
use crdproof::run::{Observations, Options, Selection, Settings, judge, load_suite, plan_recorded};
use crdproof::subject::Subject;
use crdproof_envtest::Server;
use crdproof_envtest::local::{Binaries, Local};
use crdproof_schema::kubernetes::KubeVersion;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::support::{block, check, describe, said};

pub(crate) fn subject() -> Subject {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/traces/widgets");
    crdproof::subject::load::from_file(&folder.join("crdproof.yaml")).unwrap_or_else(|error| panic!("{error}"))
}

fn recorded_on(binaries: &Binaries, converter: Arc<dyn Endpoint>, scenarios: &[Scenario]) -> Result<Trace, Failed> {
    let subject = subject();
    block(async {
        let local = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let server = Server::Local(Box::new(local));
        let trace = run_scenarios(&server, setup(&subject, Some(converter)), scenarios).await;
        server.stop().await.map_err(|error| describe(&error))?;
        trace.map_err(|error| describe(&error))
    })
}

/// Runs the correct subject on a server: nothing fails, and at least this many checks pass.
pub(crate) async fn hold_on(server: &Server, scenarios: &[Scenario], least: usize) -> Result<(), Failed> {
    let subject = subject();
    let trace = run_scenarios(server, setup(&subject, Some(Arc::new(maps()))), scenarios).await;
    held(trace.map_err(|error| describe(&error))?, least)
}

pub(crate) fn held(trace: Trace, least: usize) -> Result<(), Failed> {
    let report = judged(trace);
    let broken: Vec<_> =
        report.findings.iter().map(|finding| format!("{}: {}", finding.check, finding.message)).collect();
    check(broken.is_empty(), broken.join("\n"))?;
    let held = report.results.iter().filter(|result| result.outcome == crdproof::report::Outcome::Passed).count();
    check(held >= least, format!("only {held} checks held: {:?}", report.summary))
}

pub(crate) fn judged(trace: Trace) -> Report {
    let all =
        "apiVersion: crdproof/v1alpha1\nkind: Suite\ndescription: all\nchecks: ['serving/*', 'storage/*', 'apply/*']\n";
    let selection = Selection {
        suites: vec![load_suite("all", "all", all).unwrap_or_else(|error| panic!("{error}"))],
        ..Selection::default()
    };
    let settings = Settings { selection, seed: 1, ..Settings::default() };
    let observations = Observations { traces: vec![trace], ..Observations::default() };
    let subject = subject();
    let options = Options::on(jiff::civil::date(2026, 11, 16));
    judge(&plan_recorded(&subject, &settings, &observations), &observations, &options).report
}

/// The setup of scenarios for the first CRD.
pub(crate) fn setup(subject: &Subject, converter: Option<Arc<dyn Endpoint>>) -> Setup<'_> {
    Setup {
        subject,
        crd: &subject.crds[0],
        converter,
        seed: 1,
        in_tree_migration: false,
        deployed: false,
        progress: None,
    }
}

pub(crate) fn maps() -> Maps {
    Maps::new(Arc::new(subject())).unwrap_or_else(|why| panic!("{why}"))
}

#[expect(clippy::print_stdout, reason = "how late a flip is, is worth knowing on every release")]
pub(crate) fn a_correct_subject_passes_every_scenario(binaries: &Binaries) -> Result<(), Failed> {
    let trace = recorded_on(binaries, Arc::new(maps()), &Scenario::ALL)?;
    let settled = trace.settled(StorageStep::Flip).next().ok_or("the flip was not watched")?;
    let (late, row) = (settled.late, settled.in_a_row);
    println!(
        "{}: {late} writes landed at the old version after the flip, then {row} in a row at the new one",
        trace.kubernetes
    );
    held(trace, 38)
}

/// The correct converter, with a mistake in every object that it returns.
struct Broken<F>(Maps, F);

impl<F: Fn(&mut Value, &str) + Send + Sync> Endpoint for Broken<F> {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let (outcome, took) = self.0.send(request);
        let Outcome::Answered { status, content_type, body } = outcome else { return (outcome, took) };
        let mut answer: Value = serde_json::from_str(&body).unwrap_or_default();
        for object in answer["response"]["convertedObjects"].as_array_mut().into_iter().flatten() {
            let version =
                object["apiVersion"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
            self.1(object, &version);
        }
        (Outcome::Answered { status, content_type, body: answer.to_string() }, took)
    }
}

/// Only one release of the range is installed, and nothing may be built: that one is judged, the others are counted.
pub(crate) fn a_range_skips_releases_that_are_not_installed(binaries: &Binaries) -> Result<(), Failed> {
    let output = Command::new(&binaries.apiserver).arg("--version").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let named = text.split_whitespace().last().unwrap_or_default();
    let here: KubeVersion = named.parse().map_err(|_| format!("{text:?} is not a release"))?;
    let world = tempfile::tempdir()?;
    let assets = binaries.apiserver.parent().ok_or("the programs are in no folder")?;
    let range = format!("1.{}..1.{}", here.minor, here.minor + 1);
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.args([
        "run",
        "--no-counterexamples",
        "--suite",
        "serving",
        "--only",
        "serving/crd-accepted",
        "--kubernetes",
        &range,
    ]);
    command.args([
        "--offline",
        "--go",
        "/nowhere/go",
        "--report",
        "json",
        "-f",
        "fixtures/traces/widgets/crdproof.yaml",
    ]);
    command.arg("--assets").arg(assets).env("CRDPROOF_CACHE", world.path()).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output()?;
    check(output.status.success(), said(&output))?;
    let report: Report = serde_json::from_slice(&output.stdout).map_err(|_| said(&output))?;
    check((report.summary.passed, report.summary.skipped) == (1, 1), format!("{:?}", report.summary))?;
    let (judged, skipped) = (&report.results[0].kubernetes, &report.skipped[0]);
    check(*judged == Some(here.to_string()), format!("{judged:?}"))?;
    let absent = Some(format!("1.{}", here.minor + 1));
    check(skipped.kubernetes == absent && !skipped.reason.is_empty(), format!("{skipped:?}"))?;
    let line = format!("○ Kubernetes 1.{} skipped: {} (1 check)", here.minor + 1, skipped.reason);
    check(said(&output).contains(&line), format!("{line:?} is not in\n{}", said(&output)))
}

/// The checks that fail because of a mistake, on the default release.
pub(crate) fn condemned(
    binaries: &Binaries,
    scenarios: &[Scenario],
    mistake: impl Fn(&mut Value, &str) + Send + Sync + 'static,
) -> Result<BTreeSet<String>, Failed> {
    let report = judged(recorded_on(binaries, Arc::new(Broken(maps(), mistake)), scenarios)?);
    Ok(report.findings.into_iter().map(|finding| finding.check).collect())
}

#[expect(clippy::print_stdout, reason = "which check condemns what")]
pub(crate) fn among(what: &str, found: &BTreeSet<String>, wanted: &[&str]) -> Result<(), Failed> {
    println!("{what}: {}", found.iter().cloned().collect::<Vec<_>>().join(", "));
    let missing: Vec<_> = wanted.iter().filter(|check| !found.contains(**check)).collect();
    check(missing.is_empty(), format!("{what} is not condemned by {missing:?}, only by {found:?}"))
}

fn drop_field(object: &mut Value, field: &str) {
    if let Some(spec) = object["spec"].as_object_mut() {
        spec.remove(field);
    }
}

/// A converter that returns a new value each time: a write that changes nothing looks like a change of that field, and
/// its owner loses it. The finding names the manager, the field and the version.
pub(crate) fn an_unstable_converter_loses_ownership(binaries: &Binaries) -> Result<(), Failed> {
    let calls = AtomicU64::new(0);
    let broken = Broken(maps(), move |object: &mut Value, _: &str| {
        if let Some(owner) = object["spec"].as_object_mut().and_then(|spec| spec.get_mut("owner")) {
            *owner = json!(format!("owner-{}", calls.fetch_add(1, Ordering::Relaxed)));
        }
    });
    let report = judged(recorded_on(binaries, Arc::new(broken), &[Scenario::Storage])?);
    let told: Vec<_> =
        report.findings.iter().filter(|finding| finding.check.starts_with("apply/ownership-survives")).collect();
    let words: Vec<_> = told.iter().map(|finding| format!("{}: {}", finding.check, finding.message)).collect();
    let named = words.iter().any(|words| [".spec.owner", "alice", "v1"].iter().all(|part| words.contains(part)));
    check(named, format!("no finding names path, manager and version: {words:?}"))
}

pub(crate) fn broken_converters_fail(binaries: &Binaries) -> Result<(), Failed> {
    let lossy = condemned(binaries, &Scenario::ALL, |object, to| {
        if to == "v2" {
            drop_field(object, "owner");
        }
    })?;
    among(
        "a field lost on the way to the stored version",
        &lossy,
        &["serving/writes-lose-nothing", "apply/reapply-is-no-op", "apply/kinds-and-their-objects-apply-together"],
    )?;

    let calls = AtomicU64::new(0);
    let restless = condemned(binaries, &[Scenario::Apply], move |object, _| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        object["metadata"]["annotations"]["example.com/jitter"] = json!(call.to_string());
    })?;
    among(
        "a converter that never answers the same, under GitOps",
        &restless,
        &["apply/drift-detected", "apply/drift-corrected", "apply/kinds-and-their-objects-apply-together"],
    )?;

    let calls = AtomicU64::new(0);
    let jitter = condemned(binaries, &[Scenario::Storage, Scenario::Retirement], move |object, _| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        object["metadata"]["annotations"]["example.com/jitter"] = json!(call.to_string());
    })?;
    among(
        "a converter that never answers the same",
        &jitter,
        &["storage/migration-keeps-content", "storage/mixed-storage-reads-alike", "storage/retirement-keeps-content"],
    )?;

    // v1 has size, v2 has replicas; converting back loses it.
    let one_way = condemned(binaries, &[Scenario::Apply], |object, to| {
        if to == "v1" {
            drop_field(object, "size");
        }
    })?;
    among(
        "a rename that only works one way",
        &one_way,
        &["apply/conflict-crosses-versions", "apply/entries-follow-versions"],
    )?;

    // The converter saves a field that v2 had once, and restores it whenever it is missing.
    let stale = condemned(binaries, &[Scenario::Apply], |object, to| {
        let stash = "example.com/owner";
        if to != "v2" || !object["spec"].is_object() {
            return;
        }
        if let Some(owner) = object["spec"].get("owner").cloned() {
            object["metadata"]["annotations"][stash] = owner;
        } else if let Some(kept) = object["metadata"]["annotations"].get(stash).cloned() {
            object["spec"]["owner"] = kept;
        }
    })?;
    among("a stash that brings back what was withdrawn", &stale, &["apply/withdrawal-crosses-versions"])?;

    let labels = condemned(binaries, &[Scenario::Serving], |object, to| {
        if to == "v1" {
            object["metadata"]["labels"] = json!({});
        }
    })?;
    among("labels that are lost", &labels, &["serving/selectors-hold"])
}

/// An object that our validation refuses is shown to the server, whose words are the evidence.
pub(crate) fn the_server_explains_why_an_object_is_left_out(binaries: &Binaries) -> Result<(), Failed> {
    let mut subject = subject();
    let sample = subject.samples.iter_mut().find(|sample| sample.group_version().1 == "v1").ok_or("no sample")?;
    sample.object["spec"]["size"] = json!("many");
    let trace = block(async {
        let local = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let server = Server::Local(Box::new(local));
        let trace = run_scenarios(&server, setup(&subject, Some(Arc::new(maps()))), &[Scenario::Serving]).await;
        server.stop().await.map_err(|error| describe(&error))?;
        trace.map_err(|error| describe(&error))
    })?;
    let refused: Vec<_> = trace.left_out().filter_map(|one| one.answer.clone()).collect();
    check(refused.len() == 1 && refused[0].contains("spec.size"), format!("{refused:?}"))?;
    let found = judged(trace).findings.into_iter().find(|finding| finding.check == "serving/crud-at-every-version");
    let evidence = found.and_then(|finding| finding.evidence).unwrap_or_default();
    check(evidence.starts_with("the server answered: "), evidence)
}
