//! Having the binaries of any Kubernetes release.
//!
//! In this order: a folder that is given, the cache, a release archive, a build from Go modules with a
//! lock. What was fetched or built is kept, so that it is had at once the next time.
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
pub use releases::{Kind, ReleaseFile};
#[cfg(feature = "download")]
pub use sideload::sideload;
pub use store::{Care, Entry, FileRecord, Manifest, Store};

/// The index of release archives that is asked where no other is named.
pub const DEFAULT_INDEX: &str =
    "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml";

/// The binaries of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    /// The release, with its patch.
    pub version: KubeVersion,
    /// The folder that holds them, which serves as `KUBEBUILDER_ASSETS`.
    pub folder: PathBuf,
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub apiserver: PathBuf,
    /// kube-controller-manager, where the source has it.
    pub controller_manager: Option<PathBuf>,
    /// How they came here.
    pub origin: Origin,
}

/// The origin of installed binaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase")]
pub enum Origin {
    /// From a folder that was given.
    Folder,
    /// From a release archive.
    Archive {
        /// Where it was fetched.
        url: String,
        /// Its digest, as the index has it.
        sha512: String,
    },
    /// From Go modules.
    Built {
        /// The Go that built it.
        go: String,
        /// The digest of the lock.
        lock: String,
    },
    /// From an archive that was handed in.
    Sideloaded {
        /// The archive's digest.
        sha256: String,
    },
}

/// The sources of binaries. Everything that the environment says is given here, as a value.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// A folder with `etcd` and `kube-apiserver`: `--assets` or `KUBEBUILDER_ASSETS`.
    pub assets: Option<PathBuf>,
    /// Never touch the network.
    pub offline: bool,
    /// The index of release archives; [`DEFAULT_INDEX`] where none is named.
    pub index: Option<String>,
    /// The base address that archives are fetched from instead of the one in the index.
    pub mirror: Option<String>,
    /// The `go` to build with; the one in `PATH` where none is named.
    pub go: Option<PathBuf>,
    /// A folder of further locks, one folder per release.
    pub locks: Option<PathBuf>,
    /// How carefully the cache is checked.
    pub care: Care,
}

impl Sources {
    /// Returns the sources that the environment names: `KUBEBUILDER_ASSETS`, and otherwise the defaults.
    pub fn from_environment() -> Self {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        Self { assets, ..Self::default() }
    }
}

/// Progress of an installation, reported at least once per second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A source could not help, and why; the next one is asked.
    Passed {
        /// Which source, and why it could not help.
        reason: String,
    },
    /// Another process makes the same release.
    Waiting {
        /// What it makes.
        release: String,
        /// For how long we have been waiting.
        elapsed: Duration,
    },
    /// An archive is being fetched.
    Fetching {
        /// Its name.
        name: String,
        /// Bytes that are here.
        done: u64,
        /// Bytes in all, where the server says so.
        total: Option<u64>,
        /// The time since its start.
        elapsed: Duration,
    },
    /// Something is being built.
    Building {
        /// What, such as `Kubernetes 1.36.4`.
        what: String,
        /// The step, such as `the compilation`.
        step: &'static str,
        /// The package that is compiled or the module that is fetched.
        now: String,
        /// Packages compiled so far.
        packages: usize,
        /// The time since its start.
        elapsed: Duration,
    },
}

/// A release that can be built, for lists.
pub fn listed(locks: Option<&std::path::Path>) -> Result<Vec<ReleaseFile>, BinariesError> {
    Ok(releases::Locks::read(locks)?.releases.into_iter().map(|release| release.file).collect())
}
