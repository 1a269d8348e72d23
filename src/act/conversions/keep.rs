//! What was found so far: of every kind of breach the first one, with the trial that shows it.

use std::collections::{BTreeMap, BTreeSet};

use super::ShownTrial;
use crate::checks::{Breach, Check, Evidence, Verdict};
use crate::evidence::Trial;

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
    undecided: Option<String>,
    fact: Option<String>,
    breaches: BTreeMap<String, Shown>,
}

/// A breach and the trial that shows it.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) check: &'static Check,
    pub(super) breach: Breach,
    pub(super) trial: Option<Trial>,
    /// The number of the batch, so that the result does not depend on which thread was faster.
    order: (usize, usize),
}

impl Shown {
    /// Takes another trial that shows the same, if it does. Whether it did.
    pub(super) fn retell(&mut self, evidence: &Evidence<'_>, trial: &Trial) -> bool {
        let Some(found) = self.in_trial(evidence, trial) else { return false };
        self.breach = found;
        self.trial = Some(trial.clone());
        true
    }

    /// The breach of the same kind that a trial shows by itself.
    pub(super) fn in_trial(&self, evidence: &Evidence<'_>, trial: &Trial) -> Option<Breach> {
        let evidence = Evidence { trials: std::slice::from_ref(trial), ..*evidence };
        match (self.check.judge)(&evidence) {
            Verdict::Broken(breaches) => breaches.into_iter().find(|breach| breach.key == self.breach.key),
            Verdict::Held { .. } | Verdict::ServerFact(_) | Verdict::Undecided(_) => None,
        }
    }
}

impl Kept {
    /// Takes in the verdict on a batch.
    pub(super) fn add(&mut self, check: &'static Check, verdict: Verdict, trials: &[Trial], order: usize) {
        let kept = self.by_check.entry(check.id).or_default();
        match verdict {
            Verdict::Held { examined } => kept.examined += examined,
            Verdict::ServerFact(fact) => kept.fact = Some(fact),
            Verdict::Undecided(why) => drop(kept.undecided.get_or_insert(why)),
            Verdict::Broken(breaches) => {
                for breach in breaches {
                    let index = breach.trial.unwrap_or_default();
                    let trial = breach.trial.and_then(|index| trials.get(index)).cloned();
                    let key = breach.key.clone();
                    let shown = Shown { check, breach, trial, order: (order, index) };
                    match kept.breaches.get(&key) {
                        Some(known) if known.order <= shown.order => {}
                        _ => drop(kept.breaches.insert(key, shown)),
                    }
                }
            }
        }
    }

    /// Everything that is broken, to be made smaller; no more than will be shown.
    pub(super) fn shown(&mut self) -> impl Iterator<Item = &mut Shown> {
        self.by_check.values_mut().flat_map(|kept| kept.breaches.values_mut().take(MOST))
    }

    /// The trials that show something by themselves.
    pub(super) fn trials(&mut self) -> Vec<ShownTrial> {
        let shown = self.shown().filter_map(|shown| {
            let trial = shown.trial.clone()?;
            Some(ShownTrial { check: shown.check.id.to_owned(), key: shown.breach.key.clone(), trial })
        });
        shown.collect()
    }

    /// What each check says in the end, and the trials that its breaches point to.
    pub(super) fn verdicts(
        mut self,
        checks: &[&'static Check],
        stopped: Option<&str>,
    ) -> (BTreeMap<&'static str, Verdict>, Vec<Trial>) {
        let mut trials = Vec::new();
        let mut verdicts = BTreeMap::new();
        let told: BTreeSet<String> =
            self.by_check.get(PLAIN).map(|kept| kept.breaches.keys().cloned().collect()).unwrap_or_default();
        for check in checks {
            let mut kept = self.by_check.remove(check.id).unwrap_or_default();
            if SPECIAL.contains(&check.id) && !kept.breaches.is_empty() {
                kept.breaches.retain(|key, _| !told.contains(key));
                kept.examined = 0;
                kept.undecided = Some(format!("everything that it found is told by {PLAIN}"));
            }
            let more = kept.breaches.len().saturating_sub(MOST);
            let mut breaches: Vec<Breach> = Vec::new();
            for shown in kept.breaches.into_values().take(MOST) {
                let trial = shown.trial.map(|trial| {
                    trials.push(trial);
                    trials.len() - 1
                });
                breaches.push(Breach { trial, ..shown.breach });
            }
            if let Some(last) = breaches.last_mut().filter(|_| more > 0) {
                last.message = format!("{} (and {more} more places like these)", last.message);
            }
            let verdict = if !breaches.is_empty() {
                Verdict::Broken(breaches)
            } else if let Some(why) = stopped {
                Verdict::Undecided(format!("the converter stopped answering: {why}"))
            } else if kept.examined > 0 {
                Verdict::Held { examined: kept.examined }
            } else if let Some(fact) = kept.fact {
                Verdict::ServerFact(fact)
            } else {
                Verdict::Undecided(kept.undecided.unwrap_or_else(|| "there was nothing to examine".into()))
            };
            verdicts.insert(check.id, verdict);
        }
        (verdicts, trials)
    }
}
