//! The commands. The only place that prints, and the only user of clap and anyhow.

mod args;
mod console;
mod exit;
mod list;
mod output;
mod run;
mod schema;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use exit::Exit;

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A broken pipe while printing help is nobody's concern.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Success.into() };
        }
    };
    let console = console::Console::new(cli.color);
    let result = match cli.command {
        Command::Run(args) => run::run(&args, &console),
        Command::Plan(args) => run::plan(&args, &console),
        Command::List(args) => list::list(&args, &console),
        Command::Explain(args) => list::explain(&args, &console),
        Command::Schema(args) => schema::schema(&args, &console),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => console.failure(&error).into(),
    }
}
