//! What an API server answers to an object.

use serde::Serialize;
use serde_json::Value;

/// Why a field is refused, in the words of the `causes` of a server's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Reason {
    /// Two items of a set, or two entries of a list map, are the same.
    #[serde(rename = "FieldValueDuplicate")]
    Duplicate,
    /// The field must not be there.
    #[serde(rename = "FieldValueForbidden")]
    Forbidden,
    /// The value breaks a constraint that has no reason of its own.
    #[serde(rename = "FieldValueInvalid")]
    Invalid,
    /// The value is not one of an enumeration.
    #[serde(rename = "FieldValueNotSupported")]
    NotSupported,
    /// The field is missing.
    #[serde(rename = "FieldValueRequired")]
    Required,
    /// A string is too long.
    #[serde(rename = "FieldValueTooLong")]
    TooLong,
    /// A list or a map has too many entries.
    #[serde(rename = "FieldValueTooMany")]
    TooMany,
    /// The value is of another type, or a string is not of its format.
    #[serde(rename = "FieldValueTypeInvalid")]
    TypeInvalid,
}

impl Reason {
    /// The word in a server's answer.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Required => "FieldValueRequired",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }
}

/// One thing an API server would complain about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The field as the server writes it, such as `spec.ports[0].name`. The server has no path for
    /// the root and for whole compositions, and writes `<nil>` there.
    pub field: String,
    /// JSON pointer to the value, or to where the missing one would be.
    pub pointer: String,
    /// The reason that the server gives.
    pub reason: Reason,
    /// The schema keyword that is violated, `x-kubernetes-validations` for a rule, or the object
    /// field (`metadata`, `kind`) for what holds without any schema.
    pub keyword: &'static str,
    /// What is wrong, with the constraint and the value.
    pub message: String,
}

/// The remark of a server that did not evaluate rules because of other violations.
pub(super) const RULES_NOT_CHECKED: &str = "rules were not checked because of other violations";

impl Violation {
    /// Returns the path of the field with a leading dot, such as `.spec.ports[0].name`. The server has none for some
    /// violations.
    pub fn path(&self) -> Option<String> {
        (self.field != "<nil>").then(|| format!(".{}", self.field))
    }

    /// Returns whether it only says that rules were not checked because of other violations.
    pub fn is_remark(&self) -> bool {
        self.message == RULES_NOT_CHECKED
    }
}

/// A rule on which our expression engine and an API server may not agree, so that it was neither
/// passed nor failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inconclusive {
    /// The field that the rule is attached to, as the server writes it.
    pub field: String,
    /// The expression.
    pub rule: String,
    /// What our engine cannot do.
    pub why: String,
}

/// The violations of a value, and what could not be decided.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// What a server would complain about.
    pub violations: Vec<Violation>,
    /// Rules that could not be evaluated.
    pub inconclusive: Vec<Inconclusive>,
}

impl Findings {
    /// Returns whether nothing is wrong and nothing is left open.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty() && self.inconclusive.is_empty()
    }
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted.
    Admitted,
    /// Status 422, with its causes.
    Refused(Vec<Violation>),
    /// Status 400: the object cannot be read at all.
    Malformed(String),
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Admission {
    /// The object as the server would answer it: pruned, nulls dropped, defaulted, numbers in the
    /// form in which they are printed, and without the metadata that a server sets itself.
    pub object: Value,
    /// Paths of the fields that were pruned, as `.spec.x[0].y`.
    pub pruned: Vec<String>,
    /// Whether the object was accepted.
    pub outcome: Outcome,
    /// Rules that could not be evaluated. Where there are any, [`Outcome::Admitted`] holds only if
    /// they would have passed.
    pub inconclusive: Vec<Inconclusive>,
}

impl Admission {
    /// Returns whether the object was accepted and no rule is left open.
    pub fn is_admitted(&self) -> bool {
        self.outcome == Outcome::Admitted && self.inconclusive.is_empty()
    }
}
