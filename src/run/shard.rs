//! Shards: the work units of a plan, and their assignment to several runs.
//!
//! A work unit is the work that one judge reads as a whole. The objects of one CRD are not split: a search learns from all of
//! them which pairs of versions convert, which fields were reached and which counterexample is the smallest, so the reports
//! of two halves do not add up to the report of the whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::Plan;
use super::finish::Ungrouped;
use crate::checks::{Check, Need};
use crate::evidence::Scenario;
use crate::report::{ShardInfo, UnitTime};

/// The assumed duration of a unit without a measurement, if nothing was measured.
const UNKNOWN: u64 = 1000;

/// One of several runs that share the work of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    pub index: NonZeroUsize,
    /// The number of shards.
    pub count: NonZeroUsize,
    /// Measured durations of work units in milliseconds, to balance by; empty to assign by hash.
    pub timings: BTreeMap<String, u64>,
}

/// A text that does not name a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write it as NUMBER/COUNT, such as 2/4; the number starts at 1 and is at most the count")]
pub struct ShardError;

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (index, count) = text.split_once('/').ok_or(ShardError)?;
        let (index, count): (NonZeroUsize, NonZeroUsize) =
            index.parse().ok().zip(count.parse().ok()).ok_or(ShardError)?;
        if index <= count { Ok(Self { index, count, timings: BTreeMap::new() }) } else { Err(ShardError) }
    }
}

/// The kind of work on a CRD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Checks that read the subject only.
    Manifests,
    /// Conversions of samples and generated objects.
    Conversions,
    /// Requests to the endpoint of the converter.
    Webhook,
    /// A scenario on an API server.
    Scenario(Scenario),
}

impl Work {
    /// Returns the work that a check needs.
    pub fn of(check: &Check) -> Self {
        let needs = |need| check.needs.contains(&need);
        match check.scenario() {
            Some(scenario) => Self::Scenario(scenario),
            None if needs(Need::ConversionRuns) || needs(Need::Survey) => Self::Conversions,
            None if needs(Need::Exchanges) => Self::Webhook,
            None => Self::Manifests,
        }
    }
}

/// Work that is done by one shard as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// The CRD.
    pub crd: String,
    /// The work.
    pub work: Work,
    /// The requested name of the API server of a scenario.
    pub server: Option<String>,
}

impl Unit {
    /// Work on a CRD without an API server.
    pub fn new(crd: &str, work: Work) -> Self {
        Self { crd: crd.to_owned(), work, server: None }
    }

    /// A scenario on an API server.
    pub fn on(crd: &str, scenario: Scenario, server: &str) -> Self {
        Self { server: Some(server.to_owned()), ..Self::new(crd, Work::Scenario(scenario)) }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let crd = &self.crd;
        match self.work {
            Work::Manifests => write!(f, "{crd}: manifests")?,
            Work::Conversions => write!(f, "{crd}: conversions")?,
            Work::Webhook => write!(f, "{crd}: webhook")?,
            Work::Scenario(scenario) => write!(f, "{crd}: {scenario}")?,
        }
        self.server.as_ref().map_or(Ok(()), |server| write!(f, " on {server}"))
    }
}

/// Returns the name under which the duration of starting an API server is recorded.
pub(super) fn start_of(server: &str) -> String {
    format!("start of {server}")
}

/// The share of a plan that one shard does.
#[derive(Debug, Clone)]
pub struct Share {
    /// The shard.
    pub shard: Shard,
    /// Its work units.
    pub units: BTreeSet<Unit>,
    /// The number of work units of all shards.
    pub total: usize,
    /// A digest of the plan and of the assignment; the same for all shards.
    pub digest: String,
    /// The expected duration of each shard, if durations are known.
    pub expected: Vec<Duration>,
}

impl Share {
    /// Assigns the work units of a whole plan.
    pub(super) fn of(shard: &Shard, plan: &Plan<'_>) -> Self {
        let units = units(plan);
        let (owners, expected) = assign(shard, &units);
        let own = units.iter().filter(|unit| owners.get(unit) == Some(&(shard.index.get() - 1)));
        let digest = digest(plan, shard.count, &owners);
        Self { shard: shard.clone(), units: own.cloned().collect(), total: units.len(), digest, expected }
    }
}

impl Share {
    /// Returns the expected duration of a unit, if durations are known.
    pub fn duration(&self, unit: &Unit) -> Option<Duration> {
        let timings = &self.shard.timings;
        (!timings.is_empty()).then(|| Duration::from_millis(Estimate(timings).of(unit)))
    }

    /// Returns the part of a report that merging needs.
    pub(super) fn info(&self, plan: &Plan<'_>, found: &Ungrouped, interrupted: bool) -> ShardInfo {
        ShardInfo {
            index: self.shard.index.get(),
            count: self.shard.count.get(),
            plan: self.digest.clone(),
            servers: plan.matrix.servers.clone(),
            units: self.total,
            own_units: self.units.len(),
            interrupted,
            findings: found.findings.clone(),
            waivers: found.waivers.clone(),
            accepted: found.accepted.clone(),
            replays: BTreeMap::new(),
        }
    }
}

/// Returns the work units of a plan.
pub(super) fn units(plan: &Plan<'_>) -> BTreeSet<Unit> {
    let judged = plan.planned.iter().filter(|planned| planned.check.scenario().is_none());
    let judged = judged.map(|planned| Unit::new(&planned.crd.name, Work::of(planned.check)));
    let on_servers = plan.subject.crds.iter().flat_map(|crd| {
        let scenarios = plan.scenarios.iter();
        scenarios.flat_map(|scenario| plan.matrix.servers.iter().map(|server| Unit::on(&crd.name, *scenario, server)))
    });
    judged.chain(on_servers).collect()
}

/// Returns the index of the shard of each unit: by hash, or by measured durations if there are any. Then, also returns the
/// expected duration of each shard.
fn assign<'u>(shard: &Shard, units: &'u BTreeSet<Unit>) -> (BTreeMap<&'u Unit, usize>, Vec<Duration>) {
    let count = shard.count.get();
    if shard.timings.is_empty() {
        return (units.iter().map(|unit| (unit, by_hash(&unit.to_string(), count))).collect(), Vec::new());
    }
    let estimate = Estimate(&shard.timings);
    let mut longest: Vec<(u64, &Unit)> = units.iter().map(|unit| (estimate.of(unit), unit)).collect();
    longest.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(right.1)));
    let mut loads = vec![Load::default(); count];
    let mut owners = BTreeMap::new();
    for (duration, unit) in longest {
        let server = unit.server.as_deref().map(|server| (server, estimate.start(server)));
        let best = (0..count).min_by_key(|at| loads[*at].with(duration, server)).unwrap_or_default();
        loads[best].add(duration, server);
        owners.insert(unit, best);
    }
    (owners, loads.into_iter().map(|load| Duration::from_millis(load.milliseconds)).collect())
}

/// Returns a number below `count` that depends on the text only.
fn by_hash(text: &str, count: usize) -> usize {
    let digest = Sha256::digest(text);
    let number = digest.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    usize::try_from(number % (count as u64)).unwrap_or_default()
}

/// The work of a shard so far.
#[derive(Debug, Clone, Default)]
struct Load<'s> {
    milliseconds: u64,
    servers: BTreeSet<&'s str>,
}

impl<'s> Load<'s> {
    /// The load with one more unit. A shard starts each server once.
    fn with(&self, duration: u64, server: Option<(&'s str, u64)>) -> u64 {
        let start = server.filter(|(name, _)| !self.servers.contains(name)).map_or(0, |(_, start)| start);
        self.milliseconds + duration + start
    }

    fn add(&mut self, duration: u64, server: Option<(&'s str, u64)>) {
        self.milliseconds = self.with(duration, server);
        self.servers.extend(server.map(|(name, _)| name));
    }
}

/// Durations from measurements.
struct Estimate<'t>(&'t BTreeMap<String, u64>);

impl Estimate<'_> {
    /// The measured duration; otherwise the mean of this kind of work, otherwise of all.
    fn of(&self, unit: &Unit) -> u64 {
        let kind = Unit { crd: String::new(), ..unit.clone() }.to_string();
        let mean = |ending: &str| {
            let like = self.0.iter().filter(|(name, _)| name.ends_with(ending)).map(|(_, duration)| *duration);
            let (sum, count) = like.fold((0, 0), |(sum, count), one| (sum + one, count + 1));
            (count > 0).then(|| sum / count)
        };
        let known = self.0.get(&unit.to_string()).copied();
        known.or_else(|| mean(&kind)).or_else(|| mean("")).unwrap_or(UNKNOWN)
    }

    fn start(&self, server: &str) -> u64 {
        self.0.get(&start_of(server)).copied().unwrap_or_default()
    }
}

/// Returns a digest of the plan and of the assignment.
fn digest(plan: &Plan<'_>, count: NonZeroUsize, owners: &BTreeMap<&Unit, usize>) -> String {
    let subject = plan.subject;
    let documents = |crds: &[crate::subject::Crd]| crds.iter().map(|crd| crd.node.to_value()).collect::<Vec<_>>();
    let objects = |samples: &[crate::subject::Sample]| samples.iter().map(|one| one.object.clone()).collect::<Vec<_>>();
    let content = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "subject": subject.name,
        "file": subject.file,
        "crds": documents(&subject.crds),
        "baseline": subject.baseline.as_deref().map(documents),
        "samples": objects(&subject.samples),
        "recorded": objects(&subject.recorded),
        "checks": plan.checks.iter().map(|(check, severity)| (check.id, severity.as_str())).collect::<Vec<_>>(),
        "seed": plan.settings.seed,
        "objects": plan.settings.generated(),
        "servers": plan.matrix.servers,
        "inTreeMigration": plan.matrix.in_tree_migration,
        "shards": count,
        "owners": owners.iter().map(|(unit, owner)| (unit.to_string(), *owner)).collect::<BTreeMap<_, _>>(),
    });
    Sha256::digest(content.to_string()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The measured durations of work units.
#[derive(Debug, Clone, Default)]
pub struct Timings(BTreeMap<String, Duration>);

impl Timings {
    /// Adds work on a unit.
    pub(super) fn add(&mut self, unit: String, elapsed: Duration) {
        *self.0.entry(unit).or_default() += elapsed;
    }

    /// Adds the measurements of another server.
    pub(super) fn extend(&mut self, other: Self) {
        for (unit, elapsed) in other.0 {
            self.add(unit, elapsed);
        }
    }

    /// Returns the durations by unit, for a report.
    pub(super) fn list(&self) -> Vec<UnitTime> {
        let milliseconds = |elapsed: &Duration| u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let time = |(unit, elapsed): (&String, &Duration)| UnitTime {
            unit: unit.clone(),
            milliseconds: milliseconds(elapsed),
        };
        self.0.iter().map(time).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(text: &str, timings: &[(&str, u64)]) -> Shard {
        let timings = timings.iter().map(|(unit, time)| ((*unit).to_owned(), *time)).collect();
        Shard { timings, ..text.parse().unwrap() }
    }

    fn some_units(servers: &[&str]) -> BTreeSet<Unit> {
        let crds = ["a.example.com", "b.example.com", "c.example.com", "d.example.com"];
        let of_crd = |crd: &'static str| {
            let on = servers.iter().map(move |server| Unit::on(crd, Scenario::Serving, server));
            on.chain([Unit::new(crd, Work::Manifests), Unit::new(crd, Work::Conversions)])
        };
        crds.into_iter().flat_map(of_crd).collect()
    }

    #[test]
    fn a_shard_is_written_as_number_and_count() {
        let shard: Shard = "2/4".parse().unwrap();
        assert_eq!((shard.index.get(), shard.count.get()), (2, 4));
        for wrong in ["", "2", "0/4", "5/4", "1/0", "a/b", "1/2/3", "-1/4"] {
            assert_eq!(wrong.parse::<Shard>(), Err(ShardError), "{wrong:?}");
        }
    }

    #[test]
    fn a_unit_keeps_its_shard_when_others_come_and_go() {
        let (few, many) = (some_units(&["1.36"]), some_units(&["1.35", "1.36", "1.37"]));
        let (before, after) = (assign(&shard("1/5", &[]), &few).0, assign(&shard("1/5", &[]), &many).0);
        assert!(before.iter().all(|(unit, owner)| after.get(unit) == Some(owner)));
        let used: BTreeSet<usize> = after.into_values().collect();
        assert!(used.len() > 2, "{used:?}");
    }

    #[test]
    fn measured_durations_balance_shards() {
        let times = [
            ("a.example.com: serving on 1.36", 9000),
            ("b.example.com: serving on 1.36", 8000),
            ("c.example.com: conversions", 8000),
            ("d.example.com: conversions", 7000),
            ("a.example.com: manifests", 10),
        ];
        let units = some_units(&["1.36"]);
        let measured = shard("1/2", &times);
        let (_, expected) = assign(&measured, &units);
        let (first, second) = (expected[0], expected[1]);
        assert!(first.abs_diff(second) * 5 < first.max(second), "{first:?} and {second:?}");
    }

    #[test]
    fn a_slow_start_keeps_a_server_on_one_shard() {
        let units = some_units(&["1.36"]);
        let mut times = vec![("start of 1.36", 60_000)];
        let names: Vec<String> = units.iter().map(ToString::to_string).collect();
        times.extend(names.iter().map(|name| (name.as_str(), 1000)));
        let measured = shard("1/2", &times);
        let (owners, _) = assign(&measured, &units);
        let on: BTreeSet<usize> =
            owners.iter().filter(|(unit, _)| unit.server.is_some()).map(|(_, owner)| *owner).collect();
        assert_eq!(on.len(), 1, "{owners:?}");
    }
}
