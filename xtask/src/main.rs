//! Maintenance commands of this repository: `cargo xtask --help`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "printing is what these commands are for")]

mod check_links;
mod compare_reports;
mod crdproof;
mod http;
mod interrupt;
mod probe_rules;
mod record_verdicts;
mod release_table;
mod terminal_picture;
mod verify_locks;
mod yaml;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::interrupt::Interrupted;

/// Maintenance commands of the crdproof repository
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    CheckLinks(check_links::Args),
    CompareReports(compare_reports::Args),
    ProbeRules(probe_rules::Args),
    RecordVerdicts(record_verdicts::Args),
    ReleaseTable(release_table::Args),
    TerminalPicture(terminal_picture::Args),
    VerifyLocks(verify_locks::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::CheckLinks(args) => check_links::run(&args),
        Command::CompareReports(args) => compare_reports::run(&args),
        Command::ProbeRules(args) => probe_rules::run(&args),
        Command::RecordVerdicts(args) => record_verdicts::run(&args),
        Command::ReleaseTable(args) => release_table::run(&args),
        Command::TerminalPicture(args) => terminal_picture::run(&args),
        Command::VerifyLocks(args) => verify_locks::run(&args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        error.downcast_ref().map_or(ExitCode::FAILURE, Interrupted::exit_code)
    })
}

/// Returns the root of the repository.
fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
