//! Arguments of `audit`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::TextFormat;

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Only these CRDs, such as widgets.example.com [default: all].
    #[arg(value_name = "CRD")]
    pub(crate) names: Vec<String>,
    /// Read saved lists instead of a cluster, as `kubectl get crd -o json` and `kubectl get widgets -A -o json
    /// --show-managed-fields` write them; repeatable, - for standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kubeconfig", "context", "owners"], num_args = 1..)]
    pub(crate) dump: Vec<String>,
    /// Also show clean CRDs with a single version.
    #[arg(long)]
    pub(crate) all: bool,
    /// Search objects of all kinds for owner references; lists everything that may be listed.
    #[arg(long)]
    pub(crate) owners: bool,
    /// Report certificates that expire within this time.
    #[arg(long, value_name = "DAYS", default_value = "30d", value_parser = days)]
    pub(crate) expires_within: i64,
    /// Write objects of --crd into this folder as samples, redacted, one file each, instead of an audit.
    #[arg(long, value_name = "DIR", requires = "crd")]
    pub(crate) samples: Option<PathBuf>,
    /// The CRD to take samples of.
    #[arg(long, value_name = "CRD", requires = "samples", conflicts_with = "names")]
    pub(crate) crd: Option<String>,
    /// Maximum number of samples.
    #[arg(long, value_name = "N", default_value = "10", requires = "samples")]
    pub(crate) count: NonZeroUsize,
    /// Give samples new names, and remove their labels and annotations.
    #[arg(long, requires = "samples")]
    pub(crate) anonymous: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
    /// The kubeconfig [default: `$KUBECONFIG`, then ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

/// Parses days, such as 30d.
fn days(text: &str) -> Result<i64, String> {
    let number = text.strip_suffix('d').unwrap_or(text);
    let days = number.parse::<u16>().map_err(|_| "write days, such as 30d".to_owned())?;
    Ok(days.into())
}
