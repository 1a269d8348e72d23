//! What can be lacking on a server, and what was seen there.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

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
    /// A check of journeys does not hold.
    Verdict {
        /// The check.
        check: String,
        /// The CRD.
        crd: String,
        /// Whether that is the server's doing, and known.
        server_fact: bool,
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
            Lack::Dropped { .. } | Lack::Changed { .. } | Lack::Admitted { .. } => true,
            Lack::Rejected { object, .. } => object.starts_with('#'),
            Lack::Verdict { server_fact, .. } => *server_fact,
            Lack::Refused { .. } | Lack::Command { .. } => false,
        };
        self.lacks.iter().filter(ours).cloned().collect()
    }
}

pub(super) fn clipped(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain("…".chars()).collect()
}

fn short(value: &Value) -> String {
    clipped(&value.to_string())
}
