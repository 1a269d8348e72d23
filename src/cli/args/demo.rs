//! The arguments of `demo`.

use std::path::PathBuf;

use clap::Args;

use super::env::{DEFAULT_RELEASE, EnvSourceArgs};

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where the example is written; files that exist there are kept [default: crdproof-demo].
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// Take a converter that forgets a field, to see how that is found.
    #[arg(long)]
    pub(crate) defect: bool,
    /// The Kubernetes release to run scenarios on.
    #[arg(long, value_name = "SELECTOR", default_value = DEFAULT_RELEASE)]
    pub(crate) kubernetes: String,
    #[command(flatten)]
    pub(crate) sources: EnvSourceArgs,
}
