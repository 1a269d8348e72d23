//! `diff`.

use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::path::Path;

use crate::report::{Between, Report, guide};
use crate::run::{self as engine, ServerMatrix, Settings, quoted};
use crate::subject::Subject;
use crate::subject::load::{self, InputError, Trouble};
use anyhow::Result;

use super::args::{DiffArgs, DiffFormat, SelectionArgs};
use super::console::Console;
use super::exit::Exit;
use super::output;
use super::subject::{options, settings};

/// Judges a change and reports its findings.
pub(crate) fn diff(args: &DiffArgs, console: Console) -> Result<Exit> {
    if args.old == "-" && args.new == "-" {
        let error = InputError::new(Trouble::Wrong, "OLD and NEW cannot both be standard input");
        return Err(error.help("pass a file for one of them").into());
    }
    // Freeing large bundles takes long, and the process ends anyway.
    let mut subject = ManuallyDrop::new(load::compare(&args.old, &args.new, args.commands.allowed())?);
    decide(&mut subject, args)?;
    let command = format!("crdproof diff {} {}", quoted(&args.old), quoted(&args.new));
    let settings = Settings { command: Some(command), ..settings(&selection(args, &subject), &subject)? };
    let plan = engine::plan(&subject, &settings, &ServerMatrix::default());
    if plan.planned.is_empty() {
        let error = InputError::new(Trouble::Nothing, "the selection leaves nothing to compare");
        return Err(error.help("`crdproof list` shows all checks").into());
    }
    // Nothing waits here, and the checks of one CRD share data that is computed once.
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let jobs = NonZeroUsize::new(subject.crds.len()).map_or(NonZeroUsize::MIN, |crds| crds.min(cores));
    let options = options(Some(args.report.jobs.unwrap_or(jobs)));
    let engine::Comparison { report, known } = engine::compare(&plan, &settings, &options);
    console_output(args, &subject, &report, console)?;
    let exit = output::finish(&report, &args.report, console)?;
    if known > 0 && !args.report.quiet {
        console.say(&format!("findings that OLD has, too, and are not reported: {known}"));
    }
    // If OLD already had all findings, something was tested nevertheless.
    Ok(if exit == Exit::Nothing && known > 0 { Exit::Success } else { exit })
}

/// Adopts the settings of the subject file and the flags.
fn decide(subject: &mut Subject, args: &DiffArgs) -> Result<()> {
    let default = Path::new("crdproof.yaml");
    if let Some(file) = args.file.as_deref().or_else(|| default.exists().then_some(default)) {
        load::decide(subject, file)?;
    }
    subject.file.kubernetes.minimum = args.minimum.or(subject.file.kubernetes.minimum);
    Ok(())
}

fn console_output(args: &DiffArgs, subject: &Subject, report: &Report, console: Console) -> Result<()> {
    let between = Between { old: &args.old, new: &args.new };
    match args.format {
        DiffFormat::Text => Ok(()),
        DiffFormat::Markdown => console.print(&guide(subject, report, between)),
        DiffFormat::Json => console.print(&format!("{}\n", serde_json::to_string_pretty(report)?)),
    }
}

/// The suites of a comparison: the manifests, and the change.
fn selection(args: &DiffArgs, subject: &Subject) -> SelectionArgs {
    // Without a declared release the check has no result, and loading its table takes longer than most CRDs.
    let useless = subject.file.kubernetes.lowest().is_none().then(|| "manifest/minimum-kubernetes".to_owned());
    SelectionArgs {
        suites: vec!["manifest".to_owned(), "upgrade".to_owned()],
        only: args.only.clone(),
        except: args.except.iter().cloned().chain(useless).collect(),
        seed: 1,
        ..SelectionArgs::default()
    }
}
