//! Keeps secrets out of a report, also in texts of others: refusals, messages of rules, excerpts.

use std::collections::{BTreeMap, BTreeSet};

use super::Plan;
use crate::evidence::ConversionRun;
use crate::report::{Finding, Redaction};
use crate::subject::{Crd, Subject};
use crdproof_schema::structural::{Secrets, redact_text};

/// The values that must not be shown.
pub struct Redactor<'a> {
    show: bool,
    by_crd: BTreeMap<&'a str, Known<'a>>,
}

/// The known secrets of one CRD.
struct Known<'a> {
    crd: &'a Crd,
    secrets: Secrets,
    /// The secrets of its samples.
    values: BTreeSet<String>,
}

impl<'a> Redactor<'a> {
    pub(super) fn new(plan: &Plan<'a>) -> Self {
        Self::over(plan.subject, plan.settings.show_secrets)
    }

    /// Returns the secrets of a subject, unless they may be shown.
    pub fn over(subject: &'a Subject, show: bool) -> Self {
        let mut by_crd = BTreeMap::new();
        // The baseline first, so that the new state of a CRD counts.
        for crd in subject.baseline.iter().flatten().chain(&subject.crds) {
            let known = Known { crd, secrets: crd.secrets(), values: subject.secret_values_of(crd) };
            by_crd.insert(crd.name.as_str(), known);
        }
        Self { show, by_crd }
    }

    /// Redacts a text about any CRD.
    pub fn redact(&self, text: &str) -> String {
        let all = self.by_crd.values().flat_map(|known| &known.values).cloned();
        let hide = if self.show { Redaction::Nothing } else { Redaction::Secrets(all.collect()) };
        redacted(text, &hide)
    }

    /// Returns the secrets for excerpts and texts about a CRD, and about a conversion run of its objects.
    pub(super) fn of(&self, crd: &str, conversion_run: Option<&ConversionRun>) -> Redaction {
        if self.show {
            return Redaction::Nothing;
        }
        let Some(known) = self.by_crd.get(crd) else { return Redaction::default() };
        let mut values = known.values.clone();
        if let Some(conversion_run) = conversion_run {
            known.collect(&conversion_run.version, &conversion_run.input, &mut values);
            for hop in &conversion_run.hops {
                hop.served().into_iter().for_each(|object| known.collect(&hop.to, object, &mut values));
            }
        }
        Redaction::Secrets(values)
    }
}

impl Known<'_> {
    fn collect(&self, version: &str, object: &serde_json::Value, values: &mut BTreeSet<String>) {
        let schema = self.crd.version(version).and_then(|version| version.schema.as_ref());
        self.secrets.collect(schema, object, values);
    }
}

/// Redacts a text.
pub(super) fn redacted(text: &str, hide: &Redaction) -> String {
    match hide {
        Redaction::Nothing => text.to_owned(),
        Redaction::Secrets(values) => redact_text(text, values),
    }
}

/// Redacts a finding. Its fingerprint does not change.
pub(super) fn redact_finding(finding: &mut Finding, hide: &Redaction) {
    finding.message = redacted(&finding.message, hide);
    finding.evidence = finding.evidence.as_deref().map(|evidence| redacted(evidence, hide));
    finding.help = redacted(&finding.help, hide);
    finding.change = finding.change.as_deref().map(|change| redacted(change, hide));
    for related in &mut finding.related {
        related.message = redacted(&related.message, hide);
    }
}
