//! What was found so far: of every kind of failure the first one, with the conversion run that shows it.

use std::collections::{BTreeMap, BTreeSet};

use super::ShownRun;
use crate::checks::{Check, Evidence, Failure, Verdict};
use crate::evidence::ConversionRun;

/// More findings of one check on one CRD are only counted.
const MOST: usize = 40;

/// A field that does not come back at all is told by this check.
const PLAIN: &str = "converter/round-trip-lossless";

/// These would tell the same once more, for the same way and field, in the words of a special case.
const SPECIAL: [&str; 3] =
    ["converter/absent-null-empty-distinct", "converter/edit-survives", "converter/partial-objects-survive"];

/// What judges said about the batches of a search.
#[derive(Debug, Default)]
pub(super) struct Kept {
    by_check: BTreeMap<&'static str, ByCheck>,
}

#[derive(Debug, Default)]
struct ByCheck {
    examined: usize,
    inconclusive: Option<String>,
    fact: Option<String>,
    failures: BTreeMap<String, Shown>,
}

/// A failure and the conversion run that shows it.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) check: &'static Check,
    pub(super) failure: Failure,
    pub(super) conversion_run: Option<ConversionRun>,
    /// The number of the batch, so that the result does not depend on which thread was faster.
    order: (usize, usize),
}

impl Shown {
    /// Takes another conversion run that shows the same, if it does. Whether it did.
    pub(super) fn retell(&mut self, evidence: &Evidence<'_>, conversion_run: &ConversionRun) -> bool {
        let Some(found) = self.in_conversion_run(evidence, conversion_run) else { return false };
        self.failure = found;
        self.conversion_run = Some(conversion_run.clone());
        true
    }

    /// The failure of the same kind that a conversion run shows by itself.
    pub(super) fn in_conversion_run(&self, evidence: &Evidence<'_>, conversion_run: &ConversionRun) -> Option<Failure> {
        let evidence = Evidence { conversion_runs: std::slice::from_ref(conversion_run), ..*evidence };
        match (self.check.judge)(&evidence) {
            Verdict::Failed(failures) => failures.into_iter().find(|failure| failure.key == self.failure.key),
            Verdict::Passed { .. } | Verdict::KnownServerIssue(_) | Verdict::Inconclusive(_) => None,
        }
    }
}

impl Kept {
    /// Takes in the verdict on a batch.
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
                    let shown = Shown { check, failure, conversion_run, order: (order, index) };
                    match kept.failures.get(&key) {
                        Some(known) if known.order <= shown.order => {}
                        _ => drop(kept.failures.insert(key, shown)),
                    }
                }
            }
        }
    }

    /// Everything that is broken, to be made smaller; no more than will be shown.
    pub(super) fn shown(&mut self) -> impl Iterator<Item = &mut Shown> {
        self.by_check.values_mut().flat_map(|kept| kept.failures.values_mut().take(MOST))
    }

    /// The conversion runs that show something by themselves.
    pub(super) fn conversion_runs(&mut self) -> Vec<ShownRun> {
        let shown = self.shown().filter_map(|shown| {
            let conversion_run = shown.conversion_run.clone()?;
            Some(ShownRun { check: shown.check.id.to_owned(), key: shown.failure.key.clone(), conversion_run })
        });
        shown.collect()
    }

    /// What each check says in the end, and the conversion runs that its failures point to.
    pub(super) fn verdicts(
        mut self,
        checks: &[&'static Check],
        stopped: Option<&str>,
    ) -> (BTreeMap<&'static str, Verdict>, Vec<ConversionRun>) {
        let mut conversion_runs = Vec::new();
        let mut verdicts = BTreeMap::new();
        let told: BTreeSet<String> =
            self.by_check.get(PLAIN).map(|kept| kept.failures.keys().cloned().collect()).unwrap_or_default();
        for check in checks {
            let mut kept = self.by_check.remove(check.id).unwrap_or_default();
            if SPECIAL.contains(&check.id) && !kept.failures.is_empty() {
                kept.failures.retain(|key, _| !told.contains(key));
                kept.examined = 0;
                kept.inconclusive = Some(format!("everything that it found is told by {PLAIN}"));
            }
            let more = kept.failures.len().saturating_sub(MOST);
            let mut failures: Vec<Failure> = Vec::new();
            for shown in kept.failures.into_values().take(MOST) {
                let conversion_run = shown.conversion_run.map(|conversion_run| {
                    conversion_runs.push(conversion_run);
                    conversion_runs.len() - 1
                });
                failures.push(Failure { conversion_run, ..shown.failure });
            }
            if let Some(last) = failures.last_mut().filter(|_| more > 0) {
                last.message = format!("{} (and {more} more places like these)", last.message);
            }
            let verdict = if !failures.is_empty() {
                Verdict::Failed(failures)
            } else if let Some(why) = stopped {
                Verdict::Inconclusive(format!("the converter stopped answering: {why}"))
            } else if kept.examined > 0 {
                Verdict::Passed { examined: kept.examined }
            } else if let Some(fact) = kept.fact {
                Verdict::KnownServerIssue(fact)
            } else {
                Verdict::Inconclusive(kept.inconclusive.unwrap_or_else(|| "there was nothing to examine".into()))
            };
            verdicts.insert(check.id, verdict);
        }
        (verdicts, conversion_runs)
    }
}
