//! Reports to where they were asked for. A file is written whole or not at all.

use std::path::PathBuf;

use anyhow::Result;
use crdproof::checks::Severity;
use crdproof::input::{InputError, Trouble};
use crdproof::report::{Format, FormatError, Outcome, Report, Style, render, terminal};

use super::args::{FailOn, ReportArgs};
use super::console::Console;
use super::exit::Exit;
use super::files::{self, For};

/// Where a report goes: stdout without a path.
type Request = (Format, Option<PathBuf>);

/// Writes all reports that were asked for and says how the command ends.
pub(crate) fn finish(report: &Report, args: &ReportArgs, console: Console) -> Result<Exit> {
    for (format, path) in requests(args)? {
        let text = render(report, format);
        match path {
            Some(path) => files::write(&path, &text, For::All)?,
            None => console.print(&text)?,
        }
    }
    if !args.quiet {
        let style = Style { colour: console.colour(), verbose: args.verbose, width: terminal_width() };
        console.say(terminal(report, style).trim_end());
    }
    Ok(verdict(report, args))
}

/// Reads the `--report` flags, so that a wrong one is told before anything is judged.
pub(crate) fn requests(args: &ReportArgs) -> Result<Vec<Request>> {
    let mut requests: Vec<Request> = Vec::new();
    for request in &args.reports {
        let (name, path) = match request.split_once('=') {
            Some((name, path)) => (name, Some(PathBuf::from(path))),
            None => (request.as_str(), None),
        };
        let format: Format = name
            .parse()
            .map_err(|error: FormatError| InputError::new(Trouble::Wrong, error.to_string()).help(error.help))?;
        if path.is_none() && requests.iter().any(|(_, path)| path.is_none()) {
            let error = InputError::new(Trouble::Wrong, "two reports cannot both go to stdout");
            return Err(error.help(format!("give one of them a file: --report {name}=FILE")).into());
        }
        requests.push((format, path));
    }
    Ok(requests)
}

/// The width that the terminal announces, else what reads well.
fn terminal_width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(120)
}

/// The exit code that a report stands for.
pub(crate) fn verdict(report: &Report, args: &ReportArgs) -> Exit {
    let least = match args.fail_on {
        FailOn::Note => Some(Severity::Note),
        FailOn::Warning => Some(Severity::Warning),
        FailOn::Error => Some(Severity::Error),
        FailOn::Never => None,
    };
    let found = least.is_some_and(|least| report.counting().any(|finding| finding.severity >= least));
    let undecided = args.strict && report.results.iter().any(|result| result.outcome == Outcome::Undecided);
    if found || undecided {
        Exit::Findings
    } else if !report.problems.is_empty() {
        Exit::Environment
    } else if report.results.is_empty() {
        Exit::Nothing
    } else {
        Exit::Success
    }
}
