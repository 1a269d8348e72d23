//! Flags of `version`, `man`, `completions` and `schema`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Also print the commit, the compiler, the platform and the Kubernetes releases that can be built.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder to write to; it is created if it is missing.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The file.
    #[arg(value_enum)]
    pub(crate) of: SchemaOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// The subject file, crdproof.yaml.
    Subject,
    /// A suite file.
    Suite,
    /// The JSON report.
    Report,
}
