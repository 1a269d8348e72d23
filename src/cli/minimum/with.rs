//! Tests a release with the scenarios of a suite or check.

use crate::checks::minimum::{Gap, ReleaseResult};
use crate::checks::{self, Severity};
use crate::converter::SubjectEndpoints;
use crate::report::{Outcome, Report};
use crate::run::{self as engine, Options};
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;
use clap::Parser as _;
use crdproof_schema::kubernetes::KubeVersion;

use crate::act::Stop;
use crate::cli::args::{Cli, Command, RunArgs};
use crate::cli::console::Console;
use crate::cli::env::converter_resources;
use crate::cli::progress::RunProgress;
use crate::cli::servers::{matrix, run_error, servers};
use crate::cli::subject::{options, settings};

/// Returns the flags of a run on one release; `Err` if the suite or check has no scenarios.
pub(super) fn run_flags(name: &str, release: KubeVersion, seed: u64, subject: &Subject) -> Result<Box<RunArgs>> {
    let wrong = |why: String| InputError::new(Trouble::Wrong, why);
    let (release, seed) = (release.to_string(), seed.to_string());
    let mut words = vec!["crdproof", "run", "--offline", "--kubernetes", &release, "--seed", &seed];
    // A check is searched everywhere, whatever the subject file's suites are.
    match checks::find(name) {
        Some(check) => words.extend(["--suite", "all", "--only", check.id]),
        None => words.extend(["--suite", name]),
    }
    // The flags of `run` have their defaults in one place.
    let cli = Cli::try_parse_from(words).map_err(|error| wrong(error.to_string()))?;
    let Command::Run(args) = cli.command else { return Err(wrong(format!("{name:?} is not a suite or check")).into()) };
    if settings(&args.selection, subject)?.scenarios().is_empty() {
        let error = wrong(format!("{name} has no scenarios, so it cannot decide between releases"));
        return Err(error.help("use serving, storage, apply or all, or one of their checks").into());
    }
    Ok(args)
}

/// Runs it on the release. Returns `None` if interrupted.
pub(super) fn test(args: &RunArgs, subject: &Subject, stop: &Stop, console: Console) -> Result<Option<ReleaseResult>> {
    let settings = settings(&args.selection, subject)?;
    let Some(servers) = servers(subject, &args.matrix)? else { return Ok(None) };
    let narrator = RunProgress::new(console, false, false);
    let endpoint = SubjectEndpoints::with(converter_resources(subject, true, console)?);
    let run = || {
        let mut plan = engine::plan(subject, &settings, &matrix(Some(&servers), &narrator)?);
        // Checks without a scenario give the same result on every release.
        plan.planned.retain(|planned| planned.check.scenario().is_some());
        let options = Options { endpoint, stop: stop.clone(), ..options(None) };
        let observations = engine::run_scenarios(&plan, &servers, &options, &|event| narrator.observe(event))?;
        Ok(engine::judge(&plan, &observations, &options).report)
    };
    let report = run().map_err(|error| run_error(error, subject))?;
    if stop.is_requested() {
        return Ok(None);
    }
    Ok(Some(judge_report(&report)))
}

/// Judges a release by the report of a run on it.
fn judge_report(report: &Report) -> ReleaseResult {
    let mut release = ReleaseResult { tried: report.results.len(), ..ReleaseResult::default() };
    let mut has_passed = false;
    let mut inconclusive = Vec::new();
    for result in &report.results {
        let gap = |message: String| Gap::Check {
            check: result.check.clone(),
            crd: result.crd.clone(),
            known_server_issue: result.outcome == Outcome::KnownServerIssue,
            message,
        };
        let reason = result.reason.clone().unwrap_or_default();
        match result.outcome {
            Outcome::Passed => has_passed = true,
            Outcome::KnownServerIssue => release.gaps.push(gap(reason)),
            Outcome::Inconclusive => inconclusive.push(gap(reason)),
            Outcome::Failed => {
                let ours = report.findings.iter().filter(|one| one.check == result.check && one.crd == result.crd);
                let bad = ours.filter(|one| one.severity == Severity::Error && one.waiver.is_none());
                release.gaps.extend(bad.map(|one| gap(one.message.clone())));
            }
        }
    }
    // If a check passed, inconclusive ones are worth a note; if none did, nothing is verified.
    if has_passed {
        release.notes.extend(inconclusive.iter().map(ToString::to_string));
    } else if release.gaps.is_empty() {
        release.gaps = inconclusive;
    }
    release
}
