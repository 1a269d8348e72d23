//! The commands. The only place that prints, and the only user of clap and anyhow.

mod about;
mod accept;
mod args;
mod audit;
mod counterexamples;
mod console;
mod convert;
mod demo;
mod diff;
mod env;
mod exit;
mod files;
mod init;
mod interrupt;
mod job;
mod list;
mod migrate;
mod minimum;
mod output;
mod panic;
mod plan;
mod preflight;
mod progress;
mod record;
mod replay;
mod report;
mod retire;
mod run;
mod samples;
mod schema;
mod serve;
mod servers;
mod subject;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use console::Console;
use exit::Exit;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            return match printed {
                _ if error.use_stderr() => Exit::Usage.into(),
                // A broken pipe while printing help is no error.
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Exit::Environment.into(),
                _ => Exit::Success.into(),
            };
        }
    };
    let console = Console::new(cli.color);
    panic::announce(console);
    match panic::caught(|| run_command(cli.command, console)) {
        Ok(exit) => exit.into(),
        Err(error) => console.failure(&error).into(),
    }
}

fn run_command(command: Command, console: Console) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => run::run(&args, console),
        Command::Accept(args) => accept::accept(&args, console),
        Command::Judge(args) => record::judge(&args, console),
        Command::Replay(args) => replay::replay(&args, console),
        Command::Demo(args) => demo::demo(&args, console),
        Command::Convert(args) => convert::convert(&args, console),
        Command::Serve(args) => serve::serve(&args, console),
        Command::Migrate(args) => migrate::migrate(&args, console),
        Command::Preflight(args) => preflight::preflight(&args, console),
        Command::Minimum(args) => minimum::minimum(&args, console),
        Command::Audit(args) => audit::audit(&args, console),
        Command::Retire(args) => retire::retire(&args, console),
        Command::Diff(args) => diff::diff(&args, console),
        Command::Plan(args) => plan::plan(&args, console),
        Command::List(args) => list::list(&args, console),
        Command::Explain(args) => list::explain(&args, console),
        Command::Init(args) => init::init(&args, console),
        Command::Report(args) => report::report(&args, console),
        Command::Job(args) => job::job(&args, console),
        Command::Env(args) => env::env(&args, console),
        Command::Completions(args) => about::completions(&args, console),
        Command::Man(args) => about::man(&args, console),
        Command::Version(args) => about::version(&args, console),
        Command::Schema(args) => schema::schema(&args, console),
    }
}
