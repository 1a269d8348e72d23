//! Accepted findings, in a file under version control beside the subject file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name of the file.
pub const ACCEPTED_FILE: &str = "crdproof-accepted.yaml";

/// All accepted findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Accepted {
    /// Always `crdproof/v1alpha1`.
    pub api_version: String,
    /// Always `Accepted`.
    pub kind: String,
    /// The findings.
    pub findings: Vec<AcceptedFinding>,
}

/// One accepted finding. Only fingerprints count; the rest is for readers of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcceptedFinding {
    /// Its fingerprint.
    pub fingerprint: String,
    /// The check.
    pub check: String,
    /// The CRD.
    pub crd: String,
    /// The message of the finding.
    pub message: String,
    /// Its fields by their fingerprints. A field that is not listed is new, and fails.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

impl AcceptedFinding {
    /// Returns true if it accepts a finding with this fingerprint, alone or grouped with others under the second
    /// fingerprint.
    pub fn accepts(&self, own: &str, together: &str) -> bool {
        if self.fields.is_empty() {
            [own, together].contains(&self.fingerprint.as_str())
        } else {
            self.fields.contains_key(own)
        }
    }
}

impl Accepted {
    /// Returns the text of the file. Strings are quoted as JSON, which YAML reads.
    pub fn write(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut text =
            "# Findings that are accepted as they are; only new ones fail. Written by `crdproof accept`.\n".to_owned();
        text.push_str(&format!("apiVersion: {}\nkind: Accepted\nfindings:", crate::subject::API_VERSION));
        if self.findings.is_empty() {
            text.push_str(" []\n");
            return text;
        }
        text.push('\n');
        for AcceptedFinding { fingerprint, check, crd, message, fields } in &self.findings {
            text.push_str(&format!(
                "- fingerprint: {}\n  check: {check}\n  crd: {}\n",
                quoted(fingerprint),
                quoted(crd)
            ));
            text.push_str(&format!("  message: {}\n", quoted(message)));
            if !fields.is_empty() {
                text.push_str("  fields:\n");
            }
            for (fingerprint, path) in fields {
                text.push_str(&format!("    {}: {}\n", quoted(fingerprint), quoted(path)));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdproof_schema::document::{Sources, decode, parse};

    #[test]
    fn a_written_file_can_be_read_and_accepts_single_fields() {
        let fields = BTreeMap::from([("0123456789ab".to_owned(), ".spec.a".to_owned())]);
        let finding = |fields| AcceptedFinding {
            fingerprint: "00000000000e".into(),
            check: "converter/round-trip-lossless".into(),
            crd: "a.example.com".into(),
            message: "a \"quoted\": text\nof two lines".into(),
            fields,
        };
        let accepted = Accepted {
            api_version: crate::subject::API_VERSION.into(),
            kind: "Accepted".into(),
            findings: vec![finding(fields), finding(BTreeMap::new())],
        };
        let mut sources = Sources::default();
        let id = sources.add("accepted", accepted.write());
        let read: Accepted = decode(&parse(&sources, id).unwrap()[0]).unwrap();
        assert_eq!(read, accepted);
        assert!(read.findings[0].accepts("0123456789ab", "00000000000e"));
        assert!(!read.findings[0].accepts("ffffffffffff", "00000000000e"), "a new field is not accepted");
        assert!(read.findings[1].accepts("ffffffffffff", "00000000000e"));
    }
}
