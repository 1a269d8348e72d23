//! Installing the binaries of any Kubernetes release.
//!
//! Sources, in this order: a folder that the user names, the cache, a release archive, a build from Go modules with a
//! lock. Downloads and builds are cached.
//!
//! ```no_run
//! use crdproof_envtest::binaries::{Sources, Store, resolve};
//! use crdproof_schema::kubernetes::Selector;
//!
//! let store = Store::from_environment().expect("a home folder")?;
//! let selector: Selector = "1.36".parse()?;
//! let assets = resolve(&store, &selector, &Sources::default(), &|_| ())?;
//! println!("{} is at {}", assets[0].version, assets[0].apiserver.display());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "download")]
mod archive;
mod build;
mod digest;
mod error;
mod find;
mod generated;
mod golang;
#[cfg(feature = "download")]
mod index;
mod lock;
mod probe;
mod releases;
#[cfg(feature = "download")]
mod sideload;
mod store;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crdproof_schema::kubernetes::KubeVersion;

pub use error::BinariesError;
pub use find::{expand, given, resolve};
pub use lock::lock;
pub use probe::k3s_version;
pub use releases::{Kind, ReleaseFile};
#[cfg(feature = "download")]
pub use sideload::sideload;
pub use store::{Care, Entry, FileRecord, Manifest, Store};

/// The default index of release archives.
pub const DEFAULT_INDEX: &str =
    "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml";

/// The binaries of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    /// The release, with its patch.
    pub version: KubeVersion,
    /// The folder of the binaries, usable as `KUBEBUILDER_ASSETS`.
    pub folder: PathBuf,
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub apiserver: PathBuf,
    /// kube-controller-manager, if the source has it.
    pub controller_manager: Option<PathBuf>,
    /// The origin of the binaries.
    pub origin: Origin,
}

/// The origin of installed binaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase")]
pub enum Origin {
    /// A folder that the user named.
    Folder,
    /// A release archive.
    Archive {
        /// The address of the archive.
        url: String,
        /// Its digest, from the index.
        sha512: String,
    },
    /// A build from Go modules.
    Built {
        /// The Go that built it.
        go: String,
        /// The digest of the lock.
        lock: String,
    },
    /// An archive that the user loaded.
    Sideloaded {
        /// The archive's digest.
        sha256: String,
    },
}

/// The sources of binaries. Settings from the environment are passed as values.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// A folder with `etcd` and `kube-apiserver`: `--assets` or `KUBEBUILDER_ASSETS`.
    pub assets: Option<PathBuf>,
    /// True if downloads are not allowed.
    pub offline: bool,
    /// The index of release archives; [`DEFAULT_INDEX`] by default.
    pub index: Option<String>,
    /// The base address of archives, instead of the one in the index.
    pub mirror: Option<String>,
    /// The `go` to build with; the one in `PATH` by default.
    pub go: Option<PathBuf>,
    /// A folder of further locks, one folder per release.
    pub locks: Option<PathBuf>,
    /// The thoroughness of checks of the cache.
    pub care: Care,
}

impl Sources {
    /// Returns the sources that the environment names: `KUBEBUILDER_ASSETS`, otherwise the defaults.
    pub fn from_environment() -> Self {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        Self { assets, ..Self::default() }
    }
}

/// Progress of an installation, reported at least once per second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A source failed; the next one is tried.
    Passed {
        /// The source, and why it failed.
        reason: String,
    },
    /// Another process installs the same release.
    Waiting {
        /// The name of the release.
        release: String,
        /// The time spent waiting.
        elapsed: Duration,
    },
    /// An archive is being downloaded.
    Fetching {
        /// Its name.
        name: String,
        /// Bytes received.
        done: u64,
        /// Total bytes, if the server reports them.
        total: Option<u64>,
        /// The time since its start.
        elapsed: Duration,
    },
    /// Something is being built.
    Building {
        /// The name of the build, such as `Kubernetes 1.36.4`.
        what: String,
        /// The step, such as `the compilation`.
        step: &'static str,
        /// The package that is compiled or the module that is downloaded.
        now: String,
        /// Packages compiled so far.
        packages: usize,
        /// The time since its start.
        elapsed: Duration,
    },
}

/// Lists the releases that can be built.
pub fn buildable_releases(locks: Option<&std::path::Path>) -> Result<Vec<ReleaseFile>, BinariesError> {
    Ok(releases::Locks::read(locks)?.releases.into_iter().map(|release| release.file).collect())
}
