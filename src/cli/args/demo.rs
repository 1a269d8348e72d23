//! The arguments of `demo`.

use std::path::PathBuf;

use clap::Args;

use super::env::{DEFAULT_RELEASE, EnvSourceArgs};

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder for the example; existing files are kept [default: crdproof-demo].
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// Use a converter that loses a field, to see the finding.
    #[arg(long)]
    pub(crate) defect: bool,
    /// The Kubernetes release to run scenarios on.
    #[arg(long, value_name = "SELECTOR", default_value = DEFAULT_RELEASE)]
    pub(crate) kubernetes: String,
    #[command(flatten)]
    pub(crate) sources: EnvSourceArgs,
}
