//! `x-kubernetes-validations`: making objects that rules accept.
//!
//! A rule is read into a tree of our own, and an object that breaks it is repaired towards it: a
//! field is added or removed, a value set, a list cut. What the tree cannot express is tried with
//! other values. Whether a rule holds is always the word of the expression engine, never of the
//! repair.

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

/// A rule to be kept on creation.
#[derive(Debug, Clone)]
pub(crate) struct Goal<'a> {
    pub(crate) rule: &'a Rule,
    /// The rule as a tree; `None` where it cannot be read.
    pub(crate) expr: Option<Expr>,
}

impl<'a> Goal<'a> {
    /// Reads a rule. `None` for a rule that says nothing about new objects.
    pub(crate) fn read(rule: &'a Rule) -> Option<Self> {
        let on_creation = !rule.is_transition() || rule.optional_old_self == Some(true);
        on_creation.then(|| Self { rule, expr: read::read(&rule.rule) })
    }

    /// Returns whether a value is seen to break the rule without the engine.
    pub(crate) fn plainly_fails(&self, value: &Value) -> bool {
        self.expr.as_ref().is_some_and(|expr| evaluate::truth(expr, value, &Vec::new()) == Some(false))
    }
}
