//! `report render` and `report merge`.

use crate::report::{Report, merge, read};
use crate::subject::load::{InputError, Texts, Trouble};
use anyhow::Result;

use super::args::{ReportAction, ReportCommandArgs};
use super::console::Console;
use super::exit::Exit;
use super::output;

/// Renders or merges saved reports.
pub(crate) fn report(args: &ReportCommandArgs, console: Console) -> Result<Exit> {
    match &args.action {
        ReportAction::Render(args) => output::finish(&load(&args.source)?, &args.report, console),
        ReportAction::Merge(args) => {
            let reports = args.sources.iter().map(|source| load(source)).collect::<Result<Vec<_>>>()?;
            let merged = merge(reports).map_err(|error| InputError::new(Trouble::Wrong, error.to_string()))?;
            output::finish(&merged, &args.report, console)
        }
    }
}

fn load(source: &str) -> Result<Report> {
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
