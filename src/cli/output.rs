//! Writing reports to their targets. A file is written completely or not at all.

use std::path::{Path, PathBuf};

use crate::report::{
    self, Conduct, Format, FormatError, Outcome, Report, Style, conformance, not_tested, render, terminal,
};
use crate::subject::load::{InputError, Trouble};
use crate::subject::{Implementation, Subject};
use anyhow::Result;

use super::args::{FailOn, ReportArgs};
use super::console::Console;
use super::exit::Exit;
use super::files::{self, For};

/// The target of a report: stdout without a path.
type Request = (Kind, Option<PathBuf>);

/// A requested report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Report(Format),
    /// Needs more than the report: the party that claims conformance, and the date.
    Conformance,
}

/// Writes all requested reports and returns the exit code.
pub(crate) fn finish(report: &Report, args: &ReportArgs, console: Console) -> Result<Exit> {
    finish_conduct(report, args, None, console)
}

/// Does the same for a run whose command and settings are known.
pub(crate) fn finish_conduct(
    report: &Report,
    args: &ReportArgs,
    conduct: Option<&Conduct<'_>>,
    console: Console,
) -> Result<Exit> {
    let report = &Report { fail_on: args.fail_on.into(), ..report.clone() };
    for (kind, path) in requests(args)? {
        let text = match (kind, conduct) {
            (Kind::Report(format), _) => render(report, format),
            (Kind::Conformance, Some(conduct)) => conformance(report, conduct),
            (Kind::Conformance, None) => {
                let error = InputError::new(Trouble::Wrong, "this command writes no conformance report");
                return Err(error.help("`crdproof run` and `crdproof judge` do").into());
            }
        };
        match path {
            Some(path) => files::write(&path, &text, For::All)?,
            None => console.print(&text)?,
        }
    }
    if !args.quiet {
        let style = Style { colour: console.colour(), verbose: args.verbose, width: terminal_width() };
        console.show(terminal(report, style).trim_end());
    }
    Ok(verdict(report, args))
}

/// Reads the `--report` flags, so that errors are reported before anything is judged.
pub(crate) fn requests(args: &ReportArgs) -> Result<Vec<Request>> {
    let mut requests: Vec<Request> = Vec::new();
    for request in &args.reports {
        let (name, path) = match request.split_once('=') {
            // As in other tools, `-` is stdout.
            Some((name, "-")) => (name, None),
            Some((name, path)) => (name, Some(PathBuf::from(path))),
            None => (request.as_str(), None),
        };
        let refuse = |error: FormatError| {
            InputError::new(Trouble::Wrong, error.to_string()).help(format!("{}, conformance", error.help))
        };
        let kind = match name {
            "conformance" => Kind::Conformance,
            _ => Kind::Report(name.parse().map_err(refuse)?),
        };
        if path.is_none() && requests.iter().any(|(_, path)| path.is_none()) {
            let error = InputError::new(Trouble::Wrong, "two reports cannot both go to stdout");
            return Err(error.help(format!("give one of them a file: --report {name}=FILE")).into());
        }
        if let Some(path) = &path {
            check_target(name, path, &requests)?;
        }
        requests.push((kind, path));
    }
    Ok(requests)
}

/// Refuses a path that is not a file, and one that an earlier report uses.
fn check_target(name: &str, path: &Path, earlier: &[Request]) -> Result<()> {
    if path.as_os_str().is_empty() {
        let error = InputError::new(Trouble::Wrong, format!("--report {name}= has no file name"));
        return Err(error.help(format!("write --report {name}=FILE, or --report {name} for stdout")).into());
    }
    if earlier.iter().any(|(_, other)| other.as_ref().is_some_and(|other| target(other) == target(path))) {
        let error = InputError::new(Trouble::Wrong, format!("two reports cannot both go to {}", path.display()));
        return Err(error.help("give each report a file of its own").into());
    }
    Ok(())
}

/// Returns the file that a path leads to, as far as it is known before it is written.
fn target(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let in_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(absolute)
}

/// Returns the party that claims conformance, if a conformance report is requested. It must be known before anything
/// runs.
pub(crate) fn implementation<'s>(subject: &'s Subject, args: &ReportArgs) -> Result<Option<&'s Implementation>> {
    if !requests(args)?.iter().any(|(kind, _)| *kind == Kind::Conformance) {
        return Ok(None);
    }
    let given = subject.file.implementation.as_ref();
    let missing = given.map_or_else(|| Implementation::default().missing(), Implementation::missing);
    if missing.is_empty() {
        return Ok(given);
    }
    let message = format!("a conformance report says who claims it; missing are {}", missing.join(", "));
    let error = match subject.file_span("/implementation") {
        Some(span) => InputError::at(&subject.sources, span, message),
        None => InputError::new(Trouble::Wrong, message),
    };
    let help = "write `implementation: {organization: …, project: …, version: …, url: …, contact: [\"@team\"]}` in the subject file";
    Err(error.help(help).into())
}

/// The width of the terminal, otherwise a readable default.
fn terminal_width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(120)
}

/// The exit code of a report.
pub(crate) fn verdict(report: &Report, args: &ReportArgs) -> Exit {
    let is_inconclusive = report.results.iter().any(|result| result.outcome == Outcome::Inconclusive);
    let is_too_little = args.strict && (is_inconclusive || !not_tested(report).is_empty());
    if report.has_findings_to_fail_on() || is_too_little {
        Exit::Findings
    } else if !report.problems.is_empty() {
        Exit::Environment
    } else if report.results.is_empty() && report.shard.is_none() {
        // A shard may have no work.
        Exit::Nothing
    } else {
        Exit::Success
    }
}

impl From<FailOn> for report::FailOn {
    fn from(fail_on: FailOn) -> Self {
        match fail_on {
            FailOn::Note => Self::Note,
            FailOn::Warning => Self::Warning,
            FailOn::Error => Self::Error,
            FailOn::Never => Self::Never,
        }
    }
}
