//! `report render` and `report merge`.

use std::path::{Path, PathBuf};

use crate::report::{MergeError, Report, merge, read};
use crate::run::{MergedShards, merge_shards};
use crate::subject::load::{InputError, Texts, Trouble};
use anyhow::Result;

use super::args::{MergeArgs, ReportAction, ReportCommandArgs};
use super::console::Console;
use super::exit::Exit;
use super::files;
use super::output;

/// Renders or merges saved reports.
pub(crate) fn report(args: &ReportCommandArgs, console: Console) -> Result<Exit> {
    match &args.action {
        ReportAction::Render(args) => output::finish(&load(&args.source)?, &args.report, console),
        ReportAction::Merge(args) => {
            let mut sources = Vec::new();
            for source in &args.sources {
                sources.extend(files_of(source)?);
            }
            let reports = sources.iter().map(|source| load(source)).collect::<Result<Vec<_>>>()?;
            if reports.iter().any(|report| report.shard.is_some()) {
                return merge_all(reports, args, console);
            }
            let merged = merge(reports).map_err(|error| wrong(&error))?;
            output::finish(&merged, &args.report, console)
        }
    }
}

/// Returns the JSON files of a folder, by name, or the source itself.
fn files_of(source: &str) -> Result<Vec<String>> {
    let folder = Path::new(source);
    if !folder.is_dir() {
        return Ok(vec![source.to_owned()]);
    }
    let entries = std::fs::read_dir(folder).map_err(|error| files::cannot("read", folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    paths.retain(|path| !is_hidden(path) && path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    if paths.is_empty() {
        let error = InputError::new(Trouble::Nothing, format!("there is no report in {source}"));
        return Err(error.help("name the folder into which the shards wrote: `--report json=FOLDER/FILE.json`").into());
    }
    Ok(paths.iter().map(|path| path.display().to_string()).collect())
}

/// Merges the reports of shards.
fn merge_all(reports: Vec<Report>, args: &MergeArgs, console: Console) -> Result<Exit> {
    let MergedShards { report, missing } = merge_shards(reports).map_err(|error| wrong(&error))?;
    let exit = output::finish(&report, &args.report, console)?;
    for shard in &missing {
        let why = if shard.interrupted { "was interrupted" } else { "is missing" };
        console.say(&format!("✗ incomplete: shard {} {why}", shard.name));
    }
    Ok(if missing.is_empty() { exit } else { Exit::Incomplete })
}

fn wrong(error: &MergeError) -> InputError {
    let error_of = InputError::new(Trouble::Wrong, error.to_string());
    match error {
        MergeError::Different { what: "the plan", .. } => error_of.help(
            "give all shards the same subject, flags, `--timings` file and Kubernetes releases; `crdproof plan` shows them",
        ),
        _ => error_of,
    }
}

/// Reads a saved report.
pub(crate) fn load(source: &str) -> Result<Report> {
    let mut texts = Texts::relative_to("").read(source)?;
    if texts.len() != 1 {
        return Err(
            InputError::new(Trouble::Wrong, format!("{source} is not a report, but {} files", texts.len())).into()
        );
    }
    let text = texts.remove(0);
    let refuse = |error: &dyn std::fmt::Display| {
        InputError::new(Trouble::Wrong, format!("{}: {error}", text.name))
            .help("give a file written by `--report json=FILE`")
    };
    Ok(read(&text.text).map_err(|error| refuse(&error))?)
}
