//! The subject, the selection and the options from flags.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Result;

use super::args::{SelectionArgs, ShardArg, ShardArgs, SubjectArgs};
use crate::run::{Options, Selection, Settings, Shard, quoted};
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

/// The filters of a selection as flags.
pub(crate) fn filters(selection: &SelectionArgs) -> String {
    let only = selection.only.iter().map(|check| format!(" --only {}", quoted(check)));
    only.chain(selection.except.iter().map(|check| format!(" --except {}", quoted(check)))).collect()
}

/// Turns the flags of a shard into a shard with the durations to balance by.
pub(crate) fn shard(args: &ShardArgs) -> Result<Option<Shard>> {
    let shard = match &args.shard {
        None => return Ok(None),
        Some(ShardArg::Number(shard)) => shard.clone(),
        Some(ShardArg::Index(count)) => of_index(*count, std::env::var(COMPLETION_INDEX).ok().as_deref())?,
    };
    let Some(path) = &args.timings else { return Ok(Some(shard)) };
    let report = super::report::load(&path.display().to_string())?;
    if report.timings.is_empty() {
        let error = InputError::new(Trouble::Wrong, format!("{} has no durations", path.display()));
        return Err(error.help("take the report of a run with --shard, such as --shard 1/1, or a merged one").into());
    }
    let timings = report.timings.into_iter().map(|time| (time.unit, time.milliseconds)).collect();
    Ok(Some(Shard { timings, ..shard }))
}

/// The index of a pod of an Indexed Job, from 0.
const COMPLETION_INDEX: &str = "JOB_COMPLETION_INDEX";

/// Returns the shard of a pod.
fn of_index(count: NonZeroUsize, index: Option<&str>) -> Result<Shard> {
    let number = index.and_then(|index| index.parse::<usize>().ok()).and_then(|index| index.checked_add(1));
    let number = number.and_then(NonZeroUsize::new).filter(|number| *number <= count);
    let wrong = || {
        let value = index.map_or("not set".to_owned(), |index| format!("{index:?}"));
        InputError::new(
            Trouble::Wrong,
            format!("{COMPLETION_INDEX} is {value}, and must be from 0 to {}", count.get() - 1),
        )
        .help("run it in an Indexed Job with as many completions, or write --shard NUMBER/COUNT")
    };
    Ok(Shard { index: number.ok_or_else(wrong)?, count, timings: BTreeMap::new() })
}
