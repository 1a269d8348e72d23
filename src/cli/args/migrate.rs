//! Arguments of `migrate`.

use clap::Args;

use super::env::ClusterArgs;

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// The CRD's name, such as widgets.example.com.
    #[arg(value_name = "CRD")]
    pub(crate) crd: String,
    /// Leave only the storage version in status.storedVersions, after the proof.
    #[arg(long)]
    pub(crate) trim: bool,
    /// Writes at once.
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub(crate) together: usize,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}
