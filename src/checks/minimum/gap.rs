//! Reasons why a release does not support a subject.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crdproof_schema::text::truncate;

/// The maximum number of characters of a value or message.
pub(crate) const MAX_SHOWN: usize = 600;

/// One unsupported feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Gap {
    /// The server refused the CRD.
    Refused {
        /// The CRD.
        crd: String,
        /// The server's message.
        message: String,
    },
    /// The server silently dropped a part of the CRD.
    Dropped {
        /// The CRD.
        crd: String,
        /// Its JSON pointer.
        path: String,
        /// The content that was sent.
        sent: Value,
    },
    /// The server changed a part of the CRD.
    Changed {
        /// The CRD.
        crd: String,
        /// Its JSON pointer.
        path: String,
        /// The content that was sent.
        sent: Value,
        /// The stored content.
        stored: Value,
    },
    /// A write that must be refused was admitted.
    Admitted {
        /// The CRD.
        crd: String,
        /// The version.
        version: String,
        /// The keyword that forbids it.
        keyword: String,
        /// The field.
        field: String,
        /// The value of the field.
        value: Value,
    },
    /// A write that must be admitted was refused.
    Rejected {
        /// The CRD.
        crd: String,
        /// The version.
        version: String,
        /// The name of a sample, or the number of a generated object.
        object: String,
        /// True if it was generated.
        #[serde(skip)]
        generated: bool,
        /// The server's message.
        message: String,
    },
    /// A part of an admitted object is gone or changed.
    Lost {
        /// The CRD.
        crd: String,
        /// The version.
        version: String,
        /// The name of a sample, or the number of a generated object.
        object: String,
        /// Its JSON pointer.
        path: String,
        /// The content that was sent.
        sent: Value,
        /// The content that the server returned; null if none.
        stored: Value,
    },
    /// A check of a scenario did not pass.
    Check {
        /// The check.
        check: String,
        /// The CRD.
        crd: String,
        /// True if it is a known server issue.
        known_server_issue: bool,
        /// The message of the finding.
        message: String,
    },
    /// The user's command failed.
    Command {
        /// Its exit status and its last output.
        message: String,
    },
}

impl Gap {
    /// Returns true if both are about the same place or object, whatever their messages.
    fn is_about_the_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rejected { crd, version, object, .. }, Self::Rejected { crd: c, version: v, object: o, .. }) => {
                (crd, version, object) == (c, v, o)
            }
            (Self::Check { check, crd, .. }, Self::Check { check: k, crd: c, .. }) => (check, crd) == (k, c),
            (
                Self::Lost { crd, version, object, path, .. },
                Self::Lost { crd: c, version: v, object: o, path: p, .. },
            ) => (crd, version, object, path) == (c, v, o, p),
            (Self::Changed { crd, path, .. }, Self::Changed { crd: c, path: p, .. }) => (crd, path) == (c, p),
            _ => self == other,
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { crd, message } => write!(f, "refuses the CRD {crd}: {message}"),
            Self::Dropped { crd, path, sent } => write!(f, "drops {path} of {crd} silently; sent was {}", short(sent)),
            Self::Changed { crd, path, sent, stored } => {
                write!(f, "changes {path} of {crd}: sent was {}, stored is {}", short(sent), short(stored))
            }
            Self::Admitted { crd, version, keyword, field, value } => {
                write!(f, "admits {field}: {} of {crd} {version}, which {keyword} forbids", short(value))
            }
            Self::Rejected { crd, version, object, message, .. } => {
                write!(f, "refuses the valid object {object} of {crd} {version}: {message}")
            }
            Self::Lost { crd, version, object, path, sent, stored } => {
                let (sent, stored) = (short(sent), short(stored));
                write!(f, "loses {path} of the object {object} of {crd} {version}: sent was {sent}, stored is {stored}")
            }
            Self::Check { check, crd, message, .. } => write!(f, "fails {check} for {crd}: {message}"),
            Self::Command { message } => write!(f, "the command failed: {message}"),
        }
    }
}

/// The result for one release.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseResult {
    /// Unsupported features; a release without gaps is good.
    pub gaps: Vec<Gap>,
    /// The server's warnings, each once.
    pub warnings: Vec<String>,
    /// Differences that do not change the meaning of objects, or that every release has.
    pub notes: Vec<String>,
    /// The number of CRDs and objects that were sent.
    pub tried: usize,
}

impl ReleaseResult {
    /// Returns true if the release supports everything.
    pub fn is_good(&self) -> bool {
        self.gaps.is_empty()
    }

    pub(super) fn add_warnings(&mut self, warnings: &[String]) {
        for warning in warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
    }

    /// Redacts every text and value. Truncates only afterwards, because half a secret would not be recognised.
    pub fn redact(&mut self, redact: &dyn Fn(&str) -> String) {
        for text in self.warnings.iter_mut().chain(&mut self.notes) {
            *text = redact(text);
        }
        for gap in &mut self.gaps {
            match gap {
                Gap::Refused { message, .. } | Gap::Rejected { message, .. } => {
                    *message = truncate(&redact(message), MAX_SHOWN);
                }
                Gap::Check { message, .. } | Gap::Command { message } => *message = redact(message),
                Gap::Dropped { sent, .. } | Gap::Admitted { value: sent, .. } => redact_value(sent, redact),
                Gap::Changed { sent, stored, .. } | Gap::Lost { sent, stored, .. } => {
                    redact_value(sent, redact);
                    redact_value(stored, redact);
                }
            }
        }
    }

    /// Turns gaps into notes if a release with every feature by table has them, too: our expectation was wrong.
    pub fn excuse(&mut self, wrong: &[Gap]) {
        for gap in wrong {
            if let Some(at) = self.gaps.iter().position(|own| own.is_about_the_same_as(gap)) {
                self.gaps.remove(at);
                self.notes.push(format!("the newest release does the same: {gap}"));
            }
        }
    }

    /// Returns the gaps that must be our own mistake if the release has every feature by table. The CRD and the samples
    /// are the subject's.
    pub fn wrong_expectations(&self) -> Vec<Gap> {
        let ours = |gap: &&Gap| match gap {
            Gap::Dropped { .. } | Gap::Changed { .. } | Gap::Admitted { .. } | Gap::Lost { .. } => true,
            Gap::Rejected { generated, .. } => *generated,
            Gap::Check { known_server_issue, .. } => *known_server_issue,
            Gap::Refused { .. } | Gap::Command { .. } => false,
        };
        self.gaps.iter().filter(ours).cloned().collect()
    }
}

fn redact_value(value: &mut Value, redact: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = redact(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_value(item, redact)),
        Value::Object(fields) => fields.values_mut().for_each(|field| redact_value(field, redact)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn short(value: &Value) -> String {
    truncate(&value.to_string(), MAX_SHOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every text of a result contains the secret before, and none afterwards.
    #[test]
    fn every_place_is_redacted() {
        let text = || "it was canary-7 there".to_owned();
        let value = || json!({"list": [{"key": "canary-7"}], "count": 7, "none": null, "yes": true});
        let (crd, version, object, path) = (String::new, String::new, String::new, String::new);
        let mut result = ReleaseResult {
            gaps: vec![
                Gap::Refused { crd: crd(), message: text() },
                Gap::Dropped { crd: crd(), path: path(), sent: value() },
                Gap::Changed { crd: crd(), path: path(), sent: value(), stored: value() },
                Gap::Admitted { crd: crd(), version: version(), keyword: path(), field: path(), value: value() },
                Gap::Rejected { crd: crd(), version: version(), object: object(), generated: false, message: text() },
                Gap::Lost {
                    crd: crd(),
                    version: version(),
                    object: object(),
                    path: path(),
                    sent: value(),
                    stored: value(),
                },
                Gap::Check { check: path(), crd: crd(), known_server_issue: false, message: text() },
                Gap::Command { message: text() },
            ],
            warnings: vec![text()],
            notes: vec![text()],
            tried: 1,
        };
        let all = |result: &ReleaseResult| serde_json::to_string(result).unwrap();
        assert_eq!(all(&result).matches("canary-7").count(), 12);
        result.redact(&|text| text.replace("canary-7", "•••"));
        assert_eq!((all(&result).matches("canary-7").count(), all(&result).matches("•••").count()), (0, 12));
    }

    /// The limit cuts the secret; so does that of a note about a value.
    #[test]
    fn secrets_are_redacted_before_texts_are_truncated() {
        let text = format!("{}canary-7 and more", "x".repeat(MAX_SHOWN - 4));
        let gaps = vec![
            Gap::Refused { crd: String::new(), message: text.clone() },
            Gap::Dropped { crd: String::new(), path: String::new(), sent: json!(text) },
        ];
        let mut result = ReleaseResult { gaps, ..ReleaseResult::default() };
        result.redact(&|text| text.replace("canary-7", "•••"));
        let wrong = result.wrong_expectations();
        result.excuse(&wrong);
        let Some(Gap::Refused { message, .. }) = result.gaps.first() else { panic!("{result:?}") };
        assert!(message.ends_with("x••• …"), "{message}");
        assert!(result.notes[0].contains("x•••") && !result.notes[0].contains("cana"), "{:?}", result.notes);
    }
}
