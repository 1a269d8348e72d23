//! Our verdict on a CRD, and its comparison with a server's.

use std::collections::BTreeSet;

use crdproof::checks::Severity;
use crdproof::report::{Outcome, Report};
use crdproof::run::{Observations, Options, Selection, Settings, judge, load_suite, plan_recorded};
use crdproof::subject::load::{Text, from_texts};
use serde_json::Value;

use super::plant::Defect;

/// Our verdict on a CRD.
pub(crate) struct Verdict {
    /// Errors and warnings, with their checks.
    errors: BTreeSet<String>,
    warnings: BTreeSet<String>,
    /// True if rules are left to the server.
    open: bool,
}

/// The verdict of a server on a CRD.
pub(crate) struct Answer {
    pub(crate) refused: bool,
    pub(crate) warned: bool,
}

/// The result of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcomes {
    Agree,
    /// Types and cost of a rule, which we leave to the server.
    LeftToTheServer,
    /// The server accepts it, but it does harm later.
    Harm,
    /// The server refuses it, and we report no error.
    SilentMiss,
    /// The server warns, and we report nothing.
    MissedWarning,
    /// The server accepts it, and we report an error.
    FalseAlarm,
}

impl Outcomes {
    pub(crate) fn is_wrong(self) -> bool {
        matches!(self, Self::SilentMiss | Self::MissedWarning | Self::FalseAlarm)
    }
}

/// Judges a CRD by all manifest checks. A CRD that cannot be loaded is an error.
pub(crate) fn verdict(crd: &Value) -> Verdict {
    let text = Text { name: "crd.json".into(), text: crd.to_string() };
    let subject = match from_texts(vec![text], Vec::new(), None) {
        Ok(subject) => subject,
        Err(error) => {
            return Verdict { errors: [error.to_string()].into(), warnings: BTreeSet::new(), open: false };
        }
    };
    let all = "apiVersion: crdproof/v1alpha1\nkind: Suite\ndescription: manifests\nchecks: ['manifest/*']\n";
    let suites = load_suite("manifests", "manifests", all).into_iter().collect();
    let selection = Selection { suites, ..Selection::default() };
    let settings = Settings { selection, seed: 1, ..Settings::default() };
    let observations = Observations::default();
    let plan = plan_recorded(&subject, &settings, &observations);
    let today = jiff::civil::date(2026, 1, 1);
    of_report(&judge(&plan, &observations, &Options::on(today)).report)
}

fn of_report(report: &Report) -> Verdict {
    let of = |severity: Severity| {
        let found = report.findings.iter().filter(move |finding| finding.severity == severity);
        found.map(|finding| format!("{}: {}", finding.check, finding.message)).collect()
    };
    let open = report
        .results
        .iter()
        .any(|result| result.check == "manifest/rules-affordable" && result.outcome == Outcome::Inconclusive);
    Verdict { errors: of(Severity::Error), warnings: of(Severity::Warning), open }
}

impl Verdict {
    /// Compares with a server. `before` is our verdict on the CRD without the defect.
    pub(crate) fn compare(&self, before: Option<&Self>, answer: &Answer, defect: &Defect) -> Outcomes {
        let new = |all: &BTreeSet<String>, old: fn(&Self) -> &BTreeSet<String>| {
            all.iter().any(|one| before.is_none_or(|before| !old(before).contains(one)))
        };
        let is_error = new(&self.errors, |verdict| &verdict.errors);
        let is_warning = new(&self.warnings, |verdict| &verdict.warnings);
        match (answer.refused, is_error) {
            (true, false) if defect.cel && self.open => Outcomes::LeftToTheServer,
            (true, false) => Outcomes::SilentMiss,
            (false, true) if defect.harm => Outcomes::Harm,
            (false, true) => Outcomes::FalseAlarm,
            (false, false) if answer.warned && !is_warning => Outcomes::MissedWarning,
            (true, true) | (false, false) => Outcomes::Agree,
        }
    }

    /// Our messages, shortened.
    pub(crate) fn summary(&self) -> String {
        let all = self.errors.iter().map(|text| format!("error {text}"));
        let all = all.chain(self.warnings.iter().map(|text| format!("warning {text}")));
        let text = all.collect::<Vec<_>>().join("; ");
        text.chars().take(300).collect()
    }
}
