//! Errors of installing a release.

use std::io;
use std::path::{Path, PathBuf};

use crdproof_schema::kubernetes::{SELECTOR_HELP, Selector, SelectorError};

/// An error of installing the binaries of a release. [`BinariesError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum BinariesError {
    /// An invalid selector.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// A selector that names several releases, but one is needed.
    #[error("{selector:?} names {releases} releases")]
    Ambiguous {
        /// The text.
        selector: String,
        /// The number of releases that it names.
        releases: usize,
    },
    /// A selector that names no release.
    #[error("{selector:?} names no release")]
    NoRelease {
        /// The text.
        selector: String,
    },
    /// A selector without a patch release, but that is needed.
    #[error("{selector:?} does not name one release")]
    Inexact {
        /// The text.
        selector: String,
    },
    /// No source has the release.
    #[error("no source has Kubernetes {selector}{}", list(.tried))]
    Nowhere {
        /// The requested releases.
        selector: Selector,
        /// Each source that was tried, and why it failed.
        tried: Vec<String>,
    },
    /// A file operation failed.
    #[error("cannot {action} {}", .path.display())]
    Files {
        /// The action that failed: `read`, `create`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A folder lacks a binary.
    #[error("{} has no {missing}", .folder.display())]
    Incomplete {
        /// The folder.
        folder: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// A binary is for another platform.
    #[error("{} does not run on {machine}: {found}", .file.display())]
    WrongMachine {
        /// The binary.
        file: PathBuf,
        /// This machine, as `linux/amd64`.
        machine: String,
        /// The platform of the file.
        found: String,
    },
    /// A binary ran, but is another program or version.
    #[error("{} is not {wanted}: it says {says:?}", .file.display())]
    WrongVersion {
        /// The binary.
        file: PathBuf,
        /// The expected program and version.
        wanted: String,
        /// Its message.
        says: String,
    },
    /// A lock cannot be read.
    #[error("the lock {name} cannot be used: {reason}")]
    Lock {
        /// The lock's folder name.
        name: String,
        /// Its defect.
        reason: String,
    },
    /// Go is not installed, or cannot be used.
    #[error("Go is needed to build {what}, and {reason}")]
    NoGo {
        /// The name of the build.
        what: String,
        /// Its problem.
        reason: String,
    },
    /// A step of a build failed.
    #[error("{step} of {what} failed{}", tail(.said))]
    Build {
        /// The name of the build.
        what: String,
        /// The step, such as `the compilation`.
        step: &'static str,
        /// The last lines of its output.
        said: Vec<String>,
        /// True if downloads were not allowed.
        offline: bool,
    },
    /// A download failed.
    #[error("cannot fetch {url}: {reason}")]
    Fetch {
        /// The address.
        url: String,
        /// The error.
        reason: String,
    },
    /// A downloaded file has a wrong digest.
    #[error("{name} has the SHA-512 {found}, and {expected} was promised")]
    Checksum {
        /// The archive.
        name: String,
        /// The expected digest.
        expected: String,
        /// The digest of the downloaded file.
        found: String,
    },
    /// An archive cannot be unpacked.
    #[error("{name} cannot be unpacked: {reason}")]
    Archive {
        /// The archive.
        name: String,
        /// Its defect.
        reason: String,
    },
}

impl BinariesError {
    pub(super) fn files(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Files { action, path, source }
    }

    /// The error in one line, with the decisive part first.
    pub fn in_a_line(&self) -> String {
        let first = |text: &str| text.lines().next().unwrap_or_default().trim_end_matches(':').to_owned();
        match self {
            Self::Nowhere { tried, .. } if !tried.is_empty() => {
                tried.iter().rev().map(|reason| first(reason)).collect::<Vec<_>>().join("; ")
            }
            other => first(&other.to_string()),
        }
    }

    /// Returns the remedy.
    pub fn help(&self) -> String {
        match self {
            Self::Selector(_) => SELECTOR_HELP.into(),
            Self::Ambiguous { .. } => "name one, such as 1.36".into(),
            Self::NoRelease { .. } => "`crdproof env list` shows the releases that can be installed".into(),
            Self::Inexact { .. } => "write it with its patch, such as 1.36.4".into(),
            Self::Nowhere { selector, .. } => three_ways(&selector.to_string()),
            Self::Files { .. } => "check the permissions and the free space of that folder; \
                                   CRDPROOF_CACHE moves the cache elsewhere"
                .into(),
            Self::Incomplete { .. } => "the folder needs the files etcd and kube-apiserver; \
                                        kube-controller-manager is optional"
                .into(),
            Self::WrongMachine { machine, .. } => format!("use binaries for {machine}, or leave --assets out"),
            Self::WrongVersion { .. } => "use an archive of that release, or name the release that it is".into(),
            Self::Lock { .. } => "make it anew with `crdproof env lock VERSION --out DIR`".into(),
            Self::NoGo { .. } => format!(
                "install Go 1.21 or later (https://go.dev/dl) or name one with --go; otherwise {}",
                "point --assets at a folder with etcd and kube-apiserver"
            ),
            Self::Build { offline: true, .. } => {
                "run it once without --offline, so that Go can fetch the modules of that release".into()
            }
            Self::Build { .. } => "mend what Go complains about (`go env GOPROXY` must lead to a module registry); \
                                   otherwise point --assets at a folder with etcd and kube-apiserver"
                .into(),
            Self::Fetch { .. } => "check the network and the proxy settings, or name a mirror with --mirror; \
                                   what was fetched so far is kept and continued"
                .into(),
            Self::Checksum { .. } => {
                "the file was discarded; try again, and if it happens again distrust the mirror".into()
            }
            Self::Archive { .. } => {
                "it must be a tar.gz with etcd and kube-apiserver, as envtest uses; fetch it again".into()
            }
        }
    }
}

/// The three ways to install a release.
fn three_ways(selector: &str) -> String {
    format!(
        "do one of these:\n    \
         (1) point --assets or KUBEBUILDER_ASSETS at a folder with etcd and kube-apiserver of that release\n    \
         (2) load an archive: `crdproof env sideload VERSION < envtest.tar.gz`\n    \
         (3) install Go 1.21 or later and run `crdproof env use {selector}` with a network\n    \
         `crdproof env list` shows the releases that can be built, `crdproof env lock VERSION --out DIR` adds one"
    )
}

fn list(tried: &[String]) -> String {
    tried.iter().map(|line| format!("\n  ○ {line}")).collect()
}

fn tail(said: &[String]) -> String {
    if said.is_empty() {
        return String::new();
    }
    let lines: String = said.iter().map(|line| format!("\n  {line}")).collect();
    format!(":{lines}")
}
