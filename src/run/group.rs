//! One cause, one finding: merges the same failure of several fields, and moves consequences under their cause.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::fold::fingerprint;
use super::group_words::{change_evidence, change_message, listed, summary};
use crate::checks::{Symptoms, Together, cause_rank};
use crate::report::{Consequence, Field, Finding};
use crdproof_schema::document::Place;

/// The cause of a failure, besides its finding.
#[derive(Debug, Clone, Default)]
pub(super) struct Cause {
    /// See [`crate::checks::Failure::together`].
    pub(super) together: Option<Together>,
    /// See [`crate::checks::Failure::complaint`].
    pub(super) complaint: Option<String>,
}

/// Findings of one cause.
#[derive(Debug)]
struct Group {
    finding: Finding,
    symptoms: Symptoms,
}

/// The causes of failures, by the fingerprint of the finding.
#[derive(Debug, Default)]
pub(super) struct Causes(BTreeMap<String, Cause>);

impl Causes {
    /// Records the cause of a finding.
    pub(super) fn add(&mut self, finding: &Finding, cause: Cause) {
        self.0.insert(finding.fingerprint.clone(), cause);
    }

    fn of(&self, finding: &Finding) -> Cause {
        self.0.get(&finding.fingerprint).cloned().unwrap_or_default()
    }

    /// Adds the symptom of a finding.
    fn add_symptom(&self, symptoms: &mut Symptoms, finding: &Finding) {
        let cause = self.of(finding);
        symptoms.add(finding.path.as_deref(), cause.complaint.as_deref(), cause.together.as_ref());
    }

    /// Returns the fingerprint under which a finding is reported: that of its group, if it belongs to one.
    fn reported_as(&self, finding: &Finding) -> String {
        reported_as(finding, self.of(finding).together.as_ref())
    }
}

/// Returns the fingerprint under which a finding is reported. It does not depend on the wording of the clause.
pub(super) fn reported_as(finding: &Finding, together: Option<&Together>) -> String {
    match (&finding.change, together) {
        // Changes of different severity have different remedies.
        (Some(change), _) => fingerprint(&[&finding.check, finding.severity.as_str(), change]),
        (None, Some(together)) => fingerprint(&[&finding.check, &finding.crd, &together.key]),
        (None, None) => finding.fingerprint.clone(),
    }
}

/// Groups the findings of a report. Also returns the new fingerprint of each.
pub(super) fn group(mut findings: Vec<Finding>, causes: &Causes) -> (Vec<Finding>, BTreeMap<String, String>) {
    // The strongest causes come first, so that each consequence is assigned to its own.
    findings.sort_by_key(|finding| cause_rank(&finding.check));
    let (mut renamed, mut groups): (_, Vec<Group>) = (BTreeMap::new(), Vec::new());
    for findings in findings.chunk_by(|left, right| cause_rank(&left.check) == cause_rank(&right.check)) {
        renamed.extend(findings.iter().map(|finding| (finding.fingerprint.clone(), causes.reported_as(finding))));
        let unexplained: Vec<&Finding> =
            findings.iter().filter(|finding| !explain(&mut groups, finding, causes)).collect();
        groups.extend(of_one_rank(&unexplained, causes, &mut renamed));
    }
    (groups.into_iter().map(|group| group.finding).collect(), renamed)
}

/// Adds a finding to the consequences of the first group that explains it.
fn explain(groups: &mut [Group], finding: &Finding, causes: &Causes) -> bool {
    let mut symptoms = Symptoms::new(&finding.check, finding.severity);
    causes.add_symptom(&mut symptoms, finding);
    let is_cause = |group: &&mut Group| {
        group.finding.crd == finding.crd
            // Accepting a cause also accepts its consequences.
            && (finding.waiver.is_none() || group.finding.waiver == finding.waiver)
            && symptoms.follow_from(&group.symptoms)
    };
    let Some(cause) = groups.iter_mut().find(is_cause) else { return false };
    cause.finding.consequences.push(Consequence {
        check: finding.check.clone(),
        message: finding.message.clone(),
        fingerprint: causes.reported_as(finding),
    });
    true
}

/// Groups findings of checks that do not explain each other.
fn of_one_rank(findings: &[&Finding], causes: &Causes, renamed: &mut BTreeMap<String, String>) -> Vec<Group> {
    // Accepted findings are not mixed with others.
    let mut groups: IndexMap<(String, Option<usize>), Vec<&Finding>> = IndexMap::new();
    for finding in findings {
        groups.entry((causes.reported_as(finding), finding.waiver)).or_default().push(finding);
    }
    let counting: Vec<String> =
        groups.keys().filter(|(_, waiver)| waiver.is_none()).map(|(name, _)| name.clone()).collect();
    let named = groups.into_iter().map(|((name, waiver), findings)| {
        // Fingerprints must be unique.
        let name = match waiver {
            Some(waiver) if counting.contains(&name) => fingerprint(&[&name, &waiver.to_string()]),
            _ => name,
        };
        renamed.extend(findings.iter().map(|finding| (finding.fingerprint.clone(), name.clone())));
        merged(name, &findings, causes)
    });
    named.collect()
}

/// Merges findings; the one with a counterexample represents all.
fn merged(name: String, findings: &[&Finding], causes: &Causes) -> Group {
    let speaker = findings.iter().position(|finding| finding.evidence.is_some()).unwrap_or_default();
    let mut finding = findings[speaker].clone();
    finding.severity = findings.iter().map(|one| one.severity).max().unwrap_or(finding.severity);
    let mut symptoms = Symptoms::new(&finding.check, finding.severity);
    for one in findings {
        causes.add_symptom(&mut symptoms, one);
    }
    if let Some(change) = finding.change.clone() {
        finding.fields = findings.iter().map(|one| changed(one)).collect();
        if findings.len() > 1 {
            finding.message = change_message(&change, &finding.fields);
            finding.evidence = Some(change_evidence(&finding.fields));
        }
    } else if let Some(together) = causes.of(&finding).together {
        let same = |one: &&Finding| causes.of(one).together.is_some_and(|other| other.clause == together.clause);
        debug_assert!(findings.iter().all(same), "{} names two causes {:?}", finding.check, together.key);
        finding.fields = findings.iter().map(|one| field(one)).collect();
        if findings.len() > 1 {
            finding.message = summary(&finding, &together.clause);
            finding.evidence = Some(listed(&finding));
        }
    }
    finding.fingerprint = name;
    Group { finding, symptoms }
}

fn field(finding: &Finding) -> Field {
    Field {
        crd: None,
        version: None,
        path: finding.path.clone(),
        message: finding.message.clone(),
        place: None,
        fingerprint: finding.fingerprint.clone(),
    }
}

/// Returns one place where a change was made.
fn changed(finding: &Finding) -> Field {
    let place = finding.location.as_ref();
    Field {
        crd: Some(finding.crd.clone()),
        version: finding.version.clone(),
        place: place.map(|at| Place { file: at.file.clone(), line: at.line, column: at.column }),
        ..field(finding)
    }
}
