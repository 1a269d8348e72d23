//! `diff`.

use std::mem::ManuallyDrop;
use std::path::Path;

use crate::report::{Between, Report, guide};
use crate::run::{self as engine, ServerMatrix, Settings, quoted};
use crate::subject::load::{self, InputError, Texts, Trouble};
use crate::subject::{Subject, SubjectFile};
use anyhow::Result;
use crdproof_schema::document::{Span, decode, parse};

use super::args::{DiffArgs, DiffFormat, SelectionArgs};
use super::console::Console;
use super::exit::Exit;
use super::output;
use super::subject::{options, settings};

/// Judges a change and reports what it brings.
pub(crate) fn diff(args: &DiffArgs, console: Console) -> Result<Exit> {
    if args.old == "-" && args.new == "-" {
        let error = InputError::new(Trouble::Wrong, "OLD and NEW cannot both be standard input");
        return Err(error.help("give a file for one of them").into());
    }
    // Large bundles take long to be freed, and the process ends anyway.
    let mut subject = ManuallyDrop::new(load::compare(&args.old, &args.new)?);
    decide(&mut subject, args)?;
    let command = format!("crdproof diff {} {}", quoted(&args.old), quoted(&args.new));
    let settings = Settings { command: Some(command), ..settings(&selection(args), &subject)? };
    let plan = engine::plan(&subject, &settings, &ServerMatrix::default());
    if plan.planned.is_empty() {
        let error = InputError::new(Trouble::Nothing, "the selection leaves nothing to compare");
        return Err(error.help("`crdproof list` shows all checks").into());
    }
    let options = options(args.report.jobs);
    let engine::Comparison { report, known } = engine::compare(&plan, &settings, &options);
    console_output(args, &subject, &report, console)?;
    let exit = output::finish(&report, &args.report, console)?;
    if known > 0 && !args.report.quiet {
        console.say(&format!("{known} findings stood in OLD already and are not reported"));
    }
    // Where all that was judged stood in OLD already, something was tested nevertheless.
    Ok(if exit == Exit::Nothing && known > 0 { Exit::Success } else { exit })
}

/// Takes what the subject file decides: waivers, and the Kubernetes versions that count. Its CRDs are not read.
fn decide(subject: &mut Subject, args: &DiffArgs) -> Result<()> {
    let default = Path::new("crdproof.yaml");
    let file = args.file.as_deref().or_else(|| default.exists().then_some(default));
    if let Some(file) = file {
        let text = Texts::relative_to("").read(&file.display().to_string())?.remove(0);
        let sources = &mut subject.sources;
        let id = sources.add(text.name, text.text);
        let documents = parse(sources, id).map_err(|error| InputError::at(sources, error.span, &error.message))?;
        let Some(document) = documents.into_iter().next() else {
            return Err(
                InputError::at(sources, Span::start_of(id), "a subject file is one document; here is none").into()
            );
        };
        let read = decode::<SubjectFile>(&document)
            .map_err(|error| InputError::at(sources, error.span.unwrap_or(document.span), error.message))?;
        if let Some(problem) = read.problem() {
            let span = document.nearest(&problem.pointer).span;
            return Err(InputError::at(sources, span, problem.message).help(problem.help).into());
        }
        subject.file.waivers = read.waivers;
        subject.file.kubernetes = read.kubernetes;
        subject.document = Some(document);
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

/// The suites of a comparison: the documents alone, and the change.
fn selection(args: &DiffArgs) -> SelectionArgs {
    SelectionArgs {
        suites: vec!["manifest".to_owned(), "upgrade".to_owned()],
        only: args.only.clone(),
        except: args.except.clone(),
        seed: 1,
        ..SelectionArgs::default()
    }
}
