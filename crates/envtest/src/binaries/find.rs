//! Finding binaries: the sources, and their order.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use super::error::BinariesError;
use super::probe::{self, Files};
use super::releases::{Locks, Release};
use super::store::{Entry, Store};
use super::{Assets, Origin, Progress, Sources, build};
#[cfg(feature = "download")]
use super::{archive, index};
use crdproof_schema::kubernetes::{KubeVersion, Selector};

/// Installs the binaries of every selected release, oldest first. A selector other than a range or `installed` gives
/// exactly one.
pub fn resolve(
    store: &Store,
    selector: &Selector,
    sources: &Sources,
    progress: &dyn Fn(Progress),
) -> Result<Vec<Assets>, BinariesError> {
    let search = Search::new(store, sources, progress);
    if *selector == Selector::Installed {
        return search.installed();
    }
    search.expand(*selector)?.into_iter().map(|single| search.one(single)).collect()
}

/// Returns one selector for each release of a range or of `installed`; any other selector is returned unchanged.
/// Downloads and builds nothing, so a release of a range may turn out not to be installable.
pub fn expand(
    store: &Store,
    selector: &Selector,
    sources: &Sources,
    progress: &dyn Fn(Progress),
) -> Result<Vec<Selector>, BinariesError> {
    Search::new(store, sources, progress).expand(*selector)
}

/// The binaries in a folder that the user names, of any release.
pub fn given(folder: &Path) -> Result<Assets, BinariesError> {
    let (version, files) = probe::folder(folder)?;
    Ok(of_files(folder, version, files, Origin::Folder))
}

/// One call of [`resolve`]: caches data that all releases of a range need.
struct Search<'a> {
    store: &'a Store,
    sources: &'a Sources,
    progress: &'a dyn Fn(Progress),
    locks: OnceCell<Locks>,
    #[cfg(feature = "download")]
    index: OnceCell<Result<index::Index, String>>,
}

/// A way to install one release.
#[derive(Debug, Clone)]
enum Way<'a> {
    Cached(Entry),
    #[cfg(feature = "download")]
    Archive(index::Archive),
    Build(&'a Release),
    /// Built from a lock that has changed since; used if nothing else works.
    Stale(Entry),
}

impl<'a> Search<'a> {
    fn new(store: &'a Store, sources: &'a Sources, progress: &'a dyn Fn(Progress)) -> Self {
        Self {
            store,
            sources,
            progress,
            locks: OnceCell::new(),
            #[cfg(feature = "download")]
            index: OnceCell::new(),
        }
    }

    fn expand(&self, selector: Selector) -> Result<Vec<Selector>, BinariesError> {
        let cached = || self.store.entries().into_iter().filter_map(|entry| entry.manifest.kubernetes);
        let known = match selector {
            Selector::Installed => cached().collect(),
            Selector::Range(_) => {
                let mut known: Vec<KubeVersion> = cached().collect();
                known.extend(self.locks()?.releases.iter().map(|release| release.file.kubernetes));
                if let Some(folder) = &self.sources.assets {
                    known.push(probe::folder(folder)?.0);
                }
                #[cfg(feature = "download")]
                if matches!(selector, Selector::Range(range) if range.is_of_patches()) {
                    known.extend(self.archives(selector, &mut Vec::new()).into_iter().map(|archive| archive.version));
                }
                known
            }
            Selector::Minor(_) | Selector::Exact(_) | Selector::Tilde(_) | Selector::Latest => Vec::new(),
        };
        Ok(selector.singles(&known))
    }

    fn locks(&self) -> Result<&Locks, BinariesError> {
        if let Some(locks) = self.locks.get() {
            return Ok(locks);
        }
        let locks = Locks::read(self.sources.locks.as_deref())?;
        Ok(self.locks.get_or_init(|| locks))
    }

    fn installed(&self) -> Result<Vec<Assets>, BinariesError> {
        let entries = self.sound(Selector::Installed, &mut Vec::new());
        if entries.is_empty() {
            let tried = vec![format!("the cache {} is empty", self.store.root().display())];
            return Err(BinariesError::Nowhere { selector: Selector::Installed, tried });
        }
        let mut all: Vec<Assets> = entries.iter().map(of_entry).collect::<Result<_, _>>()?;
        all.dedup_by_key(|assets| assets.version);
        Ok(all)
    }

    fn one(&self, selector: Selector) -> Result<Assets, BinariesError> {
        let mut tried = Vec::new();
        if let Some(assets) = self.folder(selector, &mut tried)? {
            return Ok(assets);
        }
        let entries = self.sound(selector, &mut tried);
        let mut ways = Vec::new();
        for entry in entries {
            let fresh = self.is_fresh(&entry)?;
            ways.push(if fresh { Way::Cached(entry) } else { Way::Stale(entry) });
        }
        // An installed release is enough, unless the newest one is requested.
        let newest = ways.iter().rev().find(|way| matches!(way, Way::Cached(_)));
        if let Some(Way::Cached(entry)) = newest.filter(|_| !selector.wants_newest()) {
            return of_entry(entry);
        }
        #[cfg(feature = "download")]
        ways.extend(self.archives(selector, &mut tried).into_iter().map(Way::Archive));
        let fitting = self.locks()?.releases.iter().filter(|release| selector.matches(release.file.kubernetes));
        let before = ways.len();
        ways.extend(fitting.map(Way::Build));
        if ways.len() == before {
            tried.push(format!("no lock for {selector}"));
        }
        for way in in_order(ways, selector) {
            match self.go(&way) {
                Ok(assets) => return Ok(assets),
                Err(error) => self.pass(&mut tried, format!("{}: {error}", way.name())),
            }
        }
        Err(BinariesError::Nowhere { selector, tried })
    }

    fn go(&self, way: &Way<'_>) -> Result<Assets, BinariesError> {
        match way {
            Way::Cached(entry) | Way::Stale(entry) => of_entry(entry),
            #[cfg(feature = "download")]
            Way::Archive(archive) => of_entry(&archive::fetch(self.store, archive, self.sources, self.progress)?),
            Way::Build(release) => {
                of_entry(&build::release(self.store, self.locks()?, release, self.sources, self.progress)?)
            }
        }
    }

    /// The folder that the user named, if it has such a release. A folder that cannot be used at all is an error,
    /// because the user wants it to be used.
    fn folder(&self, selector: Selector, tried: &mut Vec<String>) -> Result<Option<Assets>, BinariesError> {
        let Some(folder) = &self.sources.assets else { return Ok(None) };
        let assets = given(folder)?;
        if selector.matches(assets.version) {
            return Ok(Some(assets));
        }
        self.pass(tried, format!("assets: {} is {}", folder.display(), assets.version));
        Ok(None)
    }

    /// Undamaged entries of the cache that match, oldest first.
    fn sound(&self, selector: Selector, tried: &mut Vec<String>) -> Vec<Entry> {
        let mut entries = self.store.entries();
        entries.retain(|entry| entry.manifest.kubernetes.is_some_and(|version| selector.matches(version)));
        entries.retain(|entry| match entry.fault(self.sources.care) {
            Some(fault) => {
                self.pass(tried, format!("cache: {} is damaged, {fault}", entry.key));
                false
            }
            None => true,
        });
        entries
    }

    /// Returns true if the lock of a built entry has not changed since.
    fn is_fresh(&self, entry: &Entry) -> Result<bool, BinariesError> {
        let (Origin::Built { lock, .. }, Some(version)) = (&entry.manifest.origin, entry.manifest.kubernetes) else {
            return Ok(true);
        };
        let locks = self.locks()?;
        Ok(match locks.release(version) {
            Some(release) => locks.digest(release)? == *lock,
            None => true,
        })
    }

    #[cfg(feature = "download")]
    fn archives(&self, selector: Selector, tried: &mut Vec<String>) -> Vec<index::Archive> {
        if self.sources.offline {
            tried.push("archives: not asked, because of --offline".into());
            return Vec::new();
        }
        let index = self.index.get_or_init(|| archive::index(self.sources).map_err(|error| error.to_string()));
        let found = match index {
            Ok(index) => index.fitting(selector),
            Err(reason) => {
                self.pass(tried, format!("archives: {reason}"));
                return Vec::new();
            }
        };
        if found.is_empty() {
            tried.push("archives: the index has no such release for this machine".into());
        }
        found
    }

    fn pass(&self, tried: &mut Vec<String>, reason: String) {
        (self.progress)(Progress::Passed { reason: reason.clone() });
        tried.push(reason);
    }
}

impl Way<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Cached(_) | Self::Stale(_) => "cache",
            #[cfg(feature = "download")]
            Self::Archive(_) => "archives",
            Self::Build(_) => "build",
        }
    }

    /// The order of preference, best first.
    fn rank(&self) -> usize {
        match self {
            Self::Cached(_) => 0,
            #[cfg(feature = "download")]
            Self::Archive(_) => 1,
            Self::Build(_) => 2,
            Self::Stale(_) => 3,
        }
    }

    fn version(&self) -> Option<KubeVersion> {
        match self {
            Self::Cached(entry) | Self::Stale(entry) => entry.manifest.kubernetes,
            #[cfg(feature = "download")]
            Self::Archive(archive) => Some(archive.version),
            Self::Build(release) => Some(release.file.kubernetes),
        }
    }
}

/// The best way first, and of each source only its newest release. If the newest release is requested, returns only
/// that one, so that an older one is never used silently.
fn in_order(mut ways: Vec<Way<'_>>, selector: Selector) -> Vec<Way<'_>> {
    ways.sort_by_key(|way| (Reverse(way.version()), way.rank()));
    if selector.wants_newest() {
        let newest = ways.first().and_then(Way::version);
        ways.retain(|way| way.version() == newest);
        return ways;
    }
    let mut ranks = BTreeSet::new();
    ways.retain(|way| ranks.insert(way.rank()));
    ways.sort_by_key(Way::rank);
    ways
}

fn of_entry(entry: &Entry) -> Result<Assets, BinariesError> {
    let files = probe::files(&entry.folder)?;
    let version = entry.manifest.kubernetes.unwrap_or(KubeVersion::OLDEST);
    Ok(of_files(&entry.folder, version, files, entry.manifest.origin.clone()))
}

fn of_files(folder: &Path, version: KubeVersion, files: Files, origin: Origin) -> Assets {
    let Files { etcd, apiserver, controller_manager } = files;
    Assets { version, folder: folder.to_owned(), etcd, apiserver, controller_manager, origin }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::store::Manifest;
    use super::*;

    fn entry(version: &str) -> Entry {
        let kubernetes = Some(version.parse().unwrap());
        let manifest = Manifest { kubernetes, origin: Origin::Folder, seconds: 0.0, files: BTreeMap::new() };
        Entry { key: version.to_owned(), folder: "/".into(), manifest }
    }

    #[test]
    fn sources_come_in_their_order_unless_the_newest_is_wanted() {
        let locks = Locks::read(None).unwrap();
        let listed = locks.release("1.31.4".parse().unwrap()).unwrap();
        let ways = || {
            vec![
                Way::Stale(entry("1.31.1")),
                Way::Build(listed),
                Way::Cached(entry("1.31.2")),
                Way::Cached(entry("1.31.3")),
            ]
        };
        let order = |selector: &str| {
            let ordered = in_order(ways(), selector.parse().unwrap());
            ordered.iter().map(|way| format!("{} {}", way.name(), way.version().unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(order("1.31"), ["cache 1.31.3", "build 1.31.4", "cache 1.31.1"]);
        assert_eq!(order("~1.31"), ["build 1.31.4"]);
    }
}
