//! Arguments of `minimum`.

use crate::subject::Period;
use clap::Args;

use super::{SubjectArgs, TextFormat};

#[derive(Debug, Args)]
pub(crate) struct MinimumArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// Only these releases of the cache, such as 1.31 or 1.30..1.37; repeatable [default: all that it holds].
    #[arg(long, value_name = "SELECTOR", conflicts_with = "derive_only")]
    pub(crate) kubernetes: Vec<String>,
    /// Only say what the manifests need; no server is started.
    #[arg(long)]
    pub(crate) derive_only: bool,
    /// Another question: a suite or a check of scenarios, such as storage or apply/ownership-survives-flip, must hold.
    #[arg(long, value_name = "SUITE|CHECK", conflicts_with_all = ["derive_only", "command"])]
    pub(crate) with: Option<String>,
    /// How long a command may take on one release, such as 90s or 10m; it and all that it started are ended then.
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "command")]
    pub(crate) timeout: Period,
    /// Seed of the objects that are generated; the same seed gives the same objects.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
    /// Another question: a command that ends with 0 where a release is good enough. Nothing is installed for it.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "derive_only")]
    pub(crate) command: Vec<std::ffi::OsString>,
}
