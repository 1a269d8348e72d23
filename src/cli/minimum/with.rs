//! A suite or a check as the question: its scenarios are made on each release that is asked.

use crate::checks::{self, Severity};
use crate::converter::Opened;
use crate::operate::minimum::{Lack, Sight};
use crate::report::Outcome;
use crate::run::{self as engine, Options};
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;
use clap::Parser as _;
use crdproof_schema::kubernetes::KubeVersion;

use crate::act::Stop;
use crate::cli::args::{Cli, Command, RunArgs};
use crate::cli::console::Console;
use crate::cli::env::means;
use crate::cli::progress::Narrator;
use crate::cli::servers::{matrix, run_error, servers};
use crate::cli::subject::{options, settings};

/// What a run on one release would be asked; `Err` where it says nothing about servers.
pub(super) fn question(name: &str, release: KubeVersion, seed: u64, subject: &Subject) -> Result<Box<RunArgs>> {
    let wrong = |why: String| InputError::new(Trouble::Wrong, why);
    let (release, seed) = (release.to_string(), seed.to_string());
    let mut words = vec!["crdproof", "run", "--offline", "--kubernetes", &release, "--seed", &seed];
    // A check is looked for everywhere, whatever the subject file's suites are.
    match checks::find(name) {
        Some(check) => words.extend(["--suite", "all", "--only", check.id]),
        None => words.extend(["--suite", name]),
    }
    // The flags of `run` have their defaults in one place.
    let cli = Cli::try_parse_from(words).map_err(|error| wrong(error.to_string()))?;
    let Command::Run(args) = cli.command else { return Err(wrong(format!("{name:?} is no question")).into()) };
    if settings(&args.selection, subject)?.scenarios().is_empty() {
        let error = wrong(format!("{name} asks nothing of a server, so that no release decides"));
        return Err(error.help("take serving, storage, apply or all, or one of their checks").into());
    }
    Ok(args)
}

/// What comes of it on the release; `None` where it was interrupted.
pub(super) fn ask(args: &RunArgs, subject: &Subject, console: Console) -> Result<Option<Sight>> {
    let settings = settings(&args.selection, subject)?;
    let Some(servers) = servers(subject, &args.matrix)? else { return Ok(None) };
    let narrator = Narrator::new(console, false, false);
    let endpoint = Opened::with(means(subject, true, console)?);
    let stop = Stop::default();
    let run = || {
        let mut plan = engine::plan(subject, &settings, &matrix(Some(&servers), &narrator)?);
        // Only what was seen on the server is of interest, and what does not need it says the same on all.
        plan.planned.retain(|planned| planned.check.scenario().is_some());
        let options = Options { endpoint, stop: stop.clone(), ..options(None) };
        let observations = engine::run_scenarios(&plan, &servers, &options, &|event| narrator.observe(event))?;
        Ok(engine::judge(&plan, &observations, &options).report)
    };
    let report = run().map_err(|error| run_error(error, subject))?;
    if stop.is_requested() {
        return Ok(None);
    }
    let mut sight = Sight { tried: report.results.len(), ..Sight::default() };
    let mut held = false;
    let mut inconclusive = Vec::new();
    for result in &report.results {
        let lack = |said: String| Lack::Verdict {
            check: result.check.clone(),
            crd: result.crd.clone(),
            known_server_issue: result.outcome == Outcome::KnownServerIssue,
            said,
        };
        let reason = result.reason.clone().unwrap_or_default();
        match result.outcome {
            Outcome::Passed => held = true,
            Outcome::KnownServerIssue => sight.lacks.push(lack(reason)),
            Outcome::Inconclusive => inconclusive.push(lack(reason)),
            Outcome::Failed => {
                let ours = report.findings.iter().filter(|one| one.check == result.check && one.crd == result.crd);
                let bad = ours.filter(|one| one.severity == Severity::Error && one.waiver.is_none());
                sight.lacks.extend(bad.map(|one| lack(one.message.clone())));
            }
        }
    }
    // Where something held, what could not be decided is worth a word; where nothing did, nothing is proven.
    if held {
        sight.notes.extend(inconclusive.iter().map(ToString::to_string));
    } else if sight.lacks.is_empty() {
        sight.lacks = inconclusive;
    }
    Ok(Some(sight))
}
