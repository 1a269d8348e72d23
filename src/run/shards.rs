//! Merging the reports of shards into the report of the whole run.

use std::collections::{BTreeMap, BTreeSet};

use crdproof_schema::kubernetes::{KubeVersion, Selector};

use super::finish::{Ungrouped, finish};
use crate::checks;
use crate::evidence::Scenario;
use crate::report::{
    AcceptedUse, MergeError, Problem, Report, ScenarioInfo, ShardInfo, StepInfo, UnitTime, WaiverState, WaiverUse,
};

/// The report of all given shards.
#[derive(Debug)]
pub struct MergedShards {
    /// The report.
    pub report: Report,
    /// The shards whose results are not in it, or not all of them.
    pub missing: Vec<MissingShard>,
}

/// A shard without a complete report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingShard {
    /// Its name, such as `2/4`.
    pub name: String,
    /// True if it was interrupted, and its report has what was known until then.
    pub interrupted: bool,
}

/// Merges the reports of shards of one run. Their order does not matter. If all shards are there, the report is that of a
/// run without shards, apart from durations.
pub fn merge_shards(reports: Vec<Report>) -> Result<MergedShards, MergeError> {
    let mut shards: BTreeMap<usize, (ShardInfo, Report)> = BTreeMap::new();
    for mut report in reports {
        let shard = report.shard.take().ok_or(MergeError::NotAShard)?;
        if let Some((first, _)) = shards.values().next() {
            same_plan(first, &shard)?;
        }
        if let Some((other, _)) = shards.insert(shard.index, (shard, report)) {
            return Err(MergeError::Twice { shard: other.name() });
        }
    }
    let (infos, reports): (Vec<ShardInfo>, Vec<Report>) = shards.into_values().unzip();
    let first = infos.first().cloned().ok_or(MergeError::Empty)?;
    let missing = missing(&infos, first.count);
    let mut report = join(reports, &first.servers)?;
    if let Some(problem) = undone(&infos, &missing) {
        report.problems.push(problem);
    }
    finish(&mut report, ungrouped(&infos), !missing.is_empty());
    for finding in &mut report.findings {
        let replay = infos.iter().find_map(|shard| shard.replays.get(&finding.fingerprint));
        finding.reproduce = replay.cloned().or_else(|| finding.reproduce.take());
    }
    Ok(MergedShards { report, missing })
}

fn same_plan(first: &ShardInfo, other: &ShardInfo) -> Result<(), MergeError> {
    let same = [
        ("the number of shards", first.count.to_string(), other.count.to_string()),
        ("the plan", first.plan.clone(), other.plan.clone()),
    ];
    same.into_iter()
        .find(|(_, left, right)| left != right)
        .map_or(Ok(()), |(what, left, right)| Err(MergeError::Different { what, left, right }))
}

fn missing(infos: &[ShardInfo], count: usize) -> Vec<MissingShard> {
    let of = |index: usize| {
        let known = infos.iter().find(|shard| shard.index == index);
        let interrupted = known.is_some_and(|shard| shard.interrupted);
        (known.is_none() || interrupted).then(|| MissingShard { name: format!("{index}/{count}"), interrupted })
    };
    (1..=count).filter_map(of).collect()
}

/// Describes the work that missing shards left undone.
fn undone(infos: &[ShardInfo], missing: &[MissingShard]) -> Option<Problem> {
    let absent: Vec<&str> =
        missing.iter().filter(|shard| !shard.interrupted).map(|shard| shard.name.as_str()).collect();
    let units = infos.first().map(|shard| shard.units).unwrap_or_default();
    let done: usize = infos.iter().map(|shard| shard.own_units).sum();
    let (subject, verb) =
        if absent.len() == 1 { ("the report of shard", "is") } else { ("the reports of shards", "are") };
    (!absent.is_empty()).then(|| Problem {
        message: format!(
            "{subject} {} {verb} missing: {} of {units} work units were not done",
            absent.join(", "),
            units.saturating_sub(done)
        ),
        help: Some(format!("run the missing part with the flags of the others: `crdproof run --shard {}`", absent[0])),
    })
}

/// Joins everything but findings and waivers.
fn join(reports: Vec<Report>, servers: &[String]) -> Result<Report, MergeError> {
    let mut reports = reports.into_iter();
    let mut all = reports.next().ok_or(MergeError::Empty)?;
    // The entries of waivers and of scenarios are added again, if they are needed.
    all.checks.retain(|check| checks::find(&check.id).is_some());
    (all.findings, all.waivers) = (Vec::new(), Vec::new());
    for report in reports {
        all.results.extend(report.results);
        all.skipped.extend(report.skipped);
        all.problems.extend(report.problems);
        all.conversions.extend(report.conversions);
        all.timings.extend(report.timings);
        for scenario in report.scenarios {
            add_scenarios(&mut all.scenarios, scenario);
        }
    }
    let order = ServerOrder(servers.iter().map(|server| server.parse().ok()).collect());
    all.results.sort_by_cached_key(|result| {
        (result.crd.clone(), result.check.clone(), order.of(result.kubernetes.as_deref()), result.kubernetes.clone())
    });
    // Two names of a server can be in two shards.
    all.results.dedup();
    let crds: BTreeMap<String, usize> = all.crds.iter().enumerate().map(|(at, crd)| (crd.name.clone(), at)).collect();
    all.scenarios.sort_by_cached_key(|scenario| {
        let server = Some(scenario.kubernetes.as_str());
        (order.of(server), scenario.kubernetes.clone(), crds.get(&scenario.crd).copied())
    });
    all.timings = longest(std::mem::take(&mut all.timings));
    Ok(all)
}

/// The requested order of servers.
struct ServerOrder(Vec<Option<Selector>>);

impl ServerOrder {
    fn of(&self, version: Option<&str>) -> Option<usize> {
        let version: KubeVersion = version?.parse().ok()?;
        self.0.iter().position(|server| server.as_ref().is_some_and(|server| server.matches(version)))
    }
}

/// Adds the scenarios of another shard with the same CRD on the same server.
fn add_scenarios(all: &mut Vec<ScenarioInfo>, theirs: ScenarioInfo) {
    let same = |ours: &&mut ScenarioInfo| ours.crd == theirs.crd && ours.kubernetes == theirs.kubernetes;
    let Some(ours) = all.iter_mut().find(same) else {
        all.push(theirs);
        return;
    };
    ours.requests += theirs.requests;
    // One shard ran the whole scenario. Others have only what is observed before the first one.
    let steps = Scenario::ALL.into_iter().flat_map(|scenario| {
        let (ours, theirs) = (steps_of(&ours.steps, scenario), steps_of(&theirs.steps, scenario));
        if ours.len() < theirs.len() { theirs } else { ours }
    });
    ours.steps = steps.collect();
}

/// Returns the steps of a scenario, such as `storage/flip`.
fn steps_of(steps: &[StepInfo], scenario: Scenario) -> Vec<StepInfo> {
    let name = scenario.to_string();
    let own = steps.iter().filter(|step| step.step.split('/').next() == Some(name.as_str()));
    own.cloned().collect()
}

/// Keeps one duration of each unit: every shard starts its servers.
fn longest(timings: Vec<UnitTime>) -> Vec<UnitTime> {
    let mut by_unit: BTreeMap<String, u64> = BTreeMap::new();
    for UnitTime { unit, milliseconds } in timings {
        let known = by_unit.entry(unit).or_default();
        *known = milliseconds.max(*known);
    }
    by_unit.into_iter().map(|(unit, milliseconds)| UnitTime { unit, milliseconds }).collect()
}

/// Joins findings and the effects of waivers.
fn ungrouped(infos: &[ShardInfo]) -> Ungrouped {
    let findings = infos.iter().flat_map(|shard| shard.findings.clone()).collect();
    let mut waivers: Vec<WaiverUse> = Vec::new();
    for shard in infos {
        for (index, theirs) in shard.waivers.iter().enumerate() {
            match waivers.get_mut(index) {
                Some(ours) if weight(ours.waiver.state) < weight(theirs.waiver.state) => ours.clone_from(theirs),
                Some(_) => {}
                None => waivers.push(theirs.clone()),
            }
        }
    }
    let accepted = infos.iter().filter_map(|shard| shard.accepted.as_ref());
    let accepted = accepted.cloned().reduce(|left, right| AcceptedUse {
        used: left.used.union(&right.used).copied().collect::<BTreeSet<_>>(),
        judged: left.judged.union(&right.judged).copied().collect(),
    });
    Ungrouped { findings, waivers, accepted }
}

/// A waiver that one shard uses is used.
fn weight(state: WaiverState) -> u8 {
    match state {
        WaiverState::Unused => 0,
        WaiverState::Expired => 1,
        WaiverState::Used => 2,
    }
}
