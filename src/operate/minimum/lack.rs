//! What can be lacking on a server, and what was seen there.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crdproof_schema::text::truncate;

/// So many characters of a value or of what somebody said are shown.
pub(super) const SHOWN: usize = 600;

/// Why a release is not good enough.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Lack {
    /// The CRD was refused, in the server's words.
    Refused {
        /// The CRD.
        crd: String,
        /// What the server said.
        said: String,
    },
    /// A part of the CRD was left out silently.
    Dropped {
        /// The CRD.
        crd: String,
        /// Where it stood, as a JSON pointer.
        path: String,
        /// What was sent.
        sent: Value,
    },
    /// A part of the CRD is another one now.
    Changed {
        /// The CRD.
        crd: String,
        /// Where it stands, as a JSON pointer.
        path: String,
        /// What was sent.
        sent: Value,
        /// What is stored.
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
        /// The value there.
        value: Value,
    },
    /// A write that must be admitted was refused, in the server's words.
    Rejected {
        /// The CRD.
        crd: String,
        /// The version.
        version: String,
        /// Which object: a sample's name, or a number.
        object: String,
        /// What the server said.
        said: String,
    },
    /// A part of an object that was admitted is gone or another one.
    Lost {
        /// The CRD.
        crd: String,
        /// The version.
        version: String,
        /// Which object: a sample's name, or a number.
        object: String,
        /// Where it stood, as a JSON pointer.
        path: String,
        /// What was sent.
        sent: Value,
        /// What came of it; null where nothing did.
        stored: Value,
    },
    /// A check of scenarios does not hold.
    Verdict {
        /// The check.
        check: String,
        /// The CRD.
        crd: String,
        /// Whether that is the server's doing, and known.
        known_server_issue: bool,
        /// What was found.
        said: String,
    },
    /// The command said no.
    Command {
        /// How it ended and the last that it said.
        said: String,
    },
}

impl Lack {
    /// Whether both are about one place or object, in whatever words.
    fn is_about_the_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rejected { crd, version, object, .. }, Self::Rejected { crd: c, version: v, object: o, .. }) => {
                (crd, version, object) == (c, v, o)
            }
            (Self::Verdict { check, crd, .. }, Self::Verdict { check: k, crd: c, .. }) => (check, crd) == (k, c),
            (
                Self::Lost { crd, version, object, path, .. },
                Self::Lost { crd: c, version: v, object: o, path: p, .. },
            ) => (crd, version, object, path) == (c, v, o, p),
            (Self::Changed { crd, path, .. }, Self::Changed { crd: c, path: p, .. }) => (crd, path) == (c, p),
            _ => self == other,
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { crd, said } => write!(f, "refuses the CRD {crd}: {said}"),
            Self::Dropped { crd, path, sent } => write!(f, "drops {path} of {crd} silently; sent was {}", short(sent)),
            Self::Changed { crd, path, sent, stored } => {
                write!(f, "changes {path} of {crd}: sent was {}, stored is {}", short(sent), short(stored))
            }
            Self::Admitted { crd, version, keyword, field, value } => {
                write!(f, "admits {field}: {} of {crd} {version}, which {keyword} forbids", short(value))
            }
            Self::Rejected { crd, version, object, said } => {
                write!(f, "refuses the valid object {object} of {crd} {version}: {said}")
            }
            Self::Lost { crd, version, object, path, sent, stored } => {
                let (sent, stored) = (short(sent), short(stored));
                write!(f, "loses {path} of the object {object} of {crd} {version}: sent was {sent}, stored is {stored}")
            }
            Self::Verdict { check, crd, said, .. } => write!(f, "does not hold {check} for {crd}: {said}"),
            Self::Command { said } => write!(f, "the command failed: {said}"),
        }
    }
}

/// What was seen on one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sight {
    /// What is lacking; a release without any is good.
    pub lacks: Vec<Lack>,
    /// The server's warnings, each once.
    pub warnings: Vec<String>,
    /// What is different and costs nothing, or is so on every release.
    pub notes: Vec<String>,
    /// CRDs, and objects that were sent.
    pub tried: usize,
}

impl Sight {
    /// Whether the release gives everything.
    pub fn is_good(&self) -> bool {
        self.lacks.is_empty()
    }

    pub(super) fn warned(&mut self, warnings: Vec<String>) {
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Says everything that servers and commands said, and that was sent, in other words: without secrets. Only then it is
    /// cut, since half a secret is not known any more.
    pub fn reword(&mut self, reword: &dyn Fn(&str) -> String) {
        for text in self.warnings.iter_mut().chain(&mut self.notes) {
            *text = reword(text);
        }
        for lack in &mut self.lacks {
            match lack {
                Lack::Refused { said, .. } | Lack::Rejected { said, .. } => *said = truncate(&reword(said), SHOWN),
                Lack::Verdict { said, .. } | Lack::Command { said } => *said = reword(said),
                Lack::Dropped { sent, .. } | Lack::Admitted { value: sent, .. } => reword_value(sent, reword),
                Lack::Changed { sent, stored, .. } | Lack::Lost { sent, stored, .. } => {
                    reword_value(sent, reword);
                    reword_value(stored, reword);
                }
            }
        }
    }

    /// Takes what was expected wrongly off: a release that has everything by table does the same.
    pub fn without(&mut self, wrong: &[Lack]) {
        for lack in wrong {
            if let Some(at) = self.lacks.iter().position(|own| own.is_about_the_same_as(lack)) {
                self.lacks.remove(at);
                self.notes.push(format!("the newest release does so, too: {lack}"));
            }
        }
    }

    /// What can only be our own mistake where the release has everything by table. The CRD and samples are the subject's.
    pub fn expectations(&self) -> Vec<Lack> {
        let ours = |lack: &&Lack| match lack {
            Lack::Dropped { .. } | Lack::Changed { .. } | Lack::Admitted { .. } | Lack::Lost { .. } => true,
            Lack::Rejected { object, .. } => object.starts_with('#'),
            Lack::Verdict { known_server_issue, .. } => *known_server_issue,
            Lack::Refused { .. } | Lack::Command { .. } => false,
        };
        self.lacks.iter().filter(ours).cloned().collect()
    }
}

fn reword_value(value: &mut Value, reword: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = reword(text),
        Value::Array(items) => items.iter_mut().for_each(|item| reword_value(item, reword)),
        Value::Object(fields) => fields.values_mut().for_each(|field| reword_value(field, reword)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn short(value: &Value) -> String {
    truncate(&value.to_string(), SHOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Whatever a sight may hold: each place has the secret, and none has it afterwards.
    #[test]
    fn no_place_keeps_its_words() {
        let text = || "it was canary-7 there".to_owned();
        let value = || json!({"list": [{"key": "canary-7"}], "count": 7, "none": null, "yes": true});
        let (crd, version, object, path) = (String::new, String::new, String::new, String::new);
        let mut sight = Sight {
            lacks: vec![
                Lack::Refused { crd: crd(), said: text() },
                Lack::Dropped { crd: crd(), path: path(), sent: value() },
                Lack::Changed { crd: crd(), path: path(), sent: value(), stored: value() },
                Lack::Admitted { crd: crd(), version: version(), keyword: path(), field: path(), value: value() },
                Lack::Rejected { crd: crd(), version: version(), object: object(), said: text() },
                Lack::Lost {
                    crd: crd(),
                    version: version(),
                    object: object(),
                    path: path(),
                    sent: value(),
                    stored: value(),
                },
                Lack::Verdict { check: path(), crd: crd(), known_server_issue: false, said: text() },
                Lack::Command { said: text() },
            ],
            warnings: vec![text()],
            notes: vec![text()],
            tried: 1,
        };
        let all = |sight: &Sight| serde_json::to_string(sight).unwrap();
        assert_eq!(all(&sight).matches("canary-7").count(), 12);
        sight.reword(&|text| text.replace("canary-7", "•••"));
        assert_eq!((all(&sight).matches("canary-7").count(), all(&sight).matches("•••").count()), (0, 12));
    }

    /// The limit falls into the secret; so does that of a note about a value.
    #[test]
    fn a_secret_is_hidden_before_the_text_is_cut() {
        let text = format!("{}canary-7 and more", "x".repeat(SHOWN - 4));
        let lacks = vec![
            Lack::Refused { crd: String::new(), said: text.clone() },
            Lack::Dropped { crd: String::new(), path: String::new(), sent: json!(text) },
        ];
        let mut sight = Sight { lacks, ..Sight::default() };
        sight.reword(&|text| text.replace("canary-7", "•••"));
        let wrong = sight.expectations();
        sight.without(&wrong);
        let Some(Lack::Refused { said, .. }) = sight.lacks.first() else { panic!("{sight:?}") };
        assert!(said.ends_with("x••• …"), "{said}");
        assert!(sight.notes[0].contains("x•••") && !sight.notes[0].contains("cana"), "{:?}", sight.notes);
    }
}
