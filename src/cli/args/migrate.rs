//! Arguments of `migrate` and `retire`.

use clap::Args;

use super::env::ClusterArgs;
use crate::subject::Period;

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

#[derive(Debug, Args)]
pub(crate) struct RetireArgs {
    /// The CRD's name, such as widgets.example.com.
    #[arg(value_name = "CRD")]
    pub(crate) crd: String,
    /// The version that is to go, such as v1beta1.
    #[arg(value_name = "VERSION")]
    pub(crate) version: String,
    /// The version to store at, where VERSION is the storage version [default: the newest other one that is served].
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: Option<String>,
    /// How long a request may run that began before a change: --request-timeout of the API servers, and a little.
    #[arg(long, value_name = "DURATION", default_value = "65s")]
    pub(crate) drain: Period,
    /// Writes at once.
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub(crate) together: usize,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}
