//! Arguments of `preflight`.

use std::path::PathBuf;

use clap::Args;

use super::env::ServerArgs;
use super::{CommandArgs, TextFormat};

#[derive(Debug, Args)]
pub(crate) struct PreflightArgs {
    /// A release to start, such as 1.31; without it, the cluster of the kubeconfig is inspected.
    #[arg(value_name = "RELEASE")]
    pub(crate) release: Option<String>,
    /// The subject file [default: crdproof.yaml, if it exists].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) commands: CommandArgs,
    /// Judge only by version, without probes.
    #[arg(long)]
    pub(crate) no_probes: bool,
    /// Show every rule, also those without a problem.
    #[arg(long)]
    pub(crate) all: bool,
    /// Only explain a rule, such as managed-fields: the releases with the defect, and those that fix it.
    #[arg(long, value_name = "RULE")]
    pub(crate) explain: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
