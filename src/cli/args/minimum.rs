//! Arguments of `minimum`.

use crate::subject::Period;
use clap::Args;

use super::{SubjectArgs, TextFormat};

#[derive(Debug, Args)]
pub(crate) struct MinimumArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// Only these installed releases, such as 1.31 or 1.30..1.37; repeatable [default: all].
    #[arg(long, value_name = "SELECTOR", conflicts_with = "derive_only")]
    pub(crate) kubernetes: Vec<String>,
    /// Only print what the manifests need; start no server.
    #[arg(long)]
    pub(crate) derive_only: bool,
    /// Another requirement: a suite or a check of scenarios that must pass, such as storage or
    /// apply/ownership-survives-flip.
    #[arg(long, value_name = "SUITE|CHECK", conflicts_with_all = ["derive_only", "command"])]
    pub(crate) with: Option<String>,
    /// The timeout of the command on one release, such as 90s or 10m; it is then ended with its descendants.
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "command")]
    pub(crate) timeout: Period,
    /// Seed of generated objects; the same seed gives the same objects.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
    /// Another requirement: a command that exits with 0 if a release is good enough. Nothing is installed for it.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "derive_only")]
    pub(crate) command: Vec<std::ffi::OsString>,
}
