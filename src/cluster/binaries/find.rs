//! From a wish to binaries: which sources are asked, and in which order.

use std::cell::OnceCell;
use std::path::Path;

use super::error::BinariesError;
use super::probe::{self, Files};
use super::releases::{Locks, Release};
use super::selector::Selector;
use super::store::{Entry, Store};
use super::{Assets, Origin, Progress, Sources, build};
#[cfg(feature = "download")]
use super::{archive, index};
use crate::kubernetes::KubeVersion;

/// Has the binaries of every release that is selected, oldest first. A selector other than a range or
/// `installed` gives exactly one.
pub fn resolve(
    store: &Store,
    selector: &Selector,
    sources: &Sources,
    progress: &dyn Fn(Progress),
) -> Result<Vec<Assets>, BinariesError> {
    let search = Search {
        store,
        sources,
        progress,
        locks: OnceCell::new(),
        #[cfg(feature = "download")]
        index: OnceCell::new(),
    };
    if *selector == Selector::Installed {
        return search.installed();
    }
    selector.singles().into_iter().map(|single| search.one(single)).collect()
}

/// One call of [`resolve`]: what is read or fetched once is kept for all releases of a range.
struct Search<'a> {
    store: &'a Store,
    sources: &'a Sources,
    progress: &'a dyn Fn(Progress),
    locks: OnceCell<Locks>,
    #[cfg(feature = "download")]
    index: OnceCell<Result<index::Index, String>>,
}

/// A way to one release, the better ones first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Cached(usize),
    #[cfg(feature = "download")]
    Archive(usize),
    Build(usize),
    /// Built from a lock that has changed since; better than nothing.
    Stale(usize),
}

impl Search<'_> {
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
        let fresh: Vec<bool> = entries.iter().map(|entry| self.is_fresh(entry)).collect::<Result<_, _>>()?;
        if !selector.wants_newest()
            && let Some(at) = fresh.iter().rposition(|fresh| *fresh)
        {
            return of_entry(&entries[at]);
        }
        let mut ways: Vec<(KubeVersion, Way)> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let way = if fresh[at] { Way::Cached(at) } else { Way::Stale(at) };
            ways.extend(entry.manifest.kubernetes.map(|version| (version, way)));
        }
        #[cfg(feature = "download")]
        let archives = self.archives(selector, &mut tried);
        #[cfg(feature = "download")]
        ways.extend(archives.iter().enumerate().map(|(at, archive)| (archive.version, Way::Archive(at))));
        let releases: Vec<&Release> =
            self.locks()?.releases.iter().filter(|release| selector.matches(release.file.kubernetes)).collect();
        ways.extend(releases.iter().enumerate().map(|(at, release)| (release.file.kubernetes, Way::Build(at))));
        if releases.is_empty() {
            tried.push("locks: none of them is for such a release".into());
        }
        for (_, way) in in_order(ways, selector) {
            let result = match way {
                Way::Cached(at) | Way::Stale(at) => of_entry(&entries[at]),
                #[cfg(feature = "download")]
                Way::Archive(at) => archive::fetch(self.store, &archives[at], self.sources, self.progress)
                    .and_then(|entry| of_entry(&entry)),
                Way::Build(at) => self.build(releases[at]),
            };
            match result {
                Ok(assets) => return Ok(assets),
                Err(error) => self.pass(&mut tried, format!("{}: {error}", way.name())),
            }
        }
        Err(BinariesError::Nowhere { selector, tried })
    }

    /// The folder that was given, where it is such a release. Where it cannot be used at all, that is an
    /// error: who gives a folder wants it to be used.
    fn folder(&self, selector: Selector, tried: &mut Vec<String>) -> Result<Option<Assets>, BinariesError> {
        let Some(folder) = &self.sources.assets else { return Ok(None) };
        let (version, files) = probe::folder(folder)?;
        if selector.matches(version) {
            return Ok(Some(of_files(folder, version, files, Origin::Folder)));
        }
        self.pass(tried, format!("assets: {} is {version}", folder.display()));
        Ok(None)
    }

    /// Entries of the cache that are wanted and whole, oldest first.
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

    /// Whether the lock of a built entry is still the one that we would build from.
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

    fn build(&self, release: &Release) -> Result<Assets, BinariesError> {
        let entry = build::release(self.store, self.locks()?, release, self.sources, self.progress)?;
        of_entry(&entry)
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

impl Way {
    fn name(&self) -> &'static str {
        match self {
            Self::Cached(_) | Self::Stale(_) => "cache",
            #[cfg(feature = "download")]
            Self::Archive(_) => "archives",
            Self::Build(_) => "build",
        }
    }
}

/// The best way first, and of each source only its newest release. Who wants the newest release gets that
/// one or an error, not silently an older one.
fn in_order(mut ways: Vec<(KubeVersion, Way)>, selector: Selector) -> Vec<(KubeVersion, Way)> {
    ways.sort_by(|(left, left_way), (right, right_way)| right.cmp(left).then_with(|| left_way.cmp(right_way)));
    if selector.wants_newest() {
        let newest = ways.first().map(|(version, _)| *version);
        ways.retain(|(version, _)| Some(*version) == newest);
        return ways;
    }
    let mut seen = Vec::new();
    ways.retain(|(_, way)| {
        let kind = std::mem::discriminant(way);
        let first = !seen.contains(&kind);
        seen.push(kind);
        first
    });
    ways.sort_by(|(_, left), (_, right)| left.cmp(right));
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
    use super::*;

    fn order(ways: &[(&str, Way)], selector: &str) -> Vec<Way> {
        let ways = ways.iter().map(|(version, way)| (version.parse().unwrap(), way.clone())).collect();
        in_order(ways, selector.parse().unwrap()).into_iter().map(|(_, way)| way).collect()
    }

    #[test]
    fn sources_come_in_their_order_unless_the_newest_is_wanted() {
        let ways = [
            ("1.31.2", Way::Build(0)),
            ("1.31.4", Way::Build(1)),
            ("1.31.1", Way::Stale(0)),
            ("1.31.3", Way::Cached(1)),
        ];
        assert_eq!(order(&ways, "1.31"), [Way::Cached(1), Way::Build(1), Way::Stale(0)]);
        assert_eq!(order(&ways, "~1.31"), [Way::Build(1)]);
    }
}
