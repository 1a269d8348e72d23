//! The arguments that name a subject, and permit its commands.

use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;

use crate::subject::load::Commands;

/// The subject.
#[derive(Debug, Args)]
pub(crate) struct SubjectArgs {
    /// CRDs: files, directories, git:REF:PATH, or - for standard input.
    #[arg(value_name = "SOURCE", conflicts_with = "file")]
    pub(crate) sources: Vec<String>,
    /// The subject file [default: crdproof.yaml, if no SOURCE is given].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) commands: CommandArgs,
}

/// The permission to run commands.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct CommandArgs {
    /// Run no commands of the subject: refuse a subject file that names one. For files that you have not read.
    #[arg(long, env = "CRDPROOF_NO_EXEC", value_parser = FalseyValueParser::new())]
    pub(crate) no_exec: bool,
}

impl CommandArgs {
    /// Returns the permission to run commands.
    pub(crate) fn allowed(self) -> Commands {
        if self.no_exec { Commands::Refused } else { Commands::Allowed }
    }
}
