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
    #[serde(default)]
    fields: Vec<Field>,
    #[serde(default)]
    reproduce: Option<String>,
}

impl Finding {
    /// Returns the check that failed.
    pub(crate) fn check(&self) -> &str {
        &self.check
    }

    /// Returns the fingerprint of the finding.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the command that shows the finding again.
    pub(crate) fn reproduce(&self) -> Option<&str> {
        self.reproduce.as_deref()
    }
}

/// A field that a finding concerns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Field {
    #[serde(default)]
    path: Option<String>,
}

/// Our judgement of a finding, by the code of the vendor.
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
    /// Intended by the vendor, and documented or harmless.
    Accepted,
}

/// A finding that must be found, unless it is said that it sometimes is not.
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
    /// The fields of an error; an error with other fields is another error.
    #[serde(default)]
    fields: BTreeSet<String>,
    verdict: Verdict,
    /// `file:line` in the vendor's module.
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    /// Fields that are judged differently.
    #[serde(default)]
    except: Vec<Exception>,
    /// The reason why it is not found in every run; otherwise it must be.
    #[serde(default)]
    sometimes: Option<String>,
}

/// Fields of a finding with a separate judgement.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    /// Suffixes of the fields' paths.
    fields: Vec<String>,
    verdict: Verdict,
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

/// The findings of a vendor.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// The fingerprint of the finding that a reader must see first.
    #[serde(default)]
    first: Option<String>,
    findings: Vec<Entry>,
}

impl Expected {
    /// Reads the file; without a file, no findings are expected.
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
        let new = found.iter().flat_map(|finding| match expected.get(&finding.fingerprint) {
            None => vec![format!("+ {}", finding.line())],
            Some(entry) => entry.differences(finding),
        });
        let is_gone = |entry: &&Entry| entry.sometimes.is_none() && !seen.contains(&entry.fingerprint);
        let gone = self.findings.iter().filter(is_gone);
        let gone = gone.map(|entry| format!("- {} [{}] {}", entry.check, entry.fingerprint, entry.message));
        let open = self.findings.iter().flat_map(|entry| {
            let lacks = entry.lacks().into_iter();
            lacks.map(|lack| format!("? {} [{}] {lack}", entry.check, entry.fingerprint))
        });
        let first = found.first().filter(|found| self.first.as_ref().is_some_and(|first| *first != found.fingerprint));
        let first = first.map(|found| format!("the first finding is {}", found.line()));
        new.chain(gone).chain(open).chain(first).collect()
    }

    /// The list for these findings: entries keep their judgement, by fingerprint or, if that has changed, by check and
    /// message.
    pub(crate) fn updated(&self, found: &[Finding]) -> Self {
        let mut found = found.to_vec();
        found.sort();
        let prints: BTreeSet<String> = found.iter().map(|finding| finding.fingerprint.clone()).collect();
        let gone: Vec<&Entry> = self.findings.iter().filter(|entry| !prints.contains(&entry.fingerprint)).collect();
        let findings = found.into_iter().map(|finding| {
            let same_print = self.findings.iter().find(|entry| entry.fingerprint == finding.fingerprint);
            let known = same_print.or_else(|| gone.iter().copied().find(|entry| entry.names(&finding)));
            Entry {
                verdict: known.map_or(Verdict::Unjudged, |entry| entry.verdict),
                at: known.and_then(|entry| entry.at.clone()),
                reason: known.and_then(|entry| entry.reason.clone()),
                except: known.map(|entry| entry.except.clone()).unwrap_or_default(),
                sometimes: known.and_then(|entry| entry.sometimes.clone()),
                fields: finding.fields_of_error(),
                check: finding.check,
                severity: finding.severity,
                crd: finding.crd,
                version: finding.version,
                path: finding.path,
                message: finding.message,
                fingerprint: finding.fingerprint,
            }
        });
        let unseen = gone.iter().filter(|entry| entry.sometimes.is_some()).map(|entry| (*entry).clone());
        Self { first: self.first.clone(), findings: findings.chain(unseen).collect() }
    }

    /// Writes the file.
    pub(crate) fn to_yaml(&self) -> String {
        let mut text =
            "# Written by scripts/vendors --update; first, verdict, at, reason, sometimes and except by hand.\n"
                .to_owned();
        write_line(&mut text, "first", self.first.as_deref());
        text.push_str(if self.findings.is_empty() { "findings: []\n" } else { "findings:\n" });
        for entry in &self.findings {
            let lines = [
                ("- check", Some(&entry.check)),
                ("  severity", Some(&entry.severity)),
                ("  crd", entry.crd.as_ref()),
                ("  version", entry.version.as_ref()),
                ("  path", entry.path.as_ref()),
                ("  message", Some(&entry.message)),
                ("  fingerprint", Some(&entry.fingerprint)),
            ];
            for (key, value) in lines {
                write_line(&mut text, key, value.map(String::as_str));
            }
            write_judgement(&mut text, "  ", entry.verdict, entry.at.as_deref(), entry.reason.as_deref());
            write_line(&mut text, "  sometimes", entry.sometimes.as_deref());
            if !entry.except.is_empty() {
                text.push_str("  except:\n");
            }
            for exception in &entry.except {
                let fields: Vec<_> = exception.fields.iter().map(|field| yaml(field)).collect();
                let _ = writeln!(text, "  - fields: [{}]", fields.join(", "));
                let Exception { verdict, at, reason, .. } = exception;
                write_judgement(&mut text, "    ", *verdict, at.as_deref(), reason.as_deref());
            }
            if !entry.fields.is_empty() {
                text.push_str("  fields:\n");
            }
            for field in &entry.fields {
                let _ = writeln!(text, "  - {}", yaml(field));
            }
        }
        text
    }
}

impl Entry {
    /// Describes how the finding differs from the entry with its fingerprint.
    fn differences(&self, finding: &Finding) -> Vec<String> {
        let changed =
            (self.severity != finding.severity).then(|| format!("± {} (was {})", finding.line(), self.severity));
        let fields = finding.fields_of_error();
        let line = |sign: char, field: &String| format!("{sign} {} [{}] {field}", self.check, self.fingerprint);
        let new = fields.difference(&self.fields).map(|field| line('+', field));
        let gone = self.fields.difference(&fields).map(|field| line('-', field));
        changed.into_iter().chain(new).chain(gone).collect()
    }

    /// The missing parts of the judgement.
    fn lacks(&self) -> Vec<String> {
        let mut lacks = lacks(self.verdict, self.at.as_ref(), self.reason.as_ref());
        for exception in &self.except {
            lacks.extend(self::lacks(exception.verdict, exception.at.as_ref(), exception.reason.as_ref()));
            let unused = |ending: &&String| !self.fields.iter().any(|field| field.ends_with(ending.as_str()));
            let unused = exception.fields.iter().filter(unused);
            lacks.extend(unused.map(|ending| format!("excepts {ending}, which is none of its fields")));
        }
        lacks
    }

    /// Returns true if the entry is about this finding, whatever its fingerprint.
    fn names(&self, finding: &Finding) -> bool {
        self.check == finding.check
            && self.crd == finding.crd
            && self.version == finding.version
            && (self.path == finding.path || !finding.fields.is_empty())
            && self.severity == finding.severity
    }
}

fn lacks(verdict: Verdict, at: Option<&String>, reason: Option<&String>) -> Vec<String> {
    let place = verdict == Verdict::Defect && at.is_none();
    let lacks = [
        (verdict == Verdict::Unjudged, "is not judged: read the vendor's code, and write verdict, at and reason"),
        (place, "is a defect without `at`: name file:line in the vendor's module"),
        (verdict != Verdict::Unjudged && reason.is_none(), "has no reason"),
    ];
    lacks.into_iter().filter(|(lacks, _)| *lacks).map(|(_, lack)| lack.to_owned()).collect()
}

impl Finding {
    fn line(&self) -> String {
        let Self { severity, check, fingerprint, message, .. } = self;
        format!("{severity} {check} [{fingerprint}] {message}")
    }

    /// The fields of an error. Those of warnings and notes depend on which values were generated.
    fn fields_of_error(&self) -> BTreeSet<String> {
        let fields = self.fields.iter().filter(|_| self.severity == "error");
        fields.filter_map(|field| field.path.clone()).collect()
    }
}

fn write_judgement(text: &mut String, indent: &str, verdict: Verdict, at: Option<&str>, reason: Option<&str>) {
    let verdict = match verdict {
        Verdict::Unjudged => "unjudged",
        Verdict::Defect => "defect",
        Verdict::Representation => "representation",
        Verdict::SchemaTooWide => "schema-too-wide",
        Verdict::Accepted => "accepted",
    };
    write_line(text, &format!("{indent}verdict"), Some(verdict));
    write_line(text, &format!("{indent}at"), at);
    write_line(text, &format!("{indent}reason"), reason);
}

fn write_line(text: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        let _ = writeln!(text, "{key}: {}", yaml(value));
    }
}

/// A text as a YAML scalar: plain if that is safe, else as JSON, which is YAML, too.
fn yaml(value: &str) -> String {
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "/.-_".contains(c));
    let plain = plain && value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.');
    if plain { value.to_owned() } else { serde_json::Value::from(value).to_string() }
}
