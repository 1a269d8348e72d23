//! Keeps secrets out of a report, also where they stand in words of others: refusals, messages of rules, excerpts.

use std::collections::{BTreeMap, BTreeSet};

use super::Plan;
use crate::evidence::Trial;
use crate::report::{Finding, Hide};
use crate::subject::{Crd, Subject};
use crdproof_schema::structural::{Secrets, scrub};

/// What must not be shown.
pub struct Veil<'a> {
    show: bool,
    by_crd: BTreeMap<&'a str, Known<'a>>,
}

/// What is known to be secret of one CRD.
struct Known<'a> {
    crd: &'a Crd,
    secrets: Secrets,
    /// The secrets of its samples.
    values: BTreeSet<String>,
}

impl<'a> Veil<'a> {
    pub(super) fn new(plan: &Plan<'a>) -> Self {
        Self::over(plan.subject, plan.settings.show_secrets)
    }

    /// What is secret of a subject, unless it may be shown.
    pub fn over(subject: &'a Subject, show: bool) -> Self {
        let mut by_crd = BTreeMap::new();
        // The baseline first, so that the new state of a CRD counts.
        for crd in subject.baseline.iter().flatten().chain(&subject.crds) {
            let known = Known { crd, secrets: crd.secrets(), values: subject.secret_values_of(crd) };
            by_crd.insert(crd.name.as_str(), known);
        }
        Self { show, by_crd }
    }

    /// A text about any CRD without what is secret.
    pub fn hide(&self, text: &str) -> String {
        let all = self.by_crd.values().flat_map(|known| &known.values).cloned();
        let hide = if self.show { Hide::Nothing } else { Hide::Secrets(all.collect()) };
        veiled(text, &hide)
    }

    /// What excerpts and texts about a CRD, and about a trial of its objects, do not show.
    pub(super) fn of(&self, crd: &str, trial: Option<&Trial>) -> Hide {
        if self.show {
            return Hide::Nothing;
        }
        let Some(known) = self.by_crd.get(crd) else { return Hide::default() };
        let mut values = known.values.clone();
        if let Some(trial) = trial {
            known.collect(&trial.version, &trial.input, &mut values);
            for leg in &trial.legs {
                leg.served().into_iter().for_each(|object| known.collect(&leg.to, object, &mut values));
            }
        }
        Hide::Secrets(values)
    }
}

impl Known<'_> {
    fn collect(&self, version: &str, object: &serde_json::Value, values: &mut BTreeSet<String>) {
        let schema = self.crd.version(version).and_then(|version| version.schema.as_ref());
        self.secrets.collect(schema, object, values);
    }
}

/// A text without what is hidden.
pub(super) fn veiled(text: &str, hide: &Hide) -> String {
    match hide {
        Hide::Nothing => text.to_owned(),
        Hide::Secrets(values) => scrub(text, values),
    }
}

/// A finding without what is hidden. Its fingerprint stays what it is.
pub(super) fn veil(finding: &mut Finding, hide: &Hide) {
    finding.message = veiled(&finding.message, hide);
    finding.evidence = finding.evidence.as_deref().map(|evidence| veiled(evidence, hide));
    finding.help = veiled(&finding.help, hide);
    for related in &mut finding.related {
        related.message = veiled(&related.message, hide);
    }
}
