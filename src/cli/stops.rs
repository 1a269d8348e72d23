//! The releases that a run stops at: ranges as the releases that they stand for, each release once. What a range names and
//! cannot be had is absent, and counted; what is named by itself must be had.

use crate::run::Absent;
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;
use crdproof_envtest::ClusterError;
use crdproof_envtest::binaries::Store;
use crdproof_schema::kubernetes::{KubeVersion, Selector};
use indexmap::IndexMap;

use super::args::env::{Provider, ServerArgs};
use super::console::Console;
use super::env::run::{Wanted, told};
use super::env::{self, selector};

/// One release to make journeys on.
pub(crate) struct Stop {
    /// What to call it.
    pub(crate) release: String,
    /// Whether it is named by itself, so that the run ends without it.
    pub(crate) must: bool,
    version: Option<KubeVersion>,
}

/// Releases that can be had, as far as that is known before a server is started, and those that cannot.
pub(crate) struct Itinerary {
    pub(crate) stops: Vec<(Stop, Wanted)>,
    pub(crate) absent: Vec<Absent>,
    pub(crate) ranges: Ranges,
}

/// What was asked for that stands for several releases, and which ones these are.
pub(crate) struct Ranges(IndexMap<String, Vec<String>>);

impl Itinerary {
    /// Has the releases that are asked for, in their order. Builds and downloads what must be.
    pub(crate) fn of(asked: &[String], server: &ServerArgs, migrating: bool, console: Console) -> Result<Self> {
        let store = env::store()?;
        let ranges = Ranges::of(asked, &store, server, console)?;
        let mut named: IndexMap<&str, bool> = IndexMap::new();
        for text in asked {
            let releases = ranges.0.get(text);
            for release in releases.map_or(std::slice::from_ref(text), Vec::as_slice) {
                *named.entry(release).or_default() |= releases.is_none();
            }
        }
        let (mut stops, mut absent): (Vec<(Stop, Wanted)>, Vec<Absent>) = (Vec::new(), Vec::new());
        for (release, must) in named {
            let found = if must {
                let wanted = Wanted::of(&store, release, server, false, console)?;
                prepared(wanted, migrating).map_err(told)
            } else {
                let found = env::get(&store, selector(release)?, &server.sources, console);
                match found.map(|found| found.into_iter().next()) {
                    Ok(Some(assets)) => prepared(Wanted::local(assets, server), migrating).map_err(told),
                    Ok(None) => continue,
                    Err(error) => Err(InputError::new(Trouble::Environment, error.in_a_line())),
                }
            };
            let (wanted, version) = match found {
                Ok(found) => found,
                Err(error) if must => return Err(error.into()),
                Err(error) => {
                    absent.push(lack(release, &error.message, console));
                    continue;
                }
            };
            // `1.36` and `1.36.4` may be the same.
            match stops.iter_mut().find(|(stop, _)| version.is_some() && stop.version == version) {
                Some((earlier, _)) => earlier.must |= must,
                None => stops.push((Stop { release: release.to_owned(), must, version }, wanted)),
            }
        }
        ranges.check(&absent)?;
        Ok(Self { stops, absent, ranges })
    }
}

/// What can be known before it is started.
fn prepared(wanted: Wanted, migrating: bool) -> Result<(Wanted, Option<KubeVersion>), ClusterError> {
    let wanted = if migrating { wanted.migrating()? } else { wanted };
    let version = wanted.version()?;
    Ok((wanted, version))
}

/// A release of a range that cannot be had, for the first line of a reason.
pub(crate) fn lack(release: &str, reason: &str, console: Console) -> Absent {
    let reason = reason.lines().next().unwrap_or_default().to_owned();
    console.say(&format!("○ Kubernetes {release} skipped: {reason}"));
    Absent { kubernetes: release.to_owned(), reason }
}

impl Ranges {
    fn of(asked: &[String], store: &Store, server: &ServerArgs, console: Console) -> Result<Self> {
        let mut ranges = IndexMap::new();
        // Other providers take one release each, and a cluster that is there is asked for by its context.
        for text in asked.iter().filter(|_| server.provider() == Provider::Local) {
            let selector = selector(text)?;
            if !matches!(selector, Selector::Range(_) | Selector::Installed) {
                continue;
            }
            let releases = env::singles(store, selector, &server.sources, console)?;
            ranges.insert(text.clone(), releases.iter().map(ToString::to_string).collect());
        }
        Ok(Self(ranges))
    }

    /// Some release of each range must be there.
    pub(crate) fn check(&self, absent: &[Absent]) -> Result<()> {
        for (range, releases) in &self.0 {
            let reasons: Vec<&Absent> =
                releases.iter().filter_map(|release| absent.iter().find(|one| one.kubernetes == *release)).collect();
            if reasons.len() == releases.len() {
                let reasons: String =
                    reasons.iter().map(|one| format!("\n  ○ {}: {}", one.kubernetes, one.reason)).collect();
                let error = InputError::new(Trouble::Environment, format!("no release of {range} can be had{reasons}"));
                return Err(error.help("`crdproof env list` shows what is here and what can be built").into());
            }
        }
        Ok(())
    }
}
