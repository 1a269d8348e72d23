//! The arguments of `init`.

use std::path::PathBuf;

use clap::Args;

use super::TextFormat;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder to search; the subject file is written there.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Replace an existing subject file.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the subject file instead of writing it.
    #[arg(long)]
    pub(crate) stdout: bool,
    /// Ask nothing, also on a terminal. The webhook is then written as a comment to complete.
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Output format of the result.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
}
