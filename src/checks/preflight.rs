//! Combined results of a server's version and probes: known defects, and missing features.

use serde::Serialize;

use crate::evidence::ProbeResult;
use crate::subject::{Subject, UsedFeature, features_of};
use crdproof_schema::kubernetes::{ServerRule, ServerVersion, Standing, Weight};

/// One known defect, judged for a server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleResult {
    /// The rule's id.
    pub id: &'static str,
    /// `server/…`.
    pub name: String,
    /// The guarantee.
    pub title: &'static str,
    /// The severity of the defect.
    pub severity: Weight,
    /// The standing of the server's version in the table.
    pub table: Standing,
    /// The results of probes.
    pub probes: Vec<Probed>,
    /// The reason for having no probe, if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untested: Option<&'static str>,
    /// The combined verdict.
    pub verdict: RuleVerdict,
}

/// A probe and its result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Probed {
    /// The name of the probe.
    pub name: &'static str,
    /// Its result.
    #[serde(flatten)]
    pub result: ProbeResult,
}

/// The combined verdict of table and probes. A probe overrules the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RuleVerdict {
    /// The server behaves correctly.
    Good,
    /// The server behaves correctly although its version says otherwise: the fix was backported.
    Backported,
    /// The server has the defect.
    Bad,
    /// The server has the defect although its version says otherwise.
    Regressed,
    /// Neither table nor probes decide.
    Unclear,
}

impl RuleVerdict {
    /// Returns true if the server has the defect.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Bad | Self::Regressed)
    }

    fn of(table: &Standing, probes: &[Probed]) -> Self {
        let bad = probes.iter().any(|probe| matches!(probe.result, ProbeResult::Bad(_)));
        let good = probes.iter().any(|probe| matches!(probe.result, ProbeResult::Good(_)));
        match (table, bad, good) {
            (Standing::Good, true, _) => Self::Regressed,
            (_, true, _) | (Standing::Bad { .. }, false, false) => Self::Bad,
            (Standing::Bad { .. }, false, true) => Self::Backported,
            (Standing::Good, false, _) | (Standing::Unclear { .. }, false, true) => Self::Good,
            (Standing::Unclear { .. }, false, false) => Self::Unclear,
        }
    }
}

/// A feature that the subject uses.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NeededFeature {
    /// The feature.
    #[serde(rename = "what")]
    pub feature: String,
    /// The first release that has it.
    pub since: String,
    /// The places that use it.
    pub place: String,
    /// True if the server has it.
    #[serde(rename = "there")]
    pub available: bool,
    /// The behaviour of the server without it.
    pub otherwise: &'static str,
    /// True if objects keep their meaning without it.
    pub harmless: bool,
}

/// Judges one known defect by the server's version and by probes.
pub fn judge_rule(rule: &'static ServerRule, version: &ServerVersion, probes: Vec<Probed>) -> RuleResult {
    let table = rule.judge(version);
    let verdict = RuleVerdict::of(&table, &probes);
    RuleResult {
        id: &rule.id,
        name: format!("server/{}", rule.name),
        title: &rule.title,
        severity: rule.severity,
        table,
        probes,
        untested: rule.untested.as_deref(),
        verdict,
    }
}

/// Returns the features that a subject uses, with their availability on a server of this version.
pub fn needed_features(subject: &Subject, version: &ServerVersion) -> Vec<NeededFeature> {
    let mut needed = Vec::new();
    for crd in &subject.crds {
        for UsedFeature { feature, since, span } in features_of(crd) {
            needed.push(NeededFeature {
                feature: feature.what.clone(),
                since: since.to_string(),
                place: subject.sources.place(span).to_string(),
                available: version.behaves_as().minor >= since.minor,
                otherwise: feature.on(version.behaves_as()).does(),
                harmless: feature.harmless,
            });
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn bad() -> Standing {
        Standing::Bad { fixed_in: None }
    }

    fn unclear() -> Standing {
        Standing::Unclear { why: String::new() }
    }

    #[rstest]
    #[case(Standing::Good, None, RuleVerdict::Good)]
    #[case(Standing::Good, Some(ProbeResult::Bad(String::new())), RuleVerdict::Regressed)]
    #[case(bad(), None, RuleVerdict::Bad)]
    #[case(bad(), Some(ProbeResult::Bad(String::new())), RuleVerdict::Bad)]
    #[case(bad(), Some(ProbeResult::Good(String::new())), RuleVerdict::Backported)]
    #[case(bad(), Some(ProbeResult::Unclear(String::new())), RuleVerdict::Bad)]
    #[case(unclear(), None, RuleVerdict::Unclear)]
    #[case(unclear(), Some(ProbeResult::Good(String::new())), RuleVerdict::Good)]
    #[case(unclear(), Some(ProbeResult::Bad(String::new())), RuleVerdict::Bad)]
    fn a_probe_overrules_the_table(
        #[case] table: Standing,
        #[case] result: Option<ProbeResult>,
        #[case] expected: RuleVerdict,
    ) {
        let probes: Vec<Probed> = result.into_iter().map(|result| Probed { name: "x", result }).collect();
        assert_eq!(RuleVerdict::of(&table, &probes), expected);
    }
}
