//! The arguments of `replay` and `judge`, and of saving in `run`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;

use super::convert::NamedSubjectArgs;
use super::{CommandArgs, ReportArgs, SubjectArgs};

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Saved counterexamples [default: all beside the subject file].
    #[arg(value_name = "CASE")]
    pub(crate) counterexamples: Vec<PathBuf>,
    /// The subject file [default: crdproof.yaml].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A webhook to call instead of the subject's converter.
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,
    /// The CA that signed its certificate, in PEM [default: those of the machine].
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) ca: Option<PathBuf>,
    /// Remove the counterexamples that pass.
    #[arg(long)]
    pub(crate) prune: bool,
    #[command(flatten)]
    pub(crate) commands: CommandArgs,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
}

impl ReplayArgs {
    pub(crate) fn subject(&self) -> SubjectArgs {
        SubjectArgs { sources: Vec::new(), file: self.file.clone(), commands: self.commands }
    }
}

/// The handling of secrets.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SecretArgs {
    /// Show values of fields that look secret, instead of •••.
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

/// The evidence that a run saves.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct KeepArgs {
    /// Do not save counterexamples beside the subject file.
    #[arg(long, alias = "no-cases", env = "CRDPROOF_NO_COUNTEREXAMPLES", value_parser = FalseyValueParser::new())]
    pub(crate) no_counterexamples: bool,
    /// Record all observations into a folder, for `judge`; unredacted, and readable by its owner only.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
    /// Write the requests to the converter as an HTTP archive, readable by its owner only.
    #[arg(long, value_name = "FILE")]
    pub(crate) har: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// The folder that `run --record` wrote.
    #[arg(value_name = "RECORDING")]
    pub(crate) recording: PathBuf,
    #[command(flatten)]
    pub(crate) subject: NamedSubjectArgs,
    /// Suite to judge by, by name or file; repeatable [default: those of the recorded run].
    #[arg(short, long = "suite", value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Only these checks: a family, an id, or a glob such as 'converter/*'; repeatable.
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Vec<String>,
    /// All checks except these; repeatable.
    #[arg(long, value_name = "CHECK")]
    pub(crate) except: Vec<String>,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

impl JudgeArgs {
    /// Returns true if the selection differs from the recorded one.
    pub(crate) fn chooses(&self) -> bool {
        !(self.suites.is_empty() && self.only.is_empty() && self.except.is_empty())
    }
}
