//! The subject, the selection and the options from flags.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Result;

use super::args::{SelectionArgs, SubjectArgs};
use crate::run::{Options, Selection, Settings};
use crate::subject::Subject;
use crate::subject::load::{self, Commands, InputError, Trouble};

/// Returns the options: this many threads, today's date.
pub(crate) fn options(jobs: Option<NonZeroUsize>) -> Options {
    let options = Options::today();
    Options { jobs: jobs.unwrap_or(options.jobs), ..options }
}

/// Loads the subject that flags name.
pub(crate) fn load(args: &SubjectArgs) -> Result<Subject> {
    load_with(args, args.commands.allowed())
}

/// Loads the subject that flags name, and runs only the permitted commands.
pub(crate) fn load_with(args: &SubjectArgs, commands: Commands) -> Result<Subject> {
    if !args.sources.is_empty() {
        return Ok(load::from_paths_with(args.sources.clone(), commands)?);
    }
    let default = Path::new("crdproof.yaml");
    match &args.file {
        Some(file) if !file.exists() => {
            let error =
                InputError::new(Trouble::Wrong, format!("cannot read {}: no such file or directory", file.display()));
            Err(error
                .help("correct -f, or write a subject file for the CRDs below this folder: `crdproof init`")
                .into())
        }
        Some(file) => Ok(load::from_file_with(file, commands)?),
        None if default.exists() => {
            let subject = load::from_file_with(default, commands)?;
            Ok(Subject { arguments: Some(Vec::new()), ..subject })
        }
        None => {
            let error = InputError::new(Trouble::Wrong, "there is no crdproof.yaml here and no SOURCE was given");
            Err(error.help("name CRDs (`crdproof run config/crd`) or write a subject file with `crdproof init`").into())
        }
    }
}

/// Turns suites and filters into settings.
pub(crate) fn settings(args: &SelectionArgs, subject: &Subject) -> Result<Settings> {
    let selection = Selection::named(&args.suites, &args.only, &args.except, subject)?;
    Ok(Settings {
        selection,
        seed: args.seed,
        objects: args.objects,
        time: args.time.map(|period| period.0),
        ..Settings::default()
    })
}
