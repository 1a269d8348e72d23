//! `run` and `plan`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use crate::converter::Opened;
use crate::evidence::SavedCase;
use crate::report::{Conduct, Report};
use crate::run::{self as engine, Options, Plan, Ran, Recording, SUITES, Selection, Settings, Suite, load_suite};
use crate::subject::Subject;
use crate::subject::load::{self, InputError, Trouble};
use anyhow::Result;
use crdproof_schema::names;
use serde_json::json;

use super::args::{PlanArgs, RunArgs, SelectionArgs, SubjectArgs, TextFormat};
use super::console::Console;
use super::env;
use super::exit::Exit;
use super::{cases, journeys, output, record};

/// Judges a subject and reports.
pub(crate) fn run(args: &RunArgs, console: Console) -> Result<Exit> {
    output::requests(&args.report)?;
    args.keep.record.as_deref().map_or(Ok(()), record::check)?;
    let subject = load(&args.subject)?;
    let implementation = output::implementation(&subject, &args.report)?;
    let folder = cases::folder(&args.subject).filter(|_| !args.keep.no_cases);
    let saved = folder.as_deref().map_or(Ok(Vec::new()), cases::load)?;
    let mut settings = Settings {
        cases: saved.iter().map(|kept| kept.case.clone()).collect(),
        show_secrets: args.secrets.show_secrets,
        record: args.keep.record.is_some() || args.keep.har.is_some(),
        ..settings(&args.selection, &subject)?
    };
    let Some(travelled) = journeys::make(&subject, &settings, args, console)? else {
        return Ok(env::run::interrupted(console));
    };
    (settings.traces, settings.absent) = (travelled.traces, travelled.absent);
    let mut plan = engine::plan(&subject, &settings);
    if plan.cases.is_empty() {
        return Err(nothing().into());
    }
    if engine::asks(&plan) {
        plan.endpoint = Opened::with(env::means(&subject, console)?);
    }
    engine::reach(&plan).map_err(|why| unreachable(&why, remedy(&subject)))?;
    let options = options(args.report.jobs);
    let started = jiff::Timestamp::now();
    let ran = engine::conduct(&plan, &options);
    if let Some(folder) = &args.keep.record {
        record::write(folder, &Recording::new(&plan, &ran, options.today))?;
    }
    if let Some(path) = &args.keep.har {
        record::write_har(path, &plan, &ran, started)?;
        if ran.exchanges.is_empty() && !args.report.quiet {
            console.say(&format!("○ nothing went over the wire, so {} has no entries", path.display()));
        }
    }
    let Ran { mut report, cases, .. } = ran;
    add_reproduction(&mut report, &command(args));
    if let Some(folder) = &folder {
        keep(args, folder, &cases, &mut report, console);
    }
    let command = conducted(args);
    let minimum = minimum(&subject);
    let conduct = implementation.map(|implementation| Conduct {
        implementation,
        minimum: minimum.as_deref(),
        day: options.today,
        command: &command,
        objects: settings.generated(),
    });
    let exit = output::finish_conduct(&report, &args.report, conduct.as_ref(), console)?;
    let passing = cases::passing(&saved, &report);
    if passing > 0 && !args.report.quiet {
        console.say(&format!("○ saved cases that nothing breaks any more: {passing}; `crdproof replay --prune`"));
    }
    Ok(exit)
}

/// A selection that leaves nothing is no success.
pub(crate) fn nothing() -> InputError {
    let error = InputError::new(Trouble::Nothing, "the selection leaves nothing to test");
    error.help("`crdproof plan` shows what is skipped and why")
}

/// Nothing is judged where nobody answers.
pub(crate) fn unreachable(why: &str, help: &str) -> InputError {
    InputError::new(Trouble::Environment, format!("the converter cannot be asked: {why}")).help(help)
}

/// The command that does this run again, without the checks.
fn command(args: &RunArgs) -> String {
    let mut command = "crdproof run".to_owned();
    let selection = &args.selection;
    let suites = selection.suites.iter().map(|suite| ("--suite", suite.clone()));
    let seed = (selection.seed != 1).then(|| ("--seed", selection.seed.to_string()));
    let objects = selection.objects.map(|objects| ("--objects", objects.to_string()));
    for (flag, value) in suites.chain(seed).chain(objects) {
        command.push_str(&format!(" {flag} {}", quoted(&value)));
    }
    command.push_str(&named(&args.subject));
    command
}

/// The command that does all of this run again.
fn conducted(args: &RunArgs) -> String {
    let selection = &args.selection;
    let only = selection.only.iter().map(|check| format!(" --only {}", quoted(check)));
    let except = selection.except.iter().map(|check| format!(" --except {}", quoted(check)));
    command(args) + &only.chain(except).collect::<String>()
}

/// The lowest Kubernetes release that a subject claims.
pub(crate) fn minimum(subject: &Subject) -> Option<String> {
    subject.file.kubernetes.lowest().map(|version| version.to_string())
}

/// The subject as it was named.
fn named(subject: &SubjectArgs) -> String {
    let file = subject.file.as_ref().map(|file| format!(" -f {}", quoted(&file.display().to_string())));
    file.unwrap_or_else(|| subject.sources.iter().map(|source| format!(" {}", quoted(source))).collect())
}

/// Saves what broke something, and says how to try it again. A folder that cannot be written to is no reason to
/// withhold the verdict.
fn keep(args: &RunArgs, folder: &Path, cases: &[SavedCase], report: &mut Report, console: Console) {
    if let Err(error) = cases::save(folder, cases) {
        console.say(&format!("○ what was found is not saved for `crdproof replay`: {error}"));
        return;
    }
    for case in cases {
        for finding in report.findings.iter_mut().filter(|finding| finding.fingerprint == case.fingerprint) {
            let path = folder.join(case.file_name());
            let path = quoted(&path.display().to_string());
            finding.reproduce = Some(format!("crdproof replay{} {path}", named(&args.subject)));
        }
    }
}

/// What to do where a subject's converter cannot be asked.
pub(crate) fn remedy(subject: &Subject) -> &'static str {
    if subject.file.converter.as_ref().is_some_and(|converter| converter.process.is_some()) {
        "correct `converter.process` in the subject file"
    } else {
        "start it, or correct `converter` in the subject file"
    }
}

/// How to judge: by this many threads, today.
pub(crate) fn options(jobs: Option<NonZeroUsize>) -> Options {
    Options { jobs: jobs.unwrap_or_else(Options::jobs), today: jiff::Zoned::now().date() }
}

/// Adds to each finding the command that shows it again.
pub(crate) fn add_reproduction(report: &mut Report, command: &str) {
    for finding in report.findings.iter_mut().filter(|finding| crate::checks::find(&finding.check).is_some()) {
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
        return Ok(load::from_paths(args.sources.clone())?);
    }
    let default = Path::new("crdproof.yaml");
    match &args.file {
        Some(file) => Ok(load::from_file(file)?),
        None if default.exists() => Ok(load::from_file(default)?),
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
        let near = names::closest(unknown, crate::checks::ALL.iter().map(|check| check.id));
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
            let text = load::Texts::relative_to("").read(name)?.remove(0);
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
