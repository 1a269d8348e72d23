//! Arguments of `preflight`.

use std::path::PathBuf;

use clap::Args;

use super::env::ServerArgs;
use super::{CommandArgs, TextFormat};

#[derive(Debug, Args)]
pub(crate) struct PreflightArgs {
    /// A release to be started for it, such as 1.31; without it the cluster of the kubeconfig is looked at.
    #[arg(value_name = "RELEASE")]
    pub(crate) release: Option<String>,
    /// The subject file [default: crdproof.yaml, where there is one].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) commands: CommandArgs,
    /// Judge by version alone, without probes.
    #[arg(long)]
    pub(crate) no_probes: bool,
    /// Show every rule, also those that hold.
    #[arg(long)]
    pub(crate) all: bool,
    /// Only say what a rule is about, such as managed-fields: which releases have the defect, and which mend it.
    #[arg(long, value_name = "RULE")]
    pub(crate) explain: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
