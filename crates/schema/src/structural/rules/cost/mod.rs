//! The estimated costs of rules, by which API servers refuse definitions.
//!
//! A server estimates what a rule costs at worst, multiplies it by the number of times that its value can occur in an
//! object, and refuses more than ten million for a rule and a hundred million for a schema. The estimate is computed here as
//! Kubernetes 1.36 does. Types are inferred as far as estimates need them; where a function or a type is not known, its cost
//! counts as nothing. So an estimate is exact or too low, never too high.

mod calls;
mod declared;
mod estimate;
mod functions;
mod size;

use super::super::{Additional, Path, Rule, Schema, Type, with_large_stack};
use super::program::guarded;
use super::rewrite::parse;
use declared::{Declared, MAX_REQUEST, at_least_zero};
use estimate::Estimator;

/// The highest estimate of one rule with which an API server accepts a definition.
pub const RULE_COST_LIMIT: u64 = 10_000_000;
/// The highest estimate of all rules of a schema.
pub const SCHEMA_COST_LIMIT: u64 = 100_000_000;

/// The estimated cost of a rule or of its `messageExpression`.
#[derive(Debug, Clone)]
pub struct RuleCost<'a> {
    /// The path of the value that the rule is about.
    pub path: Path,
    /// The rule.
    pub rule: &'a Rule,
    /// True if the cost is that of the `messageExpression`.
    pub is_message: bool,
    /// The cost; `u64::MAX` where it overflows.
    pub cost: u64,
    /// False if the real estimate may be higher.
    pub is_exact: bool,
}

/// Estimates the costs of all rules of the schema of a version.
pub fn rule_costs(schema: &Schema) -> Vec<RuleCost<'_>> {
    let mut costs = Vec::new();
    if schema.has_rules() {
        let declared = Declared::of(schema, true, 0);
        collect(schema, declared.as_ref(), &Path::root(), Some(1), &mut costs);
    }
    costs
}

/// `times` is the number of occurrences in an object, if lists and maps above are bounded.
fn collect<'a>(
    schema: &'a Schema,
    declared: Option<&Declared>,
    path: &Path,
    times: Option<u64>,
    costs: &mut Vec<RuleCost<'a>>,
) {
    // A server cannot compile rules about values that they do not see.
    let Some(declared) = declared else { return };
    for rule in &schema.rules {
        let fitting = MAX_REQUEST / (declared.min_size + 1);
        let mut add = |text: &str, is_message: bool, times: u64| {
            let (cost, is_exact) = estimate(text, declared, rule.optional_old_self == Some(true));
            let cost = cost.saturating_mul(times);
            costs.push(RuleCost { path: path.clone(), rule, is_message, cost, is_exact });
        };
        add(&rule.rule, false, times.unwrap_or(fitting));
        if let Some(message) = rule.message_expression.as_deref().filter(|text| !text.trim().is_empty()) {
            add(message, true, 1);
        }
    }
    let inner = times.and_then(|times| Some(times.saturating_mul(occurrences(schema)?)));
    for (name, property) in &schema.properties {
        let declared = super::value::escape(name).and_then(|name| declared.fields.get(&name));
        collect(property, declared, &path.field(name), inner, costs);
    }
    if let Some(items) = &schema.items {
        collect(items, declared.element.as_deref(), &path.item(), inner, costs);
    }
    if let Some(values) = schema.values() {
        collect(values, declared.element.as_deref(), &path.value(), inner, costs);
    }
}

/// The number of parts of one kind that a value can have. `None` if it is not bounded.
fn occurrences(schema: &Schema) -> Option<u64> {
    match (schema.ty, &schema.additional) {
        (Some(Type::Array), _) => schema.max_items.map(at_least_zero),
        (Some(Type::Object), Some(Additional::Allowed(_) | Additional::Schema(_))) => {
            schema.max_properties.map(at_least_zero)
        }
        _ => Some(1),
    }
}

/// The cost of one evaluation, and whether it is exact.
fn estimate(text: &str, declared: &Declared, optional_old: bool) -> (u64, bool) {
    if text.trim().is_empty() {
        return (0, true);
    }
    let Ok(Ok(tree)) = guarded(|| parse(text)) else { return (0, false) };
    let mut estimator = Estimator::new(declared, optional_old);
    let cost = with_large_stack(|| estimator.visit(&tree).cost);
    (cost, estimator.exact)
}

#[cfg(test)]
mod tests;
