//! Reports to where they were asked for. A file is written whole or not at all.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use crdproof::checks::Severity;
use crdproof::input::{InputError, Trouble};
use crdproof::report::{Outcome, Report};

use super::args::{FailOn, ReportArgs};
use super::console::Console;
use super::exit::Exit;

/// Writes all reports that were asked for and says how the command ends.
pub(crate) fn finish(report: &Report, args: &ReportArgs, console: &Console) -> Result<Exit> {
    for request in &args.reports {
        let (format, path) = match request.split_once('=') {
            Some((format, path)) => (format, Some(PathBuf::from(path))),
            None => (request.as_str(), None),
        };
        let text = match format {
            "json" => format!("{}\n", serde_json::to_string_pretty(report)?),
            other => {
                return Err(InputError::new(Trouble::Wrong, format!("unknown report format {other:?}")).into());
            }
        };
        match path {
            Some(path) => write_file(&path, &text)?,
            None => console.print(&text)?,
        }
    }
    if !args.quiet {
        for finding in report.counting() {
            let place =
                finding.location.as_ref().map(|l| format!("{}:{}:{}: ", l.file, l.line, l.column)).unwrap_or_default();
            console.say(&format!("{place}{}[{}]: {}", finding.severity.as_str(), finding.check, finding.message));
        }
        let summary = &report.summary;
        console.say(&format!(
            "{} errors, {} warnings, {} notes; {} held, {} undecided, {} skipped; seed {}",
            summary.errors,
            summary.warnings,
            summary.notes,
            summary.held,
            summary.undecided,
            summary.skipped,
            report.seed
        ));
    }
    Ok(verdict(report, args))
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
    } else if report.results.is_empty() {
        Exit::Nothing
    } else {
        Exit::Success
    }
}

/// Writes a file beside its final name and moves it there, so that a reader never sees half of it.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let failed = |error: std::io::Error| {
        InputError::new(Trouble::Environment, format!("cannot write {}: {error}", path.display()))
            .help("check that the folder can be written to")
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let written = fs::File::create(&draft).and_then(|mut file| file.write_all(text.as_bytes()));
    let moved = written.and_then(|()| fs::rename(&draft, path));
    if let Err(error) = moved {
        // The draft is of no use to anybody; the first error is the one to tell.
        let _ = fs::remove_file(&draft);
        return Err(failed(error).into());
    }
    Ok(())
}
