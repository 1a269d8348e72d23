//! The releases that can be built, each by its lock: its modules, pinned by digest, and its recipe.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::digest;
use super::error::BinariesError;
use crdproof_schema::document::{Sources as Texts, decode, parse};
use crdproof_schema::kubernetes::KubeVersion;

/// Part of every build's key: raise it when a build of the same lock changes its result.
const RECIPE: &str = "1";

/// A lock's folder name and its three files: `release.yaml`, `go.mod`, `go.sum`.
type LockTexts = (&'static str, &'static str, &'static str, &'static str);

macro_rules! locks {
    ($($name:literal)*) => {
        &[$((
            $name,
            include_str!(concat!("../../releases/", $name, "/release.yaml")),
            include_str!(concat!("../../releases/", $name, "/go.mod")),
            include_str!(concat!("../../releases/", $name, "/go.sum")),
        )),*]
    };
}

/// The built-in locks. Those of 1.23.2 and 1.31.13 have the modules that serve custom resources at that patch, and some
/// other modules, which registries lack there, at a nearby patch.
static BUILT_IN: &[LockTexts] = locks!(
    "1.16.15" "1.17.17" "1.18.3" "1.18.4" "1.19.7" "1.20.5" "1.20.6" "1.22.16" "1.23.2" "1.23.3" "1.24.17" "1.26.13"
    "1.28.15" "1.30.14" "1.31.4" "1.31.13" "1.32.6" "1.33.13" "1.34.12" "1.35.8" "1.36.2" "1.36.3" "1.36.4" "1.36.5"
    "1.37.1" "etcd-3.6.16"
);

/// The recipe of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A module that only requires the release, built with any Go that is new enough.
    Wrapper,
    /// A copy of the release's module, in which the `OpenAPI` definitions are generated first, built with the Go of its
    /// time.
    Generated,
}

/// The `release.yaml` of a Kubernetes release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseFile {
    /// The release.
    pub kubernetes: KubeVersion,
    /// The recipe of its build.
    pub kind: Kind,
    /// The minimum Go that builds it.
    pub go: String,
    /// The Go to download if the installed one does not fit.
    pub toolchain: String,
    /// The etcd of this release.
    pub etcd: String,
    /// Build tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The programs to build, such as `kube-apiserver`.
    pub commands: Vec<String>,
    /// The digest of the release's own module, if it is built in a copy and therefore not in `go.sum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The `release.yaml` of etcd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EtcdFile {
    pub(super) etcd: String,
    pub(super) go: String,
    pub(super) toolchain: String,
}

/// A lock: the recipe and the modules of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lock<T> {
    pub(super) file: T,
    pub(super) go_mod: String,
    pub(super) go_sum: String,
    /// The digest of the whole lock.
    pub(super) digest: String,
}

/// A Kubernetes release that can be built.
pub(super) type Release = Lock<ReleaseFile>;
/// An etcd that can be built.
pub(super) type Etcd = Lock<EtcdFile>;

/// The built-in locks, and those of a folder, which take precedence.
#[derive(Debug, Clone, Default)]
pub(super) struct Locks {
    pub(super) releases: Vec<Release>,
    etcds: Vec<Etcd>,
}

impl Locks {
    /// Reads all locks.
    pub(super) fn read(folder: Option<&Path>) -> Result<Self, BinariesError> {
        let mut locks = Self::default();
        if let Some(folder) = folder {
            locks.add_folder(folder)?;
        }
        for (name, file, go_mod, go_sum) in BUILT_IN {
            locks.add(name, file, go_mod, go_sum)?;
        }
        locks.releases.sort_by_key(|release| release.file.kubernetes);
        Ok(locks)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), BinariesError> {
        let unreadable = |error| BinariesError::files("read", folder)(error);
        for lock in fs::read_dir(folder).map_err(unreadable)? {
            let lock = lock.map_err(|error| BinariesError::files("read", folder)(error))?.path();
            if !lock.join("release.yaml").is_file() {
                continue;
            }
            let read = |name: &str| {
                let path = lock.join(name);
                fs::read_to_string(&path).map_err(BinariesError::files("read", &path))
            };
            let name = lock.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.add(&name, &read("release.yaml")?, &read("go.mod")?, &read("go.sum")?)?;
        }
        Ok(())
    }

    /// Adds a lock unless there is one of the same version.
    fn add(&mut self, name: &str, file: &str, go_mod: &str, go_sum: &str) -> Result<(), BinariesError> {
        let digest = digest::of_texts([RECIPE, file, go_mod, go_sum]);
        let (go_mod, go_sum) = (go_mod.to_owned(), go_sum.to_owned());
        if name.starts_with("etcd-") {
            let file: EtcdFile = read_file(name, file)?;
            if !self.etcds.iter().any(|etcd| etcd.file.etcd == file.etcd) {
                self.etcds.push(Lock { file, go_mod, go_sum, digest });
            }
            return Ok(());
        }
        let file: ReleaseFile = read_file(name, file)?;
        if file.kubernetes.patch.is_none() || file.kubernetes.to_string() != name {
            let reason = format!("its release.yaml is about {}", file.kubernetes);
            return Err(BinariesError::Lock { name: name.to_owned(), reason });
        }
        if !self.releases.iter().any(|release| release.file.kubernetes == file.kubernetes) {
            self.releases.push(Lock { file, go_mod, go_sum, digest });
        }
        Ok(())
    }

    /// The lock of a release.
    pub(super) fn release(&self, version: KubeVersion) -> Option<&Release> {
        self.releases.iter().find(|release| release.file.kubernetes == version)
    }

    /// The etcd of a release.
    pub(super) fn etcd_of(&self, release: &Release) -> Result<&Etcd, BinariesError> {
        let wanted = &release.file.etcd;
        self.etcds.iter().find(|etcd| etcd.file.etcd == *wanted).ok_or_else(|| BinariesError::Lock {
            name: release.file.kubernetes.to_string(),
            reason: format!("it wants etcd {wanted}, for which there is no lock"),
        })
    }

    /// The etcd that new locks name.
    pub(super) fn newest_etcd(&self) -> &str {
        self.etcds.last().map_or("", |etcd| etcd.file.etcd.as_str())
    }

    /// The digest of all inputs of this release's build.
    pub(super) fn digest(&self, release: &Release) -> Result<String, BinariesError> {
        Ok(digest::of_texts([release.digest.as_str(), self.etcd_of(release)?.digest.as_str()]))
    }
}

fn read_file<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, BinariesError> {
    let wrong = |reason: String| BinariesError::Lock { name: name.to_owned(), reason };
    let mut texts = Texts::default();
    let id = texts.add(format!("{name}/release.yaml"), text);
    let documents = parse(&texts, id).map_err(|error| wrong(error.message))?;
    let document = documents.first().ok_or_else(|| wrong("its release.yaml is empty".into()))?;
    decode(document).map_err(|error| wrong(error.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_lock_can_be_read_and_has_its_etcd() {
        let locks = Locks::read(None).unwrap();
        assert!(locks.releases.len() + locks.etcds.len() == BUILT_IN.len());
        for release in &locks.releases {
            locks.digest(release).unwrap();
            let pinned = format!("k8s.io/kubernetes v{}", release.file.kubernetes);
            let generated = release.file.kind == Kind::Generated;
            assert!(generated || release.go_mod.contains(&pinned), "{pinned}");
        }
    }

    #[test]
    fn a_folder_adds_locks_and_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("1.36.4");
        fs::create_dir(&lock).unwrap();
        let file = "{kubernetes: 1.36.4, kind: wrapper, go: '1.21', toolchain: 1.26.8, etcd: 3.6.16, commands: [kube-apiserver]}";
        for (name, text) in [("release.yaml", file), ("go.mod", "module x\n"), ("go.sum", "")] {
            fs::write(lock.join(name), text).unwrap();
        }
        let locks = Locks::read(Some(folder.path())).unwrap();
        assert_eq!(locks.release("1.36.4".parse().unwrap()).unwrap().file.go, "1.21");
        fs::rename(&lock, folder.path().join("1.36.3")).unwrap();
        let error = Locks::read(Some(folder.path())).unwrap_err();
        assert_eq!(error.to_string(), "the lock 1.36.3 cannot be used: its release.yaml is about 1.36.4");
    }
}
