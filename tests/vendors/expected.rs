//! `expected.yaml`: the findings of a vendor, each with our judgement.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crdproof_schema::document::{Sources, decode, parse};
use libtest_mimic::Failed;
use serde::Deserialize;

/// A finding of a report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) struct Finding {
    crd: Option<String>,
    check: String,
    version: Option<String>,
    path: Option<String>,
    message: String,
    severity: String,
    fingerprint: String,
}

/// What the code of the vendor says about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    /// Nobody has read the code yet; fails the test.
    Unjudged,
    /// The vendor's code or manifest does harm; `at` names the place.
    Defect,
    /// The same meaning, written differently.
    Representation,
    /// The schema admits values that the converter cannot convert.
    SchemaTooWide,
    /// Meant by the vendor, and documented or harmless.
    Accepted,
}

/// A finding that must be found.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    check: String,
    severity: String,
    #[serde(default)]
    crd: Option<String>,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    path: Option<String>,
    message: String,
    fingerprint: String,
    verdict: Verdict,
    /// `file:line` in the vendor's module.
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

/// The findings of a vendor.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    findings: Vec<Entry>,
}

impl Expected {
    /// Reads the file; nothing is expected where there is none.
    pub(crate) fn read(file: &Path) -> Result<Self, Failed> {
        let name = file.display().to_string();
        let Ok(text) = std::fs::read_to_string(file) else { return Ok(Self::default()) };
        let mut sources = Sources::default();
        let id = sources.add(name.clone(), text);
        let documents = parse(&sources, id).map_err(|error| format!("{}: {error}", sources.place(error.span)))?;
        let document = documents.first().ok_or_else(|| format!("{name}: no document"))?;
        Ok(decode(document).map_err(|error| format!("{name}: {error}"))?)
    }

    /// Describes what is found and not expected, expected and not found, and not judged.
    pub(crate) fn differences(&self, found: &[Finding]) -> Vec<String> {
        let expected: BTreeMap<_, _> = self.findings.iter().map(|entry| (&entry.fingerprint, entry)).collect();
        let seen: BTreeSet<_> = found.iter().map(|finding| &finding.fingerprint).collect();
        let new = found.iter().filter_map(|finding| match expected.get(&finding.fingerprint) {
            None => Some(format!("+ {}", finding.line())),
            Some(entry) if entry.severity != finding.severity => {
                Some(format!("± {} (was {})", finding.line(), entry.severity))
            }
            Some(_) => None,
        });
        let gone = self.findings.iter().filter(|entry| !seen.contains(&entry.fingerprint));
        let gone = gone.map(|entry| format!("- {} [{}] {}", entry.check, entry.fingerprint, entry.message));
        let open =
            self.findings.iter().filter_map(|entry| Some(format!("? [{}] {}", entry.fingerprint, entry.lacks()?)));
        new.chain(gone).chain(open).collect()
    }

    /// The list for what is found: entries keep their judgement, by fingerprint or, if that has changed, by what they name.
    pub(crate) fn updated(&self, found: &[Finding]) -> Self {
        let mut found = found.to_vec();
        found.sort();
        let findings = found.into_iter().map(|finding| {
            let same_print = self.findings.iter().find(|entry| entry.fingerprint == finding.fingerprint);
            let known = same_print.or_else(|| self.findings.iter().find(|entry| entry.names(&finding)));
            Entry {
                verdict: known.map_or(Verdict::Unjudged, |entry| entry.verdict),
                at: known.and_then(|entry| entry.at.clone()),
                reason: known.and_then(|entry| entry.reason.clone()),
                check: finding.check,
                severity: finding.severity,
                crd: finding.crd,
                version: finding.version,
                path: finding.path,
                message: finding.message,
                fingerprint: finding.fingerprint,
            }
        });
        Self { findings: findings.collect() }
    }

    /// Writes the file.
    pub(crate) fn to_yaml(&self) -> String {
        let mut text =
            "# Written by scripts/vendors --update; verdict, at and reason by hand, from the vendor's code.\n"
                .to_owned();
        text.push_str(if self.findings.is_empty() { "findings: []\n" } else { "findings:\n" });
        for entry in &self.findings {
            let mut indent = "- ";
            let verdict = match entry.verdict {
                Verdict::Unjudged => "unjudged",
                Verdict::Defect => "defect",
                Verdict::Representation => "representation",
                Verdict::SchemaTooWide => "schema-too-wide",
                Verdict::Accepted => "accepted",
            };
            let mut write = |key: &str, value: Option<&str>| {
                let Some(value) = value else { return };
                // A JSON string is a YAML string, too.
                let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "/.-_".contains(c));
                let plain = plain && value.starts_with(|c: char| c.is_ascii_alphabetic());
                let value = if plain { value.to_owned() } else { serde_json::Value::from(value).to_string() };
                let _ = writeln!(text, "{indent}{key}: {value}");
                indent = "  ";
            };
            write("check", Some(&entry.check));
            write("severity", Some(&entry.severity));
            write("crd", entry.crd.as_deref());
            write("version", entry.version.as_deref());
            write("path", entry.path.as_deref());
            write("message", Some(&entry.message));
            write("fingerprint", Some(&entry.fingerprint));
            write("verdict", Some(verdict));
            write("at", entry.at.as_deref());
            write("reason", entry.reason.as_deref());
        }
        text
    }
}

impl Entry {
    /// What a judgement still lacks.
    fn lacks(&self) -> Option<&'static str> {
        match self.verdict {
            Verdict::Unjudged => Some("is not judged: read the vendor's code, and write verdict, at and reason"),
            Verdict::Defect if self.at.is_none() => {
                Some("is a defect without `at`: name file:line in the vendor's module")
            }
            _ if self.reason.is_none() => Some("has no reason"),
            Verdict::Defect | Verdict::Representation | Verdict::SchemaTooWide | Verdict::Accepted => None,
        }
    }

    /// Whether an entry names this finding, whatever its fingerprint.
    fn names(&self, finding: &Finding) -> bool {
        self.check == finding.check
            && self.crd == finding.crd
            && self.version == finding.version
            && self.path == finding.path
            && without_values(&self.message) == without_values(&finding.message)
    }
}

impl Finding {
    fn line(&self) -> String {
        let Self { severity, check, fingerprint, message, .. } = self;
        format!("{severity} {check} [{fingerprint}] {message}")
    }
}

/// A message without the values of the object that shows the finding: quoted texts, parentheses and numbers.
fn without_values(message: &str) -> String {
    let mut text = String::new();
    let (mut quoted, mut depth) = (false, 0_u32);
    for c in message.chars() {
        match c {
            '"' | '`' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            _ if quoted || depth > 0 || c.is_ascii_digit() => {}
            _ => text.push(c),
        }
    }
    text
}
