//! Arguments of `migrate` and `retire`.

use clap::Args;

use super::env::ClusterArgs;
use crate::subject::Period;

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// The CRD's name, such as widgets.example.com.
    #[arg(value_name = "CRD")]
    pub(crate) crd: String,
    /// Leave only the storage version in status.storedVersions, after verification.
    #[arg(long)]
    pub(crate) trim: bool,
    /// Concurrent writes.
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
    /// The version to retire, such as v1beta1.
    #[arg(value_name = "VERSION")]
    pub(crate) version: String,
    /// The new storage version, if VERSION is the storage version [default: the newest other served one].
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: Option<String>,
    /// The time that a request may still run after a change: --request-timeout of the API servers, and a margin.
    #[arg(long, value_name = "DURATION", default_value = "65s")]
    pub(crate) drain: Period,
    /// Concurrent writes.
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub(crate) together: usize,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}
