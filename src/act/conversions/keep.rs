//! The findings so far: the first failure of every kind, with the conversion run that shows it.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::CounterexampleRun;
use crate::checks::{Check, Evidence, Failure, Severity, Symptoms, Verdict};
use crate::evidence::ConversionRun;

/// The verdicts on the batches of a search.
#[derive(Debug, Default)]
pub(super) struct Kept {
    by_check: BTreeMap<&'static str, ByCheck>,
}

#[derive(Debug, Default)]
struct ByCheck {
    examined: usize,
    inconclusive: Option<String>,
    fact: Option<String>,
    failures: BTreeMap<String, KeptFailure>,
}

impl ByCheck {
    /// Returns the failures that are shown with a counterexample.
    fn shown(&mut self) -> impl Iterator<Item = &mut KeptFailure> {
        let mut first: BTreeMap<String, &mut KeptFailure> = BTreeMap::new();
        let mut alone = Vec::new();
        for shown in self.failures.values_mut() {
            let Some(together) = shown.failure.together.clone() else {
                alone.push(shown);
                continue;
            };
            match first.entry(together.key) {
                Entry::Vacant(entry) => drop(entry.insert(shown)),
                Entry::Occupied(mut entry) if shown.rank() < entry.get().rank() => drop(entry.insert(shown)),
                Entry::Occupied(_) => {}
            }
        }
        alone.into_iter().chain(first.into_values())
    }
}

/// A failure and the conversion run that shows it.
#[derive(Debug)]
pub(super) struct KeptFailure {
    pub(super) check: &'static Check,
    pub(super) failure: Failure,
    pub(super) conversion_run: Option<ConversionRun>,
    /// The number of the batch, so that the result does not depend on the speed of threads.
    order: (usize, usize),
}

impl KeptFailure {
    /// The order in which failures of one kind are preferred: the worst first, then the earliest.
    fn rank(&self) -> (Reverse<Severity>, (usize, usize)) {
        (Reverse(self.failure.severity.unwrap_or(self.check.severity)), self.order)
    }

    /// Returns the symptoms of the failure.
    pub(super) fn symptoms(&self) -> Symptoms {
        let mut symptoms = Symptoms::new(self.check.id, self.failure.severity.unwrap_or(self.check.severity));
        let failure = &self.failure;
        symptoms.add(failure.path.as_deref(), failure.complaint.as_deref(), failure.together.as_ref());
        symptoms
    }

    /// Replaces the conversion run by another one that shows the same failure. Returns true if it does.
    pub(super) fn replace_run(&mut self, evidence: &Evidence<'_>, conversion_run: &ConversionRun) -> bool {
        let Some(found) = self.in_conversion_run(evidence, conversion_run) else { return false };
        self.failure = found;
        self.conversion_run = Some(conversion_run.clone());
        true
    }

    /// The failure of the same kind that a single conversion run shows.
    pub(super) fn in_conversion_run(&self, evidence: &Evidence<'_>, conversion_run: &ConversionRun) -> Option<Failure> {
        let evidence = Evidence { conversion_runs: std::slice::from_ref(conversion_run), ..*evidence };
        match (self.check.judge)(&evidence) {
            Verdict::Failed(failures) => failures.into_iter().find(|failure| failure.key == self.failure.key),
            Verdict::Passed { .. } | Verdict::KnownServerIssue(_) | Verdict::Inconclusive(_) => None,
        }
    }
}

impl Kept {
    /// Adds the verdict on a batch.
    pub(super) fn add(
        &mut self,
        check: &'static Check,
        verdict: Verdict,
        conversion_runs: &[ConversionRun],
        order: usize,
    ) {
        let kept = self.by_check.entry(check.id).or_default();
        match verdict {
            Verdict::Passed { examined } => kept.examined += examined,
            Verdict::KnownServerIssue(fact) => kept.fact = Some(fact),
            Verdict::Inconclusive(why) => drop(kept.inconclusive.get_or_insert(why)),
            Verdict::Failed(failures) => {
                for failure in failures {
                    let index = failure.conversion_run.unwrap_or_default();
                    let conversion_run = failure.conversion_run.and_then(|index| conversion_runs.get(index)).cloned();
                    let key = failure.key.clone();
                    let shown = KeptFailure { check, failure, conversion_run, order: (order, index) };
                    match kept.failures.get(&key) {
                        Some(known) if known.rank() <= shown.rank() => {}
                        _ => drop(kept.failures.insert(key, shown)),
                    }
                }
            }
        }
    }

    /// Everything that is shown with a counterexample: of failures that are reported together the first of the worst.
    pub(super) fn shown(&mut self) -> impl Iterator<Item = &mut KeptFailure> {
        self.by_check.values_mut().flat_map(ByCheck::shown)
    }

    /// Returns the symptoms that may cause other findings.
    pub(super) fn symptoms(&self) -> Vec<Symptoms> {
        self.by_check.values().flat_map(|kept| kept.failures.values().map(KeptFailure::symptoms)).collect()
    }

    /// The conversion runs that show a failure by themselves.
    pub(super) fn conversion_runs(&mut self) -> Vec<CounterexampleRun> {
        let shown = self.shown().filter_map(|shown| {
            let conversion_run = shown.conversion_run.clone()?;
            Some(CounterexampleRun { check: shown.check.id.to_owned(), key: shown.failure.key.clone(), conversion_run })
        });
        shown.collect()
    }

    /// Returns the final verdict of each check, and the conversion runs of its failures.
    pub(super) fn verdicts(
        mut self,
        checks: &[&'static Check],
        stopped: Option<&str>,
    ) -> (BTreeMap<&'static str, Verdict>, Vec<ConversionRun>) {
        let mut conversion_runs = Vec::new();
        let mut verdicts = BTreeMap::new();
        for check in checks {
            let mut kept = self.by_check.remove(check.id).unwrap_or_default();
            let shown: BTreeSet<String> = kept.shown().map(|shown| shown.failure.key.clone()).collect();
            let mut failures: Vec<Failure> = Vec::new();
            for (key, one) in kept.failures {
                if !shown.contains(&key) {
                    // Large objects that were not shrunk show little.
                    failures.push(Failure { conversion_run: None, evidence: None, ..one.failure });
                    continue;
                }
                let conversion_run = one.conversion_run.map(|conversion_run| {
                    conversion_runs.push(conversion_run);
                    conversion_runs.len() - 1
                });
                failures.push(Failure { conversion_run, ..one.failure });
            }
            let verdict = if !failures.is_empty() {
                Verdict::Failed(failures)
            } else if let Some(why) = stopped {
                Verdict::Inconclusive(format!("the converter stopped responding: {why}"))
            } else if kept.examined > 0 {
                Verdict::Passed { examined: kept.examined }
            } else if let Some(fact) = kept.fact {
                Verdict::KnownServerIssue(fact)
            } else {
                Verdict::Inconclusive(kept.inconclusive.unwrap_or_else(|| "nothing to examine".into()))
            };
            verdicts.insert(check.id, verdict);
        }
        (verdicts, conversion_runs)
    }
}
