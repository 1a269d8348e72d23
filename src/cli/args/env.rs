//! The arguments of `env`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{SubjectArgs, TextFormat};

/// The default release.
pub(crate) const DEFAULT_RELEASE: &str = "1.36";

#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    #[command(subcommand)]
    pub(crate) action: EnvAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EnvAction {
    /// Install a release: from a folder, the cache, an archive, or a build from Go modules.
    #[command(
        after_help = "Examples:\n  crdproof env use 1.36\n  crdproof env use 1.30..1.37\n  crdproof env use ~1.31 --offline"
    )]
    Use(EnvUseArgs),
    /// Show installed releases, and releases that can be built.
    #[command(after_help = "Example:\n  crdproof env list --format json")]
    List(EnvListArgs),
    /// Print the folder of a release, for `KUBEBUILDER_ASSETS`; installs the release first if it is missing.
    #[command(after_help = "Example:\n  KUBEBUILDER_ASSETS=$(crdproof env path 1.31) go test ./...")]
    Path(EnvUseArgs),
    /// Remove releases from the cache.
    #[command(after_help = "Example:\n  crdproof env remove 1.31.4")]
    Remove(EnvRemoveArgs),
    /// Put an archive from standard input into the cache: a tar.gz with etcd and kube-apiserver.
    #[command(after_help = "Example:\n  crdproof env sideload 1.36.4 < envtest-v1.36.4-linux-amd64.tar.gz")]
    Sideload(EnvSideloadArgs),
    /// Start an API server, run a command with its kubeconfig, and stop the server.
    ///
    /// The command finds `KUBECONFIG`, `CRDPROOF_NAMESPACE` and `CRDPROOF_KUBERNETES` in its environment, and with kind
    /// `CRDPROOF_KIND_CLUSTER`; its exit code is ours. Exit code 5 means that there was no server, 6 that the run was interrupted.
    #[command(
        after_help = "Examples:\n  crdproof env run 1.36 --crd config/crd -- cargo test\n  crdproof env run --provider kind 1.36.4 -- kubectl get --raw /version\n  crdproof env run --provider kubeconfig --context test --allow-changes -- make test"
    )]
    Run(Box<EnvRunArgs>),
    /// Print the `ClusterRole` that `run --provider kubeconfig --deployed` needs for the CRDs of a subject.
    #[command(after_help = "Example:\n  crdproof env rbac config/crd | kubectl apply -f -")]
    Rbac(EnvRbacArgs),
    /// Remove leftovers of runs that were killed together with their guard.
    #[command(
        after_help = "Examples:\n  crdproof env sweep --dry-run\n  crdproof env sweep --context test --allow-changes"
    )]
    Sweep(Box<EnvSweepArgs>),
    /// Make the lock of another release, so that it can be built.
    #[command(after_help = "Example:\n  crdproof env lock 1.30.4 --out locks && crdproof env use 1.30.4 --locks locks")]
    Lock(EnvLockArgs),
}

#[derive(Debug, Args)]
pub(crate) struct EnvUseArgs {
    /// 1.36 (any patch), 1.36.4, ~1.31 (its newest patch), 1.30..1.37 (each minor), 1.30.., 1.36.2..1.36.4 (each patch), latest or installed.
    #[arg(value_name = "SELECTOR", default_value = DEFAULT_RELEASE)]
    pub(crate) selector: String,
    #[command(flatten)]
    pub(crate) sources: EnvSourceArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
}

/// The sources of binaries.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "API server binaries")]
pub(crate) struct EnvSourceArgs {
    /// A folder with etcd and kube-apiserver, used if its release matches [default: `$KUBEBUILDER_ASSETS`].
    #[arg(long, value_name = "DIR")]
    pub(crate) assets: Option<PathBuf>,
    /// Never use the network.
    #[arg(long)]
    pub(crate) offline: bool,
    /// The index of release archives, in the format of envtest.
    #[arg(long, value_name = "URL")]
    pub(crate) index: Option<String>,
    /// Download archives from here instead of the address in the index.
    #[arg(long, value_name = "URL")]
    pub(crate) mirror: Option<String>,
    /// The go to build with [default: the one in PATH].
    #[arg(long, value_name = "FILE")]
    pub(crate) go: Option<PathBuf>,
    /// A folder of further locks, one folder per release.
    #[arg(long, value_name = "DIR")]
    pub(crate) locks: Option<PathBuf>,
    /// Verify every byte of cached files.
    #[arg(long)]
    pub(crate) verify: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EnvListArgs {
    /// A folder of further locks, one folder per release.
    #[arg(long, value_name = "DIR")]
    pub(crate) locks: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct EnvRemoveArgs {
    /// The releases; `installed` removes all.
    #[arg(value_name = "SELECTOR")]
    pub(crate) selector: String,
}

#[derive(Debug, Args)]
pub(crate) struct EnvSideloadArgs {
    /// The release in the archive, with its patch.
    #[arg(value_name = "VERSION")]
    pub(crate) version: String,
}

#[derive(Debug, Args)]
pub(crate) struct EnvLockArgs {
    /// The release, with its patch.
    #[arg(value_name = "VERSION")]
    pub(crate) version: String,
    /// The folder for the lock, which gets a subfolder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Another version of a staging module, if the registry lacks the release's own.
    #[arg(long = "module", value_name = "PATH@VERSION")]
    pub(crate) modules: Vec<String>,
    /// The go to use [default: the one in PATH].
    #[arg(long, value_name = "FILE")]
    pub(crate) go: Option<PathBuf>,
    /// Never use the network.
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Provider {
    /// Processes on this machine: etcd and kube-apiserver.
    Local,
    /// k3s, in a container or as a process.
    K3s,
    /// A kind cluster.
    Kind,
    /// An existing cluster, by its kubeconfig.
    Kubeconfig,
}

/// The settings of API servers.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "API servers")]
pub(crate) struct ServerArgs {
    /// The provider of API servers [default: local, or that of the subject file].
    #[arg(long, value_enum)]
    pub(crate) provider: Option<Provider>,
    /// A feature gate, for the provider local.
    #[arg(long = "feature-gate", value_name = "NAME=BOOL", value_parser = switch)]
    pub(crate) feature_gates: Vec<(String, bool)>,
    /// An API to serve or not, for the provider local.
    #[arg(long = "runtime-config", value_name = "API=BOOL", value_parser = switch)]
    pub(crate) runtime_config: Vec<(String, bool)>,
    /// Controllers to run, for the provider local; none by default.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) controllers: Vec<String>,
    /// The image of k3s or of the kind node.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// A k3s program to start instead of a container [default: `$K3S_BIN`, or k3s in the folder of --assets].
    #[arg(long, value_name = "FILE")]
    pub(crate) k3s: Option<PathBuf>,
    /// The program kind [default: the one in PATH].
    #[arg(long, value_name = "FILE")]
    pub(crate) kind: Option<PathBuf>,
    /// A configuration for kind instead of our own.
    #[arg(long, value_name = "FILE")]
    pub(crate) kind_config: Option<PathBuf>,
    /// The folder for kind's logs if it fails.
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) sources: EnvSourceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EnvRunArgs {
    /// 1.36, 1.36.4, ~1.31 or latest; with its patch for k3s and kind.
    #[arg(value_name = "SELECTOR", default_value = DEFAULT_RELEASE)]
    pub(crate) selector: String,
    /// CRDs to install before the command: files or folders.
    #[arg(long = "crd", value_name = "PATH")]
    pub(crate) crds: Vec<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Store nothing in the cluster and do not run the command; list what would be created.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The command.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// An existing cluster.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Existing cluster")]
pub(crate) struct ClusterArgs {
    /// The kubeconfig [default: `$KUBECONFIG`, then ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Allow changes in that cluster.
    #[arg(long)]
    pub(crate) allow_changes: bool,
    /// The context's name, repeated, for contexts that look like production.
    #[arg(long, value_name = "NAME")]
    pub(crate) confirm: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EnvRbacArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// The name of the role.
    #[arg(long, value_name = "NAME", default_value = "crdproof")]
    pub(crate) name: String,
    /// Also permit calling webhooks behind Services, for the suites converter and webhook.
    #[arg(long)]
    pub(crate) proxy: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EnvSweepArgs {
    /// Include leftovers of runs that still live, or of other machines.
    #[arg(long)]
    pub(crate) all: bool,
    /// Only list what would be removed.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// Reads `Name=true`.
fn switch(text: &str) -> Result<(String, bool), String> {
    let (name, value) = text.split_once('=').ok_or("write it like Name=true")?;
    let value = value.parse().map_err(|_| format!("{value:?} is neither true nor false"))?;
    Ok((name.to_owned(), value))
}

impl ServerArgs {
    /// Returns the provider.
    pub(crate) fn provider(&self) -> Provider {
        self.provider.unwrap_or(Provider::Local)
    }
}
