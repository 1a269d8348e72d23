//! `job`: prints the manifests of systems that run shards and merge their reports. Starts nothing.

mod indexed;
mod matrix;

use std::num::NonZeroUsize;

use anyhow::Result;
use clap::Parser as _;

use super::args::job::{JobAction, JobArgs, WorkArgs};
use super::args::{Cli, Command};
use super::console::Console;
use super::exit::Exit;
use crate::subject::load::{InputError, Trouble};

/// Prints a Kubernetes Job, or the jobs of a CI system.
pub(crate) fn job(args: &JobArgs, console: Console) -> Result<Exit> {
    let text = match &args.action {
        Some(JobAction::Matrix(args)) => matrix::matrix(args, &Work::new(&args.work)?),
        None => indexed::indexed(&args.job, &Work::new(&args.job.work)?)?,
    };
    console.print(&text)?;
    Ok(Exit::Success)
}

/// The work that is shared out.
struct Work {
    shards: NonZeroUsize,
    /// The flags of `run`, without those of the shard.
    flags: Vec<String>,
}

/// Flags that belong to the shards or to the merge, and the remedy.
const RESERVED: [(&str, &str); 6] = [
    ("--shard", "the number of shards is --shards"),
    ("--report", "give it to `report merge`, which writes the report of all shards"),
    ("--fail-on", "give it to `report merge`, whose exit code is the verdict"),
    ("--strict", "give it to `report merge`, whose exit code is the verdict"),
    ("--record", "a shard cannot be recorded"),
    ("--no-counterexamples", "shards never save counterexamples"),
];

impl Work {
    fn new(args: &WorkArgs) -> Result<Self> {
        let releases = args.kubernetes.iter().flat_map(|release| ["--kubernetes".to_owned(), release.clone()]);
        let flags: Vec<String> = args.flags.iter().cloned().chain(releases).collect();
        let is_reserved = |flag: &str, name: &str| {
            flag.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        for (name, help) in RESERVED {
            if flags.iter().any(|flag| is_reserved(flag, name)) {
                let error = InputError::new(Trouble::Wrong, format!("{name} is not a flag of the shards"));
                return Err(error.help(help).into());
            }
        }
        let shards = args.shards.unwrap_or(NonZeroUsize::MIN);
        let work = Self { shards, flags };
        // Wrong flags are found here, and not in the first pod.
        match Cli::try_parse_from(std::iter::once("crdproof".to_owned()).chain(work.run("1"))) {
            Ok(Cli { command: Command::Run(_), .. }) => Ok(work),
            Ok(_) => Err(InputError::new(Trouble::Wrong, "the flags are not those of `run`").into()),
            Err(error) => {
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
                let error =
                    InputError::new(Trouble::Wrong, format!("the flags after -- are not those of `run`: {line}"));
                Err(error.help("`crdproof run --help` lists them").into())
            }
        }
    }

    /// Returns the arguments of a shard without its report. Findings do not fail a shard: the merged report has the verdict.
    fn run(&self, index: &str) -> Vec<String> {
        let shard = format!("{index}/{}", self.shards);
        let own = ["--shard", &shard, "--fail-on", "never", "--no-counterexamples"].map(str::to_owned);
        std::iter::once("run".to_owned()).chain(self.flags.iter().cloned()).chain(own).collect()
    }
}

/// Quotes a text for YAML; JSON strings are YAML.
fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
