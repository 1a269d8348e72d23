//! Merging reports of one subject, such as the shards of a CI matrix.

use std::collections::{BTreeMap, BTreeSet};

use crdproof_schema::kubernetes::{KubeVersion, Selector};

use super::{Conversions, Finding, Outcome, Report, Result as Verdict, ScenarioInfo, Skipped, WaiverInfo, WaiverState};

/// The reason why reports cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("there is no report to merge")]
    Empty,
    /// One report is of a shard, and another is not.
    #[error("reports of shards cannot be merged with reports of whole runs")]
    NotAShard,
    /// Two reports are of the same shard.
    #[error("shard {shard} is there twice")]
    Twice {
        /// Its name, such as `2/4`.
        shard: String,
    },
    /// A field that must be the same differs.
    #[error("reports of different runs cannot be merged: {what} is {left} in one and {right} in another")]
    Different {
        /// The difference.
        what: &'static str,
        /// The value in the first report.
        left: String,
        /// The value in another one.
        right: String,
    },
    /// The same CRD or check has two descriptions.
    #[error("the reports disagree about the {what} {name}")]
    Described {
        /// `CRD` or `check`.
        what: &'static str,
        /// Its name.
        name: String,
    },
}

/// Merges reports of one subject, one seed and one crdproof. The order of the reports does not matter.
pub fn merge(reports: Vec<Report>) -> Result<Report, MergeError> {
    let mut reports = reports.into_iter();
    let mut merged = reports.next().ok_or(MergeError::Empty)?;
    let mut waivers = Waivers::default();
    waivers.adopt(&mut merged);
    for mut report in reports {
        compatible(&merged, &report)?;
        waivers.adopt(&mut report);
        absorb(&mut merged, report);
    }
    merged.crds.sort_by(|left, right| left.name.cmp(&right.name));
    merged.crds.dedup();
    merged.checks.sort_by(|left, right| left.id.cmp(&right.id));
    merged.checks.dedup();
    unambiguous("CRD", merged.crds.iter().map(|crd| crd.name.as_str()))?;
    unambiguous("check", merged.checks.iter().map(|check| check.id.as_str()))?;
    waivers.settle(&mut merged);
    settle(&mut merged);
    Ok(merged)
}

fn compatible(left: &Report, right: &Report) -> Result<(), MergeError> {
    let same = [
        ("the subject", left.subject.clone(), right.subject.clone()),
        ("the version of crdproof", left.tool_version.clone(), right.tool_version.clone()),
        ("the seed", left.seed.to_string(), right.seed.to_string()),
    ];
    same.into_iter()
        .find(|(_, left, right)| left != right)
        .map_or(Ok(()), |(what, left, right)| Err(MergeError::Different { what, left, right }))
}

/// Names are sorted and equal entries are merged, so a duplicate name means two descriptions.
fn unambiguous<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), MergeError> {
    let mut last = None;
    for name in names {
        if last == Some(name) {
            let name = name.to_owned();
            return Err(MergeError::Described { what, name });
        }
        last = Some(name);
    }
    Ok(())
}

fn absorb(merged: &mut Report, report: Report) {
    merged.crds.extend(report.crds);
    merged.checks.extend(report.checks);
    merged.results.extend(report.results);
    merged.findings.extend(report.findings);
    merged.skipped.extend(report.skipped);
    merged.problems.extend(report.problems);
    // Of one CRD the run that tried more counts.
    for theirs in report.conversions {
        let objects = |conversions: &Conversions| conversions.pairs.iter().map(|pair| pair.objects).sum::<usize>();
        match merged.conversions.iter_mut().find(|ours| ours.crd == theirs.crd) {
            Some(ours) if objects(ours) < objects(&theirs) => *ours = theirs,
            Some(_) => {}
            None => merged.conversions.push(theirs),
        }
    }
    // Several shards may judge the same scenarios, by different checks.
    for theirs in report.scenarios {
        let same = |ours: &&mut ScenarioInfo| ours.crd == theirs.crd && ours.kubernetes == theirs.kubernetes;
        match merged.scenarios.iter_mut().find(same) {
            // The shard with more requests has the longer record.
            Some(ours) if ours.requests < theirs.requests => *ours = theirs,
            Some(_) => {}
            None => merged.scenarios.push(theirs),
        }
    }
    merged.scenarios.sort_by_cached_key(|scenario| {
        (scenario.crd.clone(), scenario.kubernetes.parse::<KubeVersion>().ok(), scenario.kubernetes.clone())
    });
    merged.conversions.sort_by(|left, right| left.crd.cmp(&right.crd));
    // Every shard loads the whole subject, so the counts are equal and must not be added.
    for (kind, count) in report.passed_over {
        let known = merged.passed_over.entry(kind).or_default();
        *known = count.max(*known);
    }
}

fn settle(merged: &mut Report) {
    merged.findings.sort_by_cached_key(rank);
    let mut seen = BTreeSet::new();
    merged.findings.retain(|finding| seen.insert(finding.fingerprint.clone()));
    merged.findings.sort_by_cached_key(Finding::order);
    merged.results = verdicts(std::mem::take(&mut merged.results), &merged.findings);
    let mut judged: BTreeMap<(&str, &str), Vec<&Verdict>> = BTreeMap::new();
    for result in &merged.results {
        judged.entry((&result.check, &result.crd)).or_default().push(result);
    }
    merged.skipped.retain(|skipped| {
        let results = judged.get(&(skipped.check.as_str(), skipped.crd.as_str())).map_or(&[][..], Vec::as_slice);
        !results.iter().any(|result| is_made_up_for(skipped, result))
    });
    merged.skipped.sort();
    merged.skipped.dedup();
    merged.problems.sort_by(|left, right| (&left.message, &left.help).cmp(&(&right.message, &right.help)));
    merged.problems.dedup();
    merged.summarise();
}

/// Returns true if one shard judged a skipped check: on the same release, if that could not be installed or started.
fn is_made_up_for(skipped: &Skipped, result: &Verdict) -> bool {
    let Some(wanted) = &skipped.kubernetes else { return true };
    let wanted: Option<Selector> = wanted.parse().ok();
    let judged: Option<KubeVersion> = result.kubernetes.as_ref().and_then(|server| server.parse().ok());
    wanted.zip(judged).is_some_and(|(wanted, judged)| wanted.matches(judged))
}

/// Of several reports of one finding, keeps the worst, and one that counts before a waived one.
fn rank(finding: &Finding) -> (String, std::cmp::Reverse<crate::checks::Severity>, bool) {
    (finding.fingerprint.clone(), std::cmp::Reverse(finding.severity), finding.waiver.is_some())
}

/// One verdict for each check and CRD: it is failed if one shard failed it.
fn verdicts(results: Vec<Verdict>, findings: &[Finding]) -> Vec<Verdict> {
    let mut by_check: BTreeMap<(String, String, Option<String>), Verdict> = BTreeMap::new();
    for result in results {
        let planned = (result.crd.clone(), result.check.clone(), result.kubernetes.clone());
        match by_check.entry(planned) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(result);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                if weight(&result) > weight(entry.get()) {
                    entry.insert(result);
                }
            }
        }
    }
    let mut results: Vec<Verdict> = by_check.into_values().collect();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry((&finding.crd, &finding.check)).or_default() += 1;
    }
    for result in &mut results {
        if result.outcome == Outcome::Failed {
            let count = counts.get(&(result.crd.as_str(), result.check.as_str()));
            result.findings = count.copied().unwrap_or(result.findings);
        }
    }
    results
}

fn weight(result: &Verdict) -> (u8, usize, &Option<String>) {
    let outcome = match result.outcome {
        Outcome::Passed => 0,
        Outcome::KnownServerIssue => 1,
        Outcome::Inconclusive => 2,
        Outcome::Failed => 3,
    };
    (outcome, result.examined, &result.reason)
}

/// The waivers of all reports. Findings refer to them by index, so the indexes change with the list.
#[derive(Default)]
struct Waivers(Vec<WaiverInfo>);

impl Waivers {
    fn adopt(&mut self, report: &mut Report) {
        let index: Vec<usize> =
            std::mem::take(&mut report.waivers).into_iter().map(|waiver| self.place(waiver)).collect();
        for finding in &mut report.findings {
            finding.waiver = finding.waiver.and_then(|at| index.get(at).copied());
        }
    }

    fn place(&mut self, waiver: WaiverInfo) -> usize {
        let same = |known: &WaiverInfo| {
            (&known.names, &known.reason, &known.owner, &known.expires)
                == (&waiver.names, &waiver.reason, &waiver.owner, &waiver.expires)
        };
        let Some(at) = self.0.iter().position(same) else {
            self.0.push(waiver);
            return self.0.len() - 1;
        };
        let known = &mut self.0[at];
        known.complaint = known.complaint.take().or(waiver.complaint);
        known.state = match (known.state, waiver.state) {
            (WaiverState::Used, _) | (_, WaiverState::Used) => WaiverState::Used,
            (WaiverState::Expired, _) | (_, WaiverState::Expired) => WaiverState::Expired,
            (WaiverState::Unused, WaiverState::Unused) => WaiverState::Unused,
        };
        at
    }

    /// A waiver that is unused in one shard may be used in another; then the complaint about it is removed.
    fn settle(mut self, merged: &mut Report) {
        let idle = |finding: &Finding| {
            let about = |waiver: &&WaiverInfo| waiver.complaint.as_ref() == Some(&finding.fingerprint);
            self.0.iter().find(about).is_some_and(|waiver| waiver.state == WaiverState::Used)
        };
        merged.findings.retain(|finding| !idle(finding));
        for waiver in self.0.iter_mut().filter(|waiver| waiver.state == WaiverState::Used) {
            waiver.complaint = None;
        }
        self.sort(merged);
        merged.waivers = self.0;
    }

    fn sort(&mut self, merged: &mut Report) {
        let key = |waiver: &WaiverInfo| {
            (waiver.names.clone(), waiver.expires.clone(), waiver.reason.clone(), waiver.owner.clone())
        };
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        order.sort_by_key(|at| key(&self.0[*at]));
        for finding in &mut merged.findings {
            finding.waiver = finding.waiver.and_then(|old| order.iter().position(|at| *at == old));
        }
        self.0.sort_by_cached_key(key);
    }
}
