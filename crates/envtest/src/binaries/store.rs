//! The cache: finished releases in folders that are named by their content.
//!
//! ```text
//! builds/1.36.4-linux-amd64-0a1b2c3d4e5f/   etcd kube-apiserver … manifest.json
//! parts/etcd-3.6.16-linux-amd64-…/          files that several releases share
//! locks/                                    one file per folder above; held while the folder is written
//! downloads/                                archives that are not complete yet
//! work/                                     builds in progress; their guard removes them
//! ```
//!
//! A folder is written under another name, its manifest comes last, and then it is moved into place. So a killed
//! installation never looks finished.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::digest;
use super::error::BinariesError;
use super::{Origin, Progress};
use crdproof_schema::kubernetes::KubeVersion;

const MANIFEST: &str = "manifest.json";

/// The interval at which a waiting process checks if the other one is done.
const LOCK_INTERVAL: Duration = Duration::from_millis(200);

/// The cache of releases.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// A release in the cache.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The folder's name.
    pub key: String,
    /// The folder, usable as `KUBEBUILDER_ASSETS`.
    pub folder: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
}

/// The manifest of a finished folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The release; `None` for a part such as etcd alone.
    pub kubernetes: Option<KubeVersion>,
    /// The origin of the files.
    pub origin: Origin,
    /// The duration of the installation, in seconds.
    pub seconds: f64,
    /// Its files.
    pub files: BTreeMap<String, FileRecord>,
}

/// A file when its folder was finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its digest.
    pub sha256: String,
    /// Its size in bytes.
    pub size: u64,
    /// The time of the last change, in nanoseconds since 1970; an unchanged file need not be read again.
    pub modified: u64,
}

/// The depth of the comparison of a folder with its manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Care {
    /// Compares sizes and times; reads files whose time differs.
    #[default]
    Quick,
    /// Reads every byte.
    Thorough,
}

/// A folder that only this process may write; released when dropped.
#[derive(Debug)]
pub(super) struct LockedFolder {
    _file: File,
    /// The folder to fill, empty at first.
    pub(super) draft: PathBuf,
    place: PathBuf,
}

/// The part of the cache that a folder belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheArea {
    Builds,
    Parts,
}

impl CacheArea {
    fn name(self) -> &'static str {
        match self {
            Self::Builds => "builds",
            Self::Parts => "parts",
        }
    }
}

impl Store {
    /// The cache in a folder, which is created on first use.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, BinariesError> {
        let root = root.into();
        let root = std::path::absolute(&root).map_err(BinariesError::files("use", &root))?;
        Ok(Self { root })
    }

    /// Returns the folder of the cache: `$CRDPROOF_CACHE`, otherwise `$XDG_CACHE_HOME/crdproof`, otherwise
    /// `~/.cache/crdproof`.
    pub fn default_root(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let folder = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        folder("CRDPROOF_CACHE")
            .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("crdproof")))
            .or_else(|| folder("HOME").map(|home| home.join(".cache/crdproof")))
    }

    /// Opens the cache that the environment names; `None` if it names no folder.
    pub fn from_environment() -> Option<Result<Self, BinariesError>> {
        Self::default_root(&|name| std::env::var_os(name)).map(Self::open)
    }

    /// The folder of the cache.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All finished releases, oldest first. Skips folders without a readable manifest.
    pub fn entries(&self) -> Vec<Entry> {
        let Ok(folders) = fs::read_dir(self.root.join(CacheArea::Builds.name())) else { return Vec::new() };
        let mut entries: Vec<Entry> = folders
            .flatten()
            .filter_map(|folder| self.entry(CacheArea::Builds, &folder.file_name().to_string_lossy()))
            .collect();
        entries
            .sort_by(|left, right| (left.manifest.kubernetes, &left.key).cmp(&(right.manifest.kubernetes, &right.key)));
        entries
    }

    /// A finished folder, whether its files are damaged or not.
    pub(super) fn entry(&self, on: CacheArea, key: &str) -> Option<Entry> {
        let folder = self.root.join(on.name()).join(key);
        // The names of drafts begin with a dot.
        let text = (!key.starts_with('.')).then(|| fs::read_to_string(folder.join(MANIFEST)).ok())??;
        let manifest = serde_json::from_str(&text).ok()?;
        Some(Entry { key: key.to_owned(), folder, manifest })
    }

    /// Removes a release. Waits until no other process writes it.
    pub fn remove(&self, entry: &Entry, progress: &dyn Fn(Progress)) -> Result<(), BinariesError> {
        let held = self.lock(CacheArea::Builds, &entry.key, progress)?;
        held.discard()
    }

    /// Waits until no other process writes this folder, and reserves it.
    pub(super) fn lock(
        &self,
        on: CacheArea,
        key: &str,
        progress: &dyn Fn(Progress),
    ) -> Result<LockedFolder, BinariesError> {
        let locks = self.root.join("locks");
        fs::create_dir_all(&locks).map_err(BinariesError::files("create", &locks))?;
        // Keep lock files: removing one would let two processes hold different files of the same name.
        let path = locks.join(format!("{key}.lock"));
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(BinariesError::files("create", &path))?;
        let since = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    progress(Progress::Waiting { release: key.to_owned(), elapsed: since.elapsed() });
                    std::thread::sleep(LOCK_INTERVAL);
                }
                Err(TryLockError::Error(error)) => return Err(BinariesError::files("lock", &path)(error)),
            }
        }
        let folder = self.root.join(on.name());
        Ok(LockedFolder { _file: file, draft: folder.join(format!(".{key}")), place: folder.join(key) })
    }

    /// Creates a folder for a build; its guard removes it. Only the holder of the key may call this.
    pub(super) fn work(&self, key: &str) -> Result<PathBuf, BinariesError> {
        let folder = self.root.join("work").join(key);
        clear(&folder)?;
        fs::create_dir_all(&folder).map_err(BinariesError::files("create", &folder))?;
        Ok(folder)
    }

    /// Returns the path of an archive while it is incomplete.
    #[cfg(feature = "download")]
    pub(super) fn download(&self, name: &str) -> Result<PathBuf, BinariesError> {
        let folder = self.root.join("downloads");
        fs::create_dir_all(&folder).map_err(BinariesError::files("create", &folder))?;
        Ok(folder.join(name))
    }
}

impl Entry {
    /// Returns the defect of the entry's files, if any.
    pub fn fault(&self, care: Care) -> Option<String> {
        self.manifest.files.iter().find_map(|(name, record)| fault(&self.folder.join(name), name, record, care))
    }
}

fn fault(path: &Path, name: &str, record: &FileRecord, care: Care) -> Option<String> {
    let Ok(metadata) = fs::metadata(path) else { return Some(format!("{name} is missing")) };
    if metadata.len() != record.size {
        return Some(format!("{name} has {} bytes instead of {}", metadata.len(), record.size));
    }
    if care == Care::Quick && modified(&metadata) == record.modified {
        return None;
    }
    match digest::of_file::<Sha256>(path) {
        Ok(found) if found == record.sha256 => None,
        Ok(_) => Some(format!("{name} has changed since it was put there")),
        Err(error) => Some(format!("{name} cannot be read: {error}")),
    }
}

impl LockedFolder {
    /// Empties the draft folder.
    pub(super) fn start(&self) -> Result<&Path, BinariesError> {
        clear(&self.draft)?;
        fs::create_dir_all(&self.draft).map_err(BinariesError::files("create", &self.draft))?;
        Ok(&self.draft)
    }

    /// Moves all files of a folder into the draft folder. They are built elsewhere, under a guard, so that a killed
    /// build leaves nothing behind.
    pub(super) fn take(&self, made: &Path) -> Result<&Path, BinariesError> {
        let draft = self.start()?;
        let moved = fs::read_dir(made).and_then(|files| {
            files
                .into_iter()
                .try_for_each(|file| file.and_then(|file| fs::rename(file.path(), draft.join(file.file_name()))))
        });
        moved.map_err(BinariesError::files("move", made))?;
        Ok(draft)
    }

    /// Writes the manifest and moves the folder into place, replacing an older one.
    pub(super) fn finish(
        &self,
        kubernetes: Option<KubeVersion>,
        origin: Origin,
        took: Duration,
    ) -> Result<(), BinariesError> {
        let files = records(&self.draft).map_err(BinariesError::files("read", &self.draft))?;
        let manifest = Manifest { kubernetes, origin, seconds: took.as_secs_f64(), files };
        let path = self.draft.join(MANIFEST);
        let text = serde_json::to_string_pretty(&manifest).map_err(io::Error::from);
        text.and_then(|text| {
            let mut file = File::create(&path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .map_err(BinariesError::files("write", &path))?;
        clear(&self.place)?;
        fs::rename(&self.draft, &self.place).map_err(BinariesError::files("create", &self.place))
    }

    fn discard(self) -> Result<(), BinariesError> {
        clear(&self.draft)?;
        clear(&self.place)
    }
}

fn records(folder: &Path) -> io::Result<BTreeMap<String, FileRecord>> {
    let mut records = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let metadata = fs::metadata(file.path())?;
        let record = FileRecord {
            sha256: digest::of_file::<Sha256>(&file.path())?,
            size: metadata.len(),
            modified: modified(&metadata),
        };
        records.insert(file.file_name().to_string_lossy().into_owned(), record);
    }
    Ok(records)
}

fn modified(metadata: &fs::Metadata) -> u64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or_default()
}

fn clear(folder: &Path) -> Result<(), BinariesError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(BinariesError::files("remove", folder)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        (folder, store)
    }

    fn put(store: &Store, key: &str) {
        let held = store.lock(CacheArea::Builds, key, &|_| ()).unwrap();
        fs::write(held.start().unwrap().join("etcd"), "etcd").unwrap();
        held.finish(Some("1.36.4".parse().unwrap()), Origin::Folder, Duration::ZERO).unwrap();
    }

    #[test]
    fn the_environment_names_the_cache_folder() {
        let root = |set: &'static [(&str, &str)]| {
            Store::default_root(&move |name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(root(&[("HOME", "/h")]), Some("/h/.cache/crdproof".into()));
        assert_eq!(root(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]), Some("/x/crdproof".into()));
        assert_eq!(root(&[("HOME", "/h"), ("CRDPROOF_CACHE", "/c"), ("XDG_CACHE_HOME", "")]), Some("/c".into()));
        assert_eq!(root(&[]), None);
    }

    #[test]
    fn unfinished_entries_are_ignored() {
        let (_folder, store) = store();
        let held = store.lock(CacheArea::Builds, "a", &|_| ()).unwrap();
        fs::write(held.start().unwrap().join("etcd"), "half").unwrap();
        drop(held);
        assert!(store.entries().is_empty());
        // The same is true of a folder that lost its manifest.
        fs::create_dir_all(store.root().join("builds/b")).unwrap();
        assert!(store.entries().is_empty());
        put(&store, "a");
        assert_eq!(store.entries().len(), 1);
    }

    #[test]
    fn a_changed_file_is_reported() {
        let (_folder, store) = store();
        put(&store, "a");
        let entry = store.entries().remove(0);
        assert_eq!(entry.fault(Care::Quick), None);
        fs::write(entry.folder.join("etcd"), "ETCD").unwrap();
        assert_eq!(entry.fault(Care::Quick).unwrap(), "etcd has changed since it was put there");
        fs::write(entry.folder.join("etcd"), "etc").unwrap();
        assert_eq!(entry.fault(Care::Quick).unwrap(), "etcd has 3 bytes instead of 4");
        fs::write(entry.folder.join("etcd"), "etcd").unwrap();
        assert_eq!(entry.fault(Care::Thorough), None);
        fs::remove_file(entry.folder.join("etcd")).unwrap();
        assert_eq!(entry.fault(Care::Quick).unwrap(), "etcd is missing");
        store.remove(&entry, &|_| ()).unwrap();
        assert!(store.entries().is_empty());
    }

    #[test]
    fn only_one_process_writes_an_entry() {
        let (_folder, store) = store();
        let held = store.lock(CacheArea::Builds, "a", &|_| ()).unwrap();
        let (said, heard) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let said = said;
                store.lock(CacheArea::Builds, "a", &|progress| said.send(progress).unwrap_or_default()).unwrap();
                assert!(store.entry(CacheArea::Builds, "a").is_some());
            });
            assert!(matches!(heard.recv().unwrap(), Progress::Waiting { .. }));
            held.start().unwrap();
            held.finish(None, Origin::Folder, Duration::ZERO).unwrap();
            drop(held);
        });
    }
}
