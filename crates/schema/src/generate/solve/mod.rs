//! `x-kubernetes-validations`: generating objects that satisfy rules.
//!
//! A rule is parsed into our own tree, and an object that violates it is repaired: a field is added or removed, a value
//! set, a list shortened. Parts that the tree cannot express are tried with other values. The expression engine always
//! decides if a rule is satisfied, never the repair.

mod count;
mod evaluate;
mod place;
pub(crate) mod pool;
mod read;
mod repair;

use serde_json::Value;

use crate::structural::Rule;

pub(crate) use read::{Expr, Seg};
pub(crate) use repair::Repair;

/// A rule that new objects must satisfy.
#[derive(Debug, Clone)]
pub(crate) struct Goal<'a> {
    pub(crate) rule: &'a Rule,
    /// The rule as a tree; `None` if it cannot be parsed.
    pub(crate) expr: Option<Expr>,
}

impl<'a> Goal<'a> {
    /// Reads a rule. `None` for a rule that does not apply to new objects.
    pub(crate) fn read(rule: &'a Rule) -> Option<Self> {
        let on_creation = !rule.is_transition() || rule.optional_old_self == Some(true);
        on_creation.then(|| Self { rule, expr: read::read(&rule.rule) })
    }

    /// Returns true if a value obviously violates the rule, without the engine.
    pub(crate) fn plainly_fails(&self, value: &Value) -> bool {
        self.expr.as_ref().is_some_and(|expr| evaluate::truth(expr, value, &Vec::new()) == Some(false))
    }
}
