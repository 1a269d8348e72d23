//! Conformance reports: the claims of an implementation, in the format that Gateway API established.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::civil::Date;
use sha2::{Digest as _, Sha256};

use super::{Outcome, Report};
use crate::checks::{self, Check, Severity};
use crate::subject::{API_VERSION, Implementation};

/// The parts of a conformance report besides the verdicts.
#[derive(Debug, Clone, Copy)]
pub struct Conduct<'a> {
    /// The party that claims conformance.
    pub implementation: &'a Implementation,
    /// The lowest Kubernetes release that is claimed.
    pub minimum: Option<&'a str>,
    /// The day of the run.
    pub day: Date,
    /// The command that repeats the run.
    pub command: &'a str,
    /// The number of generated objects of every version.
    pub objects: usize,
}

/// A profile and its family of checks.
const PROFILES: [(&str, &str); 2] = [("CONVERSION", "converter"), ("WIRE", "webhook")];

/// Writes the report as YAML. Its last line is a digest of all lines before it.
pub fn conformance(report: &Report, conduct: &Conduct<'_>) -> String {
    let mut text =
        "# Written by crdproof, not by hand: the last line is the SHA-256 of all lines before it.\n".to_owned();
    head(&mut text, report, conduct);
    text.push_str("profiles:\n");
    for (name, family) in PROFILES {
        let [core, extended] =
            [true, false].map(|core| Level::of(report, |check| check.family() == family && is_core(check) == core));
        let _ = writeln!(text, "- name: {name}");
        let _ =
            writeln!(text, "  summary: {}", quoted(&format!("Core {}. Extended {}.", core.words(), extended.words())));
        core.write(&mut text, "core");
        extended.write(&mut text, "extended");
    }
    let _ = writeln!(text, "reproduction:\n  command: {}", quoted(conduct.command));
    let _ = writeln!(text, "  seed: {}\n  objects: {}", report.seed, conduct.objects);
    let digest: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    text + &format!("digest: \"sha256:{digest}\"\n")
}

/// Returns true for core checks: failing one loses data, ownership or availability. The registry decides, not the
/// suite.
fn is_core(check: &Check) -> bool {
    check.severity == Severity::Error
}

fn head(text: &mut String, report: &Report, conduct: &Conduct<'_>) {
    let Implementation { organization, project, version, url, contact } = conduct.implementation;
    let given = |value: &Option<String>| quoted(value.as_deref().unwrap_or_default());
    let contact: Vec<String> = contact.iter().map(|one| quoted(one)).collect();
    let _ = writeln!(text, "apiVersion: {API_VERSION}\nkind: ConformanceReport\ndate: \"{}\"", conduct.day);
    let _ =
        writeln!(text, "tool: {{name: crdproof, version: {}, seed: {}}}", quoted(&report.tool_version), report.seed);
    let _ = writeln!(text, "implementation:\n  organization: {}\n  project: {}", given(organization), given(project));
    let _ = writeln!(text, "  version: {}\n  url: {}", given(version), given(url));
    let _ = writeln!(text, "  contact: [{}]\ncrds:", contact.join(", "));
    for crd in &report.crds {
        let versions: Vec<String> = crd.versions.iter().map(|version| quoted(&version.name)).collect();
        let stored = crd.versions.iter().find(|version| version.storage).map_or("", |version| version.name.as_str());
        let _ = writeln!(
            text,
            "- {{name: {}, versions: [{}], storage: {}, conversion: {}}}",
            quoted(&crd.name),
            versions.join(", "),
            quoted(stored),
            quoted(&crd.strategy)
        );
    }
    if let Some(minimum) = conduct.minimum {
        let _ = writeln!(text, "kubernetes: {{minimum: {}}}", quoted(minimum));
    }
    text.push_str("mode: default\n");
}

/// The verdicts of one level of a profile.
#[derive(Debug, Default)]
struct Level {
    passed: usize,
    failed: BTreeSet<(String, String)>,
    skipped: BTreeSet<(String, String, String)>,
    inconclusive: BTreeSet<(String, String, String)>,
}

impl Level {
    /// Every check of the level on every CRD that converts something. Checks that the run left out are skipped.
    fn of(report: &Report, belongs: impl Fn(&Check) -> bool) -> Self {
        let mut level = Self::default();
        let converting = report.crds.iter().filter(|crd| crd.versions.len() > 1);
        for crd in converting {
            for check in checks::ALL.iter().filter(|check| belongs(check)) {
                let on = || (check.id.to_owned(), crd.name.clone());
                let because = |reason: &str| (check.id.to_owned(), crd.name.clone(), reason.to_owned());
                let result = report.results.iter().find(|result| result.check == check.id && result.crd == crd.name);
                let skipped =
                    report.skipped.iter().find(|skipped| skipped.check == check.id && skipped.crd == crd.name);
                match result.map(|result| (result.outcome, result.reason.as_deref().unwrap_or_default())) {
                    Some((Outcome::Passed, _)) => level.passed += 1,
                    // A waiver accepts a finding, but does not make the test pass.
                    Some((Outcome::Failed, _)) => drop(level.failed.insert(on())),
                    Some((Outcome::Inconclusive | Outcome::KnownServerIssue, reason)) => {
                        level.inconclusive.insert(because(reason));
                    }
                    None => {
                        let reason = skipped.map_or("the run left it out", |skipped| skipped.reason.as_str());
                        level.skipped.insert(because(reason));
                    }
                }
            }
        }
        level
    }

    fn result(&self) -> &'static str {
        if !self.failed.is_empty() {
            "failure"
        } else if self.passed > 0 && self.skipped.is_empty() && self.inconclusive.is_empty() {
            "success"
        } else {
            "partial"
        }
    }

    fn words(&self) -> String {
        let open = self.skipped.len() + self.inconclusive.len();
        match self.result() {
            "failure" => format!("failed {} tests", self.failed.len()),
            "success" => "passed".to_owned(),
            _ => format!("partially passed with {open} tests left open"),
        }
    }

    fn write(&self, text: &mut String, name: &str) {
        let (passed, failed) = (self.passed, self.failed.len());
        let (skipped, inconclusive) = (self.skipped.len(), self.inconclusive.len());
        let _ = writeln!(text, "  {name}:\n    result: {}", self.result());
        let _ = writeln!(
            text,
            "    statistics: {{passed: {passed}, failed: {failed}, skipped: {skipped}, inconclusive: {inconclusive}}}"
        );
        if failed > 0 {
            text.push_str("    failedTests:\n");
        }
        for (test, crd) in &self.failed {
            let _ = writeln!(text, "    - {{test: {test}, crd: {}}}", quoted(crd));
        }
        for (list, tests) in [("skippedTests", &self.skipped), ("inconclusiveTests", &self.inconclusive)] {
            if !tests.is_empty() {
                let _ = writeln!(text, "    {list}:");
            }
            for (test, crd, reason) in tests {
                let _ = writeln!(text, "    - {{test: {test}, crd: {}, reason: {}}}", quoted(crd), quoted(reason));
            }
        }
    }
}

/// A string that YAML reads anywhere, written as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
