//! What a run will do. Pure: nothing is read, started or changed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Recorded, Selection};
use crate::checks::{Check, Need, Severity};
use crate::converter::endpoint::Stand;
use crate::converter::{Declared, Opened, declared};
use crate::evidence::{Exchange, SavedCase, Trace};
use crate::report::Skipped;
use crate::subject::{Crd, Subject};
use crdproof_schema::kubernetes::KubeVersion;

/// Settings of a run that do not belong to the subject.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What to judge.
    pub selection: Selection,
    /// The seed of everything that is generated.
    pub seed: u64,
    /// Journeys that were recorded earlier, to be judged again.
    pub traces: Vec<Trace>,
    /// Releases that journeys were wanted on and that could not be had.
    pub absent: Vec<Absent>,
    /// Requests to endpoints that were recorded earlier, by CRD.
    pub exchanges: BTreeMap<String, Vec<Exchange>>,
    /// Conversions that were recorded earlier, by CRD.
    pub trials: BTreeMap<String, Recorded>,
    /// Objects to be generated for every version; else what the suites say.
    pub objects: Option<usize>,
    /// How long objects of one CRD are tried.
    pub time: Option<Duration>,
    /// What answers reviews instead of the subject's own converter.
    pub endpoint: Option<Stand>,
    /// What answers reviews as the previous release did, instead of what the subject names.
    pub baseline: Option<Stand>,
    /// Objects that broke something in earlier runs, to be tried first.
    pub cases: Vec<SavedCase>,
    /// Whether nothing but those is tried.
    pub only_cases: bool,
    /// Whether secrets may be shown.
    pub show_secrets: bool,
    /// Whether every observation is kept.
    pub record: bool,
    /// Whether converters may be asked.
    pub asking: Asking,
}

/// A release of a range that could not be had. What would have been judged on it is skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Absent {
    /// What was wanted, such as `1.29`.
    pub kubernetes: String,
    /// Why there is none.
    pub reason: String,
}

/// Whether converters may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asking {
    /// Where nothing was recorded.
    #[default]
    Allowed,
    /// Never: what was recorded is judged, and nothing else.
    Never,
}

impl Settings {
    /// How many objects are generated for every version.
    pub fn generated(&self) -> usize {
        let suites = self.selection.suites.iter().filter_map(|suite| suite.file.objects).max();
        if self.only_cases { 0 } else { self.objects.or(suites).unwrap_or_default() }
    }
}

/// The steps in which the control plane migrates by itself.
const IN_TREE: &str = "storage/migrate-in-tree";

/// One check on one CRD.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The check.
    pub check: &'static Check,
    /// The severity in force.
    pub severity: Severity,
    /// The CRD on trial; from the baseline where the CRD is gone.
    pub crd: &'a Crd,
    /// The API server whose journey is judged, where one takes part.
    pub server: Option<KubeVersion>,
}

/// What a run will do and what it leaves out.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// The settings.
    pub settings: &'a Settings,
    /// The checks, with the severity in force.
    pub checks: Vec<(&'static Check, Severity)>,
    /// What will be judged, by CRD and check.
    pub cases: Vec<Case<'a>>,
    /// What will not, and why.
    pub skipped: Vec<Skipped>,
    /// What answers reviews, once somebody asks.
    pub endpoint: Opened,
}

/// Derives the plan from subject and selection.
pub fn plan<'a>(subject: &'a Subject, settings: &'a Settings) -> Plan<'a> {
    let checks = settings.selection.checks();
    let mut cases = Vec::new();
    let mut skipped = Vec::new();
    let names: BTreeSet<&str> =
        subject.crds.iter().chain(subject.baseline.iter().flatten()).map(|crd| crd.name.as_str()).collect();
    for name in names {
        for (check, severity) in &checks {
            match target(subject, settings, name, check) {
                Ok(crd) if check.needs.contains(&Need::Trace) => {
                    // Not every server offers to migrate by itself.
                    let in_tree = check.needs.contains(&Need::InTree);
                    let shows = |trace: &&Trace| !in_tree || trace.of(IN_TREE).next().is_some();
                    let traces = settings.traces.iter().filter(|trace| trace.crd == name).filter(shows);
                    let servers = traces.map(|trace| trace.kubernetes);
                    cases.extend(servers.map(|server| Case { check, severity: *severity, crd, server: Some(server) }));
                    skipped.extend(settings.absent.iter().map(|absent| Skipped {
                        kubernetes: Some(absent.kubernetes.clone()),
                        ..skip(check, name, &absent.reason)
                    }));
                }
                Ok(crd) => cases.push(Case { check, severity: *severity, crd, server: None }),
                Err(reason) => skipped.push(skip(check, name, &reason)),
            }
        }
    }
    Plan { subject, settings, checks, cases, skipped, endpoint: Opened::default() }
}

fn skip(check: &Check, crd: &str, reason: &str) -> Skipped {
    Skipped { check: check.id.into(), crd: crd.to_owned(), kubernetes: None, reason: reason.to_owned() }
}

/// The CRD that a check is judged on, or why it is not.
fn target<'a>(subject: &'a Subject, settings: &Settings, name: &str, check: &Check) -> Result<&'a Crd, String> {
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
    if needs(Need::Trace) && !settings.traces.iter().any(|trace| trace.crd == name) {
        return Err("needs an API server".into());
    }
    let in_tree = |trace: &&Trace| trace.crd == name && trace.of(IN_TREE).next().is_some();
    if needs(Need::InTree) && !settings.traces.iter().any(|trace| in_tree(&trace)) {
        return Err(
            "the control plane migrated nothing; it is asked to by --in-tree-migration, where it offers that".into()
        );
    }
    let stands_in = settings.endpoint.is_some();
    // Judged again, a case is skipped for the reasons for which it was skipped at first.
    let given = |recorded: bool| recorded && settings.asking == Asking::Allowed;
    let trials = settings.trials.contains_key(name);
    if (needs(Need::Trials) || needs(Need::Survey)) && !given(trials) {
        match declared(subject, crd) {
            Err(why) if !stands_in || crd.versions.len() < 2 => return Err(why),
            Ok(Declared::FieldMap) if needs(Need::FieldMap) && !stands_in => {
                return Err("the field map itself is the converter".into());
            }
            Ok(_) | Err(_) => {}
        }
        recorded(settings, trials)?;
    }
    if needs(Need::FieldMap) && subject.field_maps_of(crd).next().is_none() {
        return Err("no field map declares how the versions relate".into());
    }
    if needs(Need::Recorded) && !subject.recorded.iter().any(|recorded| recorded.is_of(crd)) {
        return Err("no converted sample is recorded".into());
    }
    if needs(Need::BaselineConverter) && !given(trials) && settings.baseline.is_none() {
        let earlier = subject.file.converter.as_ref().and_then(|converter| converter.baseline.as_ref());
        earlier.ok_or("the subject names no converter of the previous release")?;
    }
    let exchanges = settings.exchanges.contains_key(name);
    if needs(Need::Exchanges) && !given(exchanges) && !stands_in {
        match declared(subject, crd)? {
            Declared::Webhook(_) => {}
            Declared::Exec(_) => return Err("a command has no wire".into()),
            Declared::None | Declared::FieldMap => return Err("nothing is asked over the wire".into()),
        }
        recorded(settings, exchanges)?;
    }
    Ok(crd)
}

/// Where nobody is asked, what a check looks at must be recorded.
fn recorded(settings: &Settings, is_there: bool) -> Result<(), String> {
    if is_there || settings.asking == Asking::Allowed {
        Ok(())
    } else {
        Err("what it looks at was not recorded".into())
    }
}
