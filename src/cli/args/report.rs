//! The arguments of `report`.

use clap::{Args, Subcommand};

use super::ReportArgs;

#[derive(Debug, Args)]
pub(crate) struct ReportCommandArgs {
    #[command(subcommand)]
    pub(crate) action: ReportAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReportAction {
    /// Render one saved report in other formats; the exit code is that of the run.
    #[command(after_help = "Example:\n  crdproof report render crdproof.json --report markdown")]
    Render(RenderArgs),
    /// Merge the reports of several runs over one subject, such as shards.
    ///
    /// The report of all shards is that of a run without shards. If a shard is missing, or was interrupted, what is known is
    /// reported, and the exit code is 6.
    #[command(after_help = "Example:\n  crdproof report merge a.json b.json --report json=all.json")]
    Merge(MergeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RenderArgs {
    /// A JSON report, or - for standard input.
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// JSON reports, or folders of them.
    #[arg(required = true, num_args = 1..)]
    pub(crate) sources: Vec<String>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}
