//! Structural schemas over document nodes: the constraints of a CRD version on its objects, and their effect on an API
//! server.
//!
//! The model keeps every keyword as it is written, known or not, with its location. It is our own because a typed
//! struct would silently drop unknown keywords.

mod admit;
pub mod compare;
mod default;
mod digest;
mod format;
mod canonical;
mod lists;
mod meaning;
mod model;
mod oversized;
mod path;
mod pattern;
mod place;
mod print;
mod prune;
mod ratchet;
mod read;
mod resource;
mod rules;
mod scale;
mod secret;
mod validate;
mod verdict;

pub use admit::{Request, Validator, admit, validate};
pub use canonical::{canonicalize, is_canonical};
pub use default::{default, drop_nulls};
pub(crate) use format::text_format;
pub use format::{is_known_format, is_request_uri};
pub use lists::KeyedList;
pub use meaning::{is_quantity, means_absent, means_same};
pub use model::{Additional, Keyword, Malformed, Properties, Rule, Schema, Type};
pub(crate) use oversized::{is_oversized, with_large_stack};
pub use path::{Path, Step};
pub use pattern::Pattern;
pub use prune::{prune, prune_value};
pub use rules::{
    Expression, ExpressionError, RULE_COST_LIMIT, RuleCost, SCHEMA_COST_LIMIT, constant_faults, rule_costs,
    selects_reserved_word, syntax_error,
};
pub(crate) use rules::{evaluate_constant, parse_rule, unescape_field};
pub use scale::ScalePaths;
pub use secret::{REDACTED, Secrets, find_secret, is_secret, may_name_secret, redact_text};
pub use validate::fits;
pub(crate) use validate::keywords;
pub use verdict::{Admission, Findings, Inconclusive, Outcome, Reason, Violation};
