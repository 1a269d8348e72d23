//! `run`: judges a subject and reports.

use anyhow::Result;

use super::args::RunArgs;
use super::console::Console;
use super::exit::Exit;
use super::interrupt::Interrupts;
use super::progress::RunProgress;
use super::servers::{self, run_error};
use super::subject::{filters, load, options, settings, shard};
use super::{counterexamples, env, output, record};
use crate::converter::SubjectEndpoints;
use crate::report::{Conduct, Report};
use crate::run::{self as engine, Event, Options, Ran, Recording, Settings};
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble};

/// Judges a subject and reports.
pub(crate) fn run(args: &RunArgs, console: Console) -> Result<Exit> {
    run_then(args, console, &|_, _| Ok(()))
}

/// Judges a subject, reports, and calls a function with the report.
pub(crate) fn run_then(
    args: &RunArgs,
    console: Console,
    then: &dyn Fn(&Subject, &Report) -> Result<()>,
) -> Result<Exit> {
    output::requests(&args.report)?;
    args.keep.record.as_deref().map_or(Ok(()), record::check)?;
    refuse_part(args)?;
    let subject = servers::with_installed_webhook(load(&args.subject)?, args, console)?;
    let implementation = output::implementation(&subject, &args.report)?;
    let folder = counterexamples::folder(&args.subject).filter(|_| !args.keep.no_counterexamples);
    let saved = folder.as_deref().map_or(Ok(Vec::new()), counterexamples::load)?;
    let settings = Settings {
        counterexamples: saved.iter().map(|kept| kept.counterexample.clone()).collect(),
        show_secrets: args.secrets.show_secrets,
        record: args.keep.record.is_some() || args.keep.har.is_some(),
        shard: shard(&args.shard)?,
        ..settings(&args.selection, &subject)?
    };
    let wrong = |error| run_error(error, &subject);
    let on_servers = args.matrix.deployed || !settings.scenarios().is_empty();
    let servers = if on_servers { servers::servers(&subject, &args.matrix)? } else { None };
    let interrupts = Interrupts::listen(console);
    let narrator = RunProgress::new(console, args.report.verbose, args.report.quiet);
    let matrix = servers::matrix(servers.as_ref(), &narrator).map_err(wrong)?;
    let plan = engine::plan(&subject, &settings, &matrix);
    let mut options = Options { stop: interrupts.stop.clone(), ..options(args.report.jobs) };
    options.endpoint =
        SubjectEndpoints::with(env::converter_resources(&subject, engine::needs_converter(&plan), console)?);
    let started = jiff::Timestamp::now();
    let observe = |event: &Event<'_>| {
        // Before that, there is nothing to report.
        if matches!(event, Event::Servers { .. } | Event::Started { .. }) {
            interrupts.act();
        }
        narrator.observe(event);
    };
    let executed = engine::execute(&plan, servers.as_ref(), &options, &observe);
    narrator.finish();
    let (ran, observations) = executed.map_err(wrong)?;
    let is_interrupted = options.stop.is_requested();
    if let Some(folder) = &args.keep.record {
        record::write(folder, &Recording::new(&plan, &observations, &ran, options.today))?;
    }
    if let Some(path) = &args.keep.har {
        record::write_har(path, &plan, &ran, started, console)?;
    }
    let Ran { mut report, counterexamples, .. } = ran;
    if let Some(folder) = &folder {
        counterexamples::keep(&subject, folder, &counterexamples, &mut report, console);
    }
    let command = engine::command(&subject, &settings).unwrap_or_default() + &filters(&args.selection);
    let minimum = subject.file.kubernetes.lowest().map(|version| version.to_string());
    let (day, objects) = (options.today, settings.generated());
    let conduct = implementation.map(|implementation| Conduct {
        implementation,
        minimum: minimum.as_deref(),
        day,
        command: &command,
        objects,
    });
    let exit = output::finish_conduct(&report, &args.report, conduct.as_ref(), console)?;
    let passing = counterexamples::passing(&saved, &report);
    if passing > 0 && !args.report.quiet {
        console
            .say(&format!("○ saved counterexamples that pass now: {passing}; `crdproof replay --prune` deletes them"));
    }
    if is_interrupted {
        return Ok(Exit::Incomplete);
    }
    then(&subject, &report)?;
    Ok(exit)
}

/// Refuses to write a part of the work as if it were all of it.
fn refuse_part(args: &RunArgs) -> Result<()> {
    let conformance = |request: &&str| *request == "conformance" || request.starts_with("conformance=");
    let whole = if args.keep.record.is_some() {
        Some("--record")
    } else {
        args.report.reports.iter().map(String::as_str).find(conformance).map(|_| "a conformance report")
    };
    match (&args.shard.shard, whole) {
        (Some(_), Some(whole)) => {
            let error = InputError::new(Trouble::Wrong, format!("{whole} needs a whole run, not a shard"));
            Err(error.help("leave --shard out").into())
        }
        _ => Ok(()),
    }
}
