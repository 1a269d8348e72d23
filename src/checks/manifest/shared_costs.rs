//! Rules whose estimated costs API servers refuse.

use crdproof_schema::structural::{Path, RULE_COST_LIMIT, RuleCost, SCHEMA_COST_LIMIT, Schema, rule_costs};

use crate::checks::Failure;

/// Adds a failure for each rule of a schema that costs too much, and one where all rules together do. Returns whether the
/// estimates are exact: where they are not, a server may still refuse.
pub(super) fn add_expensive(schema: &Schema, failures: &mut Vec<Failure>) -> bool {
    let costs = rule_costs(schema);
    for cost in costs.iter().filter(|cost| cost.cost > RULE_COST_LIMIT) {
        let what = if cost.is_message { "messageExpression" } else { "rule" };
        let message =
            format!("the estimated cost of the {what} is {} the limit of API servers", factor(cost, RULE_COST_LIMIT));
        failures.push(Failure::new(message).at(cost.rule.span).path(&cost.path));
    }
    let sum = costs.iter().fold(0_u64, |sum, cost| sum.saturating_add(cost.cost));
    let is_exact = costs.iter().all(|cost| cost.is_exact);
    if let Some(most) = costs.iter().max_by_key(|cost| cost.cost).filter(|_| sum > SCHEMA_COST_LIMIT) {
        let total = RuleCost { cost: sum, is_exact, ..most.clone() };
        let message = format!(
            "the estimated costs of all rules of the schema are {} the limit of API servers; the most expensive rule is at {}",
            factor(&total, SCHEMA_COST_LIMIT),
            most.path
        );
        failures.push(Failure::new(message).at(schema.span).path(&Path::root()));
    }
    is_exact
}

/// The factor by which a cost exceeds a limit, in words.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
fn factor(cost: &RuleCost<'_>, limit: u64) -> String {
    let least = if cost.is_exact { "" } else { "at least " };
    match cost.cost as f64 / limit as f64 {
        factor if factor > 100.0 => "more than 100 times".to_owned(),
        factor if factor < 1.1 => format!("{least}{factor:.4} times"),
        factor => format!("{least}{factor:.1} times"),
    }
}
