//! What a run will do. Pure: nothing is read, started or changed.

use std::collections::{BTreeMap, BTreeSet};

use super::Selection;
use crate::checks::{Check, Need, Severity};
use crate::convert::{Declared, Opened, declared};
use crate::observe::{Exchange, Trace};
use crate::report::Skipped;
use crate::subject::{Crd, Subject};

/// Settings of a run that do not belong to the subject.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What to judge.
    pub selection: Selection,
    /// The seed of everything that is generated.
    pub seed: u64,
    /// Journeys that were recorded earlier, to be judged again.
    pub traces: Vec<Trace>,
    /// Requests to endpoints that were recorded earlier, by CRD.
    pub exchanges: BTreeMap<String, Vec<Exchange>>,
}

/// One check on one CRD.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The check.
    pub check: &'static Check,
    /// The severity in force.
    pub severity: Severity,
    /// The CRD on trial; from the baseline where the CRD is gone.
    pub crd: &'a Crd,
}

/// What a run will do and what it leaves out.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The subject.
    pub subject: &'a Subject,
    /// The seed.
    pub seed: u64,
    /// Journeys to judge.
    pub traces: &'a [Trace],
    /// Recorded requests to judge, by CRD.
    pub exchanges: &'a BTreeMap<String, Vec<Exchange>>,
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
                Ok(crd) => cases.push(Case { check, severity: *severity, crd }),
                Err(reason) => skipped.push(Skipped { check: check.id.into(), crd: name.to_owned(), reason }),
            }
        }
    }
    let (traces, exchanges) = (&settings.traces, &settings.exchanges);
    Plan { subject, seed: settings.seed, traces, exchanges, checks, cases, skipped, endpoint: Opened::default() }
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
    if needs(Need::Trials) {
        declared(subject, crd)?;
    }
    if needs(Need::Exchanges) && !settings.exchanges.contains_key(name) {
        match declared(subject, crd)? {
            Declared::Webhook(_) => {}
            Declared::Exec(_) => return Err("a command has no wire".into()),
            Declared::None | Declared::FieldMap => return Err("nothing is asked over the wire".into()),
        }
    }
    Ok(crd)
}
