//! `run` and `plan`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Result;
use crdproof::convert::Opened;
use crdproof::input::{self, InputError, Trouble};
use crdproof::names;
use crdproof::report::Report;
use crdproof::run::{self as engine, Options, Plan, SUITES, Selection, Settings, Suite, load_suite};
use crdproof::subject::Subject;
use serde_json::json;

use super::args::{PlanArgs, RunArgs, SelectionArgs, SubjectArgs, TextFormat};
use super::console::Console;
use super::env;
use super::exit::Exit;
use super::{journeys, output};

/// Judges a subject and reports.
pub(crate) fn run(args: &RunArgs, console: Console) -> Result<Exit> {
    output::requests(&args.report)?;
    let subject = load(&args.subject)?;
    let mut settings = settings(&args.selection, &subject)?;
    settings.traces = journeys::make(&subject, &settings, &args.kubernetes, console)?;
    let mut plan = engine::plan(&subject, &settings);
    if plan.cases.is_empty() {
        let error = InputError::new(Trouble::Nothing, "the selection leaves nothing to test");
        return Err(error.help("`crdproof plan` shows what is skipped and why").into());
    }
    if engine::asks(&plan) {
        plan.endpoint = Opened::with(env::means(&subject, console)?);
    }
    engine::reach(&plan).map_err(|why| unreachable(&subject, &why))?;
    let mut report = engine::judge(&plan, &options(args.report.jobs));
    let sources: Vec<_> = args.subject.sources.iter().map(|source| quoted(source)).collect();
    let file = args.subject.file.as_ref().map(|file| format!(" -f {}", quoted(&file.display().to_string())));
    let subject = file.unwrap_or_else(|| sources.iter().map(|source| format!(" {source}")).collect());
    add_reproduction(&mut report, &format!("crdproof run{subject}"));
    output::finish(&report, &args.report, console)
}

/// That a converter cannot be asked, and what to do.
pub(crate) fn unreachable(subject: &Subject, why: &str) -> InputError {
    let process = subject.file.converter.as_ref().is_some_and(|converter| converter.process.is_some());
    let remedy = if process { "correct `converter.process`" } else { "start it, or correct `converter`" };
    let help = format!("{remedy} in the subject file");
    InputError::new(Trouble::Environment, format!("the converter cannot be asked: {why}")).help(help)
}

/// How to judge: by this many threads, today.
pub(crate) fn options(jobs: Option<NonZeroUsize>) -> Options {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Options { jobs: jobs.unwrap_or_else(cores), today: jiff::Zoned::now().date() }
}

/// Adds to each finding the command that shows it again.
pub(crate) fn add_reproduction(report: &mut Report, command: &str) {
    for finding in report.findings.iter_mut().filter(|finding| crdproof::checks::find(&finding.check).is_some()) {
        finding.reproduce = Some(format!("{command} --only {}", finding.check));
    }
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Prints what `run` would do.
pub(crate) fn plan(args: &PlanArgs, console: Console) -> Result<Exit> {
    let subject = load(&args.subject)?;
    let settings = settings(&args.selection, &subject)?;
    let plan = engine::plan(&subject, &settings);
    let text = match args.format {
        TextFormat::Json => format!("{:#}\n", plan_json(&plan, &settings)),
        TextFormat::Text => plan_text(&plan, &settings),
    };
    console.print(&text)?;
    Ok(Exit::Success)
}

fn plan_json(plan: &Plan<'_>, settings: &Settings) -> serde_json::Value {
    json!({
        "subject": plan.subject.name,
        "seed": settings.seed,
        "suites": settings.selection.suites.iter().map(|suite| &suite.name).collect::<Vec<_>>(),
        "settings": plan.subject.file,
        "cases": plan.cases.iter().map(|case| json!({
            "check": case.check.id, "crd": case.crd.name, "severity": case.severity,
        })).collect::<Vec<_>>(),
        "skipped": plan.skipped,
    })
}

fn plan_text(plan: &Plan<'_>, settings: &Settings) -> String {
    let suites: Vec<_> = settings.selection.suites.iter().map(|suite| suite.name.as_str()).collect();
    let mut lines = vec![format!(
        "► {}: {} CRDs, suites {}, seed {}",
        plan.subject.name,
        plan.subject.crds.len(),
        suites.join(", "),
        settings.seed
    )];
    let mut by_crd: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &plan.cases {
        by_crd.entry(&case.crd.name).or_default().push(format!("  • {} ({})", case.check.id, case.severity.as_str()));
    }
    for (crd, cases) in by_crd {
        lines.push(format!("► {crd}: {} checks", cases.len()));
        lines.extend(cases);
    }
    let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for skipped in &plan.skipped {
        *by_reason.entry(&skipped.reason).or_default() += 1;
    }
    lines.extend(by_reason.iter().map(|(reason, count)| format!("○ {count} skipped: {reason}")));
    lines.push("► settings in force".into());
    let settings = serde_json::to_string_pretty(&plan.subject.file).unwrap_or_default();
    lines.extend(settings.lines().map(|line| format!("  {line}")));
    lines.join("\n") + "\n"
}

/// Loads what is on trial.
pub(crate) fn load(args: &SubjectArgs) -> Result<Subject> {
    if !args.sources.is_empty() {
        return Ok(input::from_paths(args.sources.clone())?);
    }
    let default = Path::new("crdproof.yaml");
    match &args.file {
        Some(file) => Ok(input::from_file(file)?),
        None if default.exists() => Ok(input::from_file(default)?),
        None => {
            let error = InputError::new(Trouble::Wrong, "there is no crdproof.yaml here and no SOURCE was given");
            Err(error.help("name CRDs (`crdproof run config/crd`) or write a subject file with `crdproof init`").into())
        }
    }
}

/// Suites and filters into settings.
pub(crate) fn settings(args: &SelectionArgs, subject: &Subject) -> Result<Settings> {
    let default = vec!["quick".to_owned()];
    let wanted = [&args.suites, &subject.file.suites, &default].into_iter().find(|names| !names.is_empty());
    let suites = wanted.into_iter().flatten().map(|name| suite(name)).collect::<Result<Vec<_>>>()?;
    let selection = Selection { suites, only: args.only.clone(), except: args.except.clone() };
    if let Some(unknown) = selection.unknown().first() {
        let near = names::closest(unknown, crdproof::checks::ALL.iter().map(|check| check.id));
        let help =
            near.map_or_else(|| "`crdproof list` shows all checks".into(), |near| format!("did you mean `{near}`?"));
        return Err(InputError::new(Trouble::Wrong, format!("no check is named {unknown:?}")).help(help).into());
    }
    Ok(Settings { selection, seed: args.seed, objects: args.objects, time: args.time, ..Settings::default() })
}

/// A suite by name or by file.
fn suite(name: &str) -> Result<Suite> {
    let built_in = SUITES.iter().find(|(built_in, _)| *built_in == name);
    let loaded = match built_in {
        Some((_, text)) => load_suite(name, name, text),
        None if Path::new(name).is_file() => {
            let text = input::Texts::relative_to("").read(name)?.remove(0);
            load_suite(name, &text.name, &text.text)
        }
        None => {
            let names: Vec<_> = SUITES.iter().map(|(name, _)| *name).collect();
            let help = names::closest(name, names.iter().copied()).map_or_else(
                || format!("suites: {}; or name a file", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(InputError::new(Trouble::Wrong, format!("there is no suite {name:?}")).help(help).into());
        }
    };
    loaded.map_err(|error| {
        InputError { place: Some(error.place), help: error.help, ..InputError::new(Trouble::Wrong, error.message) }
            .into()
    })
}
