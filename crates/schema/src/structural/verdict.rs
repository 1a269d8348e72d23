//! The response of an API server to an object.

use serde::Serialize;
use serde_json::Value;

/// The reason for refusing a field, as in the `causes` of a server's response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Reason {
    /// Two items of a set, or two entries of a list map, are the same.
    #[serde(rename = "FieldValueDuplicate")]
    Duplicate,
    /// The field must not be there.
    #[serde(rename = "FieldValueForbidden")]
    Forbidden,
    /// The value violates a constraint without a specific reason.
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
    /// The value has another type, or a string does not have its format.
    #[serde(rename = "FieldValueTypeInvalid")]
    TypeInvalid,
}

impl Reason {
    /// The name in a server's response.
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

/// One error of an API server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The field as the server writes it, such as `spec.ports[0].name`. The server has no path for
    /// the root and for whole compositions, and writes `<nil>` there.
    pub field: String,
    /// JSON pointer to the value, or to where the missing one would be.
    pub pointer: String,
    /// The reason that the server gives.
    pub reason: Reason,
    /// The violated schema keyword, `x-kubernetes-validations` for a rule, or the object field (`metadata`, `kind`) for
    /// constraints without a schema.
    pub keyword: &'static str,
    /// The problem, with the constraint and the value.
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

    /// Returns true if it only says that rules were not checked because of other violations.
    pub fn is_remark(&self) -> bool {
        self.message == RULES_NOT_CHECKED
    }
}

/// A rule for which our expression engine and an API server may disagree, so that it neither passed nor failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inconclusive {
    /// The field that the rule is attached to, as the server writes it.
    pub field: String,
    /// The expression.
    pub rule: String,
    /// The limitation of our engine.
    pub why: String,
}

/// The violations of a value, and inconclusive rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// The errors of a server.
    pub violations: Vec<Violation>,
    /// Rules that could not be evaluated.
    pub inconclusive: Vec<Inconclusive>,
}

impl Findings {
    /// Returns true if there are no violations and no inconclusive rules.
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

/// The response to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Admission {
    /// The object in the server's response: pruned, nulls dropped, defaulted, numbers in their printed form, and
    /// without the metadata that a server sets itself.
    pub object: Value,
    /// Paths of the fields that were pruned, as `.spec.x[0].y`.
    pub pruned: Vec<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// Rules that could not be evaluated. If there are any, [`Outcome::Admitted`] is true only if they would have
    /// passed.
    pub inconclusive: Vec<Inconclusive>,
}

impl Admission {
    /// Returns true if the object was accepted and no rule is inconclusive.
    pub fn is_admitted(&self) -> bool {
        self.outcome == Outcome::Admitted && self.inconclusive.is_empty()
    }
}
