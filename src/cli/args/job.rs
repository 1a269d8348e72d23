//! The arguments of `job`.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct JobArgs {
    #[command(subcommand)]
    pub(crate) action: Option<JobAction>,
    #[command(flatten)]
    pub(crate) job: IndexedJobArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobAction {
    /// Print jobs of a CI system: one for each shard, and one that merges their reports.
    #[command(
        after_help = "Example:\n  crdproof job matrix --format github --shards 4 -- --suite all --kubernetes 1.36"
    )]
    Matrix(MatrixJobArgs),
}

/// The work of the shards.
#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    /// The number of shards.
    #[arg(long, value_name = "COUNT", required = true)]
    pub(crate) shards: Option<NonZeroUsize>,
    /// Kubernetes releases to run scenarios on, such as 1.36 or 1.28..1.37; repeatable.
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) kubernetes: Vec<String>,
    /// Further flags of `run`, such as --suite all.
    #[arg(last = true, value_name = "FLAGS")]
    pub(crate) flags: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct IndexedJobArgs {
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// The image with crdproof as its entry point, the subject in its working folder, and API servers if scenarios run.
    #[arg(long, value_name = "IMAGE", required = true)]
    pub(crate) image: Option<String>,
    /// The name of the job.
    #[arg(long, value_name = "NAME", default_value = "crdproof")]
    pub(crate) name: String,
    /// The namespace of the job [default: that of the client that creates it].
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// The `PersistentVolumeClaim` for the reports; all pods write to it.
    #[arg(long, value_name = "NAME", default_value = "crdproof-reports")]
    pub(crate) claim: String,
    /// The CPU of each pod.
    #[arg(long, value_name = "QUANTITY", default_value = "2")]
    pub(crate) cpu: String,
    /// The memory of each pod.
    #[arg(long, value_name = "QUANTITY", default_value = "2Gi")]
    pub(crate) memory: String,
}

#[derive(Debug, Args)]
pub(crate) struct MatrixJobArgs {
    /// The CI system.
    #[arg(long, value_enum)]
    pub(crate) format: MatrixFormat,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// The image with crdproof, for Tekton [default: ghcr.io/crdproof/crdproof of this version].
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatrixFormat {
    /// Jobs of a GitHub workflow.
    Github,
    /// Jobs of a GitLab pipeline.
    Gitlab,
    /// A Tekton pipeline.
    Tekton,
}
