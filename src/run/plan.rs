//! The plan of a run. Pure: reads, starts and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::shard::{Shard, Share, Unit, Work};
use super::suite::Suite;
use super::{Observations, Selection};
use crate::checks::{Check, Need, Severity};
use crate::converter::endpoint::ReplacementEndpoint;
use crate::converter::{Declared, declared};
use crate::evidence::{Counterexample, Scenario};
use crate::report::Skipped;
use crate::subject::{Crd, Subject};

/// The default time limit for the work on one CRD. A converter that takes 20 ms for an object ends by it.
pub const DEFAULT_TIME: Duration = Duration::from_secs(120);

/// Settings of a run that do not belong to the subject.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The selected checks.
    pub selection: Selection,
    /// The seed of generated objects.
    pub seed: u64,
    /// The number of generated objects of every version; by default that of the suites.
    pub objects: Option<usize>,
    /// The time limit for all work on one CRD; that of the suites by default.
    pub time: Option<Duration>,
    /// The endpoint that replaces the subject's own converter.
    pub endpoint: Option<ReplacementEndpoint>,
    /// The endpoint that replaces the previous release's converter of the subject.
    pub baseline: Option<ReplacementEndpoint>,
    /// Counterexamples of earlier runs, to be tried first.
    pub counterexamples: Vec<Counterexample>,
    /// True if only those are tried.
    pub only_counterexamples: bool,
    /// True if secrets may be shown.
    pub show_secrets: bool,
    /// True if every observation is kept.
    pub record: bool,
    /// The command that repeats this run, for `reproduce` lines; by default it is derived from subject and selection.
    pub command: Option<String>,
    /// The shard of the work that this run does; all of it by default.
    pub shard: Option<Shard>,
}

impl Settings {
    /// Returns the number of generated objects of every version.
    pub fn generated(&self) -> usize {
        let suites = self.selection.suites.iter().filter_map(|suite| suite.file.objects).max();
        if self.only_counterexamples { 0 } else { self.objects.or(suites).unwrap_or_default() }
    }

    /// Returns how long all work on one CRD may take: as the most patient suite allows, unless it is set.
    pub fn time(&self) -> Duration {
        let of_suite = |suite: &Suite| suite.file.time.map_or(DEFAULT_TIME, |time| time.0);
        self.time.or_else(|| self.selection.suites.iter().map(of_suite).max()).unwrap_or(DEFAULT_TIME)
    }

    /// The scenarios that the selected checks read, in the order in which they run.
    pub fn scenarios(&self) -> Vec<Scenario> {
        let selected = self.selection.checks();
        let needed: BTreeSet<Scenario> = selected.iter().filter_map(|(check, _)| check.scenario()).collect();
        needed.into_iter().collect()
    }
}

/// The API servers of a run, by their requested names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerMatrix {
    /// Releases such as `1.36`, each once, or the context of an existing cluster.
    pub servers: Vec<String>,
    /// The requested ranges, with their releases.
    pub ranges: BTreeMap<String, Vec<String>>,
    /// True if the control plane migrates, too.
    pub in_tree_migration: bool,
    /// The arguments of a run that name these servers.
    pub arguments: Vec<String>,
    /// True if the CRDs are installed on an existing cluster, and must not be changed.
    pub deployed: bool,
}

/// A requested release that could not be installed or started. Its checks are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Absent {
    /// The requested name, such as `1.29`.
    pub kubernetes: String,
    /// The reason.
    pub reason: String,
}

/// One check on one CRD. A check that reads a scenario is judged on every server of the matrix.
#[derive(Debug, Clone)]
pub struct PlannedCheck<'a> {
    /// The check.
    pub check: &'static Check,
    /// The severity in force.
    pub severity: Severity,
    /// The CRD; from the baseline if the CRD was removed.
    pub crd: &'a Crd,
}

/// The plan of a run: its actions, and what it leaves out.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// The settings.
    pub settings: &'a Settings,
    /// The API servers.
    pub matrix: ServerMatrix,
    /// The scenarios that run on each of them, for each CRD.
    pub scenarios: Vec<Scenario>,
    /// The checks, with the severity in force.
    pub checks: Vec<(&'static Check, Severity)>,
    /// The checks that will be judged, by CRD.
    pub planned: Vec<PlannedCheck<'a>>,
    /// The checks that will not be judged, and why.
    pub skipped: Vec<Skipped>,
    /// The share of the work that this run does; `None` for all of it.
    pub share: Option<Share>,
}

impl Plan<'_> {
    /// Returns the names of the servers on which this run makes a scenario with a CRD.
    pub fn servers_of<'s>(&'s self, crd: &str, scenario: Scenario) -> impl Iterator<Item = &'s str> {
        let servers = self.matrix.servers.iter().map(String::as_str);
        servers.filter(move |server| self.does(&Unit::on(crd, scenario, server)))
    }

    /// Returns true if this run does the work of a unit.
    fn does(&self, unit: &Unit) -> bool {
        self.share.as_ref().is_none_or(|share| share.units.contains(unit))
    }

    /// Returns the servers of this run's share. A range counts only if all its releases are among them.
    pub(super) fn own_matrix(&self) -> ServerMatrix {
        let Some(share) = &self.share else { return self.matrix.clone() };
        let used: BTreeSet<&str> = share.units.iter().filter_map(|unit| unit.server.as_deref()).collect();
        let mut matrix = self.matrix.clone();
        matrix.servers.retain(|server| used.contains(server.as_str()));
        matrix.ranges.retain(|_, releases| releases.iter().all(|release| used.contains(release.as_str())));
        matrix
    }

    /// Leaves the work of one shard.
    fn reduce(&mut self, shard: &Shard) {
        let own = Share::of(shard, self);
        self.planned.retain(|planned| match Work::of(planned.check) {
            Work::Scenario(scenario) => self
                .matrix
                .servers
                .iter()
                .any(|server| own.units.contains(&Unit::on(&planned.crd.name, scenario, server))),
            work => own.units.contains(&Unit::new(&planned.crd.name, work)),
        });
        self.scenarios.retain(|scenario| own.units.iter().any(|unit| unit.work == Work::Scenario(*scenario)));
        self.share = Some(own);
    }
}

/// Derives the plan from subject, settings and servers. Starts and reads nothing.
pub fn plan<'a>(subject: &'a Subject, settings: &'a Settings, matrix: &ServerMatrix) -> Plan<'a> {
    derive(subject, settings, matrix, &Observations::default())
}

/// Derives the plan for existing observations.
pub fn plan_recorded<'a>(subject: &'a Subject, settings: &'a Settings, recorded: &Observations) -> Plan<'a> {
    derive(subject, settings, &recorded.matrix(), recorded)
}

fn derive<'a>(
    subject: &'a Subject,
    settings: &'a Settings,
    matrix: &ServerMatrix,
    recorded: &Observations,
) -> Plan<'a> {
    let checks = settings.selection.checks();
    let (mut planned, mut skipped) = (Vec::new(), Vec::new());
    let names: BTreeSet<&str> =
        subject.crds.iter().chain(subject.baseline.iter().flatten()).map(|crd| crd.name.as_str()).collect();
    for name in names {
        for (check, severity) in &checks {
            let (check, severity) = (*check, *severity);
            match target(subject, settings, matrix, recorded, name, check) {
                Ok(crd) => {
                    let severity = severity_on(crd, check, severity, settings);
                    planned.push(PlannedCheck { check, severity, crd });
                }
                Err(reason) => skipped.push(skip(check, name, &reason)),
            }
        }
    }
    let mut scenarios = if matrix.servers.is_empty() { Vec::new() } else { settings.scenarios() };
    scenarios.retain(|scenario| !(matrix.deployed && changes_crds(*scenario)));
    let mut plan = Plan { subject, settings, matrix: matrix.clone(), scenarios, checks, planned, skipped, share: None };
    if let Some(shard) = &settings.shard {
        plan.reduce(shard);
    }
    plan
}

pub(super) fn skip(check: &Check, crd: &str, reason: &str) -> Skipped {
    Skipped { check: check.id.into(), crd: crd.to_owned(), kubernetes: None, reason: reason.to_owned() }
}

/// The reason for skipping checks of in-tree migration.
pub(super) const NO_IN_TREE: &str =
    "the control plane did not migrate; use --in-tree-migration, on releases that support it";

/// The reason for skipping scenarios that change CRDs.
const CHANGES_CRDS: &str = "it changes the CRD, which is not ours; use --provider local, k3s or kind";

/// Returns true if a scenario cannot run without changing the CRD.
fn changes_crds(scenario: Scenario) -> bool {
    matches!(scenario, Scenario::Storage | Scenario::Retirement)
}

/// The CRD that a check is judged on, or the reason why it is not.
fn target<'a>(
    subject: &'a Subject,
    settings: &Settings,
    matrix: &ServerMatrix,
    recorded: &Observations,
    name: &str,
    check: &Check,
) -> Result<&'a Crd, String> {
    let needs = |need| check.needs.contains(&need);
    let Some(crd) = subject.crd(name) else {
        return match subject.baseline_of(name) {
            Some(old) if needs(Need::Baseline) => Ok(old),
            _ => Err("the CRD is only in the baseline".into()),
        };
    };
    if needs(Need::Baseline) && subject.baseline.is_none() {
        return Err("no baseline to compare with".into());
    }
    if needs(Need::Samples) && subject.samples_of(crd).next().is_none() {
        return Err("no sample of this CRD".into());
    }
    if check.scenario().is_some() && matrix.servers.is_empty() {
        return Err("needs an API server".into());
    }
    if matrix.deployed && check.scenario().is_some_and(changes_crds) {
        return Err(CHANGES_CRDS.into());
    }
    if needs(Need::InTreeMigration) && !matrix.in_tree_migration {
        return Err(NO_IN_TREE.into());
    }
    let stands_in = settings.endpoint.is_some();
    // In a complete recording, checks are skipped for their original reasons.
    let given = |recorded_of: bool| recorded_of && !recorded.is_complete;
    let conversions = recorded.conversions.contains_key(name);
    if (needs(Need::ConversionRuns) || needs(Need::Survey)) && !given(conversions) {
        match declared(subject, crd) {
            Err(why) if !stands_in || crd.versions.len() < 2 => return Err(why),
            Ok(Declared::FieldMap) if needs(Need::FieldMap) && !stands_in => {
                return Err("the field map itself is the converter".into());
            }
            Ok(_) | Err(_) => {}
        }
        is_recorded(recorded, conversions)?;
    }
    if needs(Need::FieldMap) && subject.field_maps_of(crd).next().is_none() {
        return Err("no field map declares how the versions relate".into());
    }
    if needs(Need::Recorded) && !subject.recorded.iter().any(|recorded| recorded.is_of(crd)) {
        return Err("no converted sample is recorded".into());
    }
    if needs(Need::BaselineConverter) && !given(conversions) && settings.baseline.is_none() {
        let earlier = subject.file.converter.as_ref().and_then(|converter| converter.baseline.as_ref());
        earlier.ok_or("the subject names no converter of the previous release")?;
    }
    let exchanges = recorded.exchanges.contains_key(name);
    if needs(Need::Exchanges) && !given(exchanges) && !stands_in {
        match declared(subject, crd)? {
            Declared::Webhook(_) => {}
            Declared::Exec(_) => return Err("a command has no HTTP endpoint".into()),
            Declared::None | Declared::FieldMap => return Err("the converter has no HTTP endpoint".into()),
        }
        is_recorded(recorded, exchanges)?;
    }
    if needs(Need::ThreeVersions) && crd.versions.len() < 3 {
        return Err("needs three versions: servers never send an object that has the desired version already".into());
    }
    Ok(crd)
}

/// Returns the severity of a check on a CRD. If a webhook may be added to the CRD before it is installed, losses of
/// strategy None are not certain.
fn severity_on(crd: &Crd, check: &Check, severity: Severity, settings: &Settings) -> Severity {
    let converts = check.reads_conversions();
    let is_uncertain = converts && settings.endpoint.is_none() && crd.converts_by_none() && crd.may_get_a_webhook();
    if is_uncertain { severity.min(Severity::Warning) } else { severity }
}

/// Checks that the evidence of a check is recorded, if nothing acts.
fn is_recorded(recorded: &Observations, is_there: bool) -> Result<(), String> {
    if is_there || !recorded.is_complete { Ok(()) } else { Err("the recording lacks what this check reads".into()) }
}
