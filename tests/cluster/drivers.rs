//! Admission, rules and migration commands: correct ones pass, and broken ones fail on a real server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crdproof::act::scenarios::{Setup, run as run_scenarios};
use crdproof::evidence::{Scenario, StorageStep};
use crdproof::operate::in_tree::{CONTROLLERS, switches};
use crdproof::report::{Outcome, Report};
use crdproof::subject::{MigrationConfig, Period};
use crdproof_envtest::Server;
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::{Completion, Failed};
use serde_json::json;

use crate::scenarios::{among, condemned, held, judged, maps, setup, subject};
use crate::support::{block, check, describe};

/// Objects that are not stored yet have no resource version. This admission webhook mistakes them for others and drops
/// a field.
pub(crate) fn broken_admission_webhooks_fail(binaries: &Binaries) -> Result<(), Failed> {
    let found = condemned(binaries, &[Scenario::Serving], |object, to| {
        let born = object["metadata"]["resourceVersion"].is_null();
        if let Some(spec) = object["spec"].as_object_mut().filter(|_| born && to == "v1") {
            spec.remove("owner");
        }
    })?;
    among("a converter that mistakes what is not stored yet", &found, &["serving/admission-sees-its-version"])
}

/// A field that never keeps its value is always a change.
pub(crate) fn broken_rules_fail(binaries: &Binaries) -> Result<(), Failed> {
    let calls = AtomicU64::new(0);
    let found = condemned(binaries, &[Scenario::Serving], move |object, to| {
        if to == "v1" && object["spec"]["size"].is_number() {
            object["spec"]["size"] = json!(calls.fetch_add(1, Ordering::Relaxed) % 9);
        }
    })?;
    among("a converter that never answers the same", &found, &["serving/rules-see-converted-old-self"])
}

fn outcome(report: &Report, check: &str) -> Option<Outcome> {
    report.results.iter().find(|result| result.check == check).map(|result| result.outcome)
}

/// The subject's own migration command: ours, one that does nothing, and one that does not end.
pub(crate) fn commands_that_migrate_are_judged(binaries: &Binaries) -> Result<(), Failed> {
    let with = |command: &[&str], seconds: u64| {
        let mut subject = subject();
        let command = command.iter().map(ToString::to_string).collect();
        let timeout = Some(Period(std::time::Duration::from_secs(seconds)));
        subject.file.migration = Some(MigrationConfig { command, timeout });
        block(async {
            let local = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
            let server = Server::Local(Box::new(local));
            let converter = Some(Arc::new(maps()) as _);
            let trace = run_scenarios(&server, setup(&subject, converter), &[Scenario::Storage]).await;
            server.stop().await.map_err(|error| describe(&error))?;
            trace.map_err(|error| describe(&error))
        })
    };
    let ours = [env!("CARGO_BIN_EXE_crdproof"), "migrate", "widgets.example.com", "--allow-changes", "--trim"];
    let trace = with(&ours, 60)?;
    check(trace.of(StorageStep::CommandUnmovable).count() > 3, "the command was not tried")?;
    held(trace, 14)?;

    let checks = |report: Report| report.findings.into_iter().map(|finding| finding.check).collect::<BTreeSet<_>>();
    let idle = checks(judged(with(&["true"], 60)?));
    let wanted = ["storage/migration-rewrites-all", "storage/migration-names-what-it-cannot-move"];
    among("a command that does nothing", &idle, &wanted)?;
    let endless = checks(judged(with(&["sleep", "60"], 1)?));
    among("a command that does not end", &endless, &wanted)
}

/// The control plane migrates in parallel; its mistakes are known server issues.
#[expect(clippy::print_stdout, reason = "what each release does is worth knowing")]
pub(crate) fn the_control_plane_is_judged(binaries: &Binaries) -> Result<Completion, Failed> {
    let version = Local::builder(binaries.clone()).version().map_err(|error| describe(&error))?;
    if !version.at_least(30) {
        return Ok(Completion::ignored_with("no storage migration before 1.30"));
    }
    let subject = subject();
    let trace = block(async {
        let (gates, api) = switches(version.minor);
        let builder = Local::builder(binaries.clone()).controllers(CONTROLLERS);
        let builder = gates.iter().fold(builder, |builder, gate| builder.feature_gate(gate, true));
        let builder = api.iter().fold(builder, |builder, api| builder.runtime_config(api, true));
        let server = Server::Local(Box::new(builder.start().await.map_err(|error| describe(&error))?));
        let setup = Setup { in_tree_migration: true, ..setup(&subject, Some(Arc::new(maps()))) };
        let trace = run_scenarios(&server, setup, &[Scenario::Storage]).await;
        server.stop().await.map_err(|error| describe(&error))?;
        trace.map_err(|error| describe(&error))
    })?;
    let report = judged(trace.clone());
    let facts: Vec<_> = report.results.iter().filter(|result| result.outcome == Outcome::KnownServerIssue).collect();
    for fact in &facts {
        println!("{version}: {}: {}", fact.check, fact.reason.clone().unwrap_or_default());
    }
    let trims = outcome(&report, "storage/failed-migration-does-not-trim");
    // 1.36 introduced trimming, with a bug.
    let expected = if version.at_least(36) { Outcome::KnownServerIssue } else { Outcome::Passed };
    check(trims == Some(expected), format!("the server has changed its ways: {trims:?}"))?;
    let agree = outcome(&report, "storage/builtin-and-in-tree-migration-agree");
    check(agree == Some(Outcome::Passed), format!("both migrations do not agree: {agree:?}"))?;
    held(trace, 12)?;
    Ok(Completion::Completed)
}
