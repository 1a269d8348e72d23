//! Counts the cost of evaluation. API servers end a rule that costs more than a million, and all rules of an object at ten million.
//!
//! Only loops can cost that much, so each round of a loop is counted, with what its body costs at least and at most. At
//! least: what a server counts for sure. At most: also what depends on sizes, for values as large as the object. A rule is
//! too expensive where the least is above the limit, and inconclusive where only the most is.

use std::cell::Cell;

use kube_cel::cel::ExecutionError;
use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};
use serde_json::Value;

use super::super::compare::children;
use super::engine::{NEGATE, SELECT, TYPES};
use super::macros::NAMES;

/// The cost at which a server ends a rule.
pub(super) const RULE_LIMIT: u64 = 1_000_000;
/// The cost at which a server ends all rules of an object.
pub(super) const OBJECT_LIMIT: u64 = 10_000_000;

/// Bounds of a cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) least: u64,
    /// The most, without traversals.
    most: u64,
    /// The number of traversals.
    traversals: u64,
    /// The number of comparisons of every part of a text with every part of a pattern.
    products: u64,
}

impl Cost {
    const NOTHING: Self = Self { least: 0, most: 0, traversals: 0, products: 0 };

    /// A cost that does not depend on sizes.
    fn between(least: u64, most: u64) -> Self {
        Self { least, most, ..Self::NOTHING }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_add(other.least),
            most: self.most.saturating_add(other.most),
            traversals: self.traversals.saturating_add(other.traversals),
            products: self.products.saturating_add(other.products),
        }
    }

    fn with(self, least: u64, most: u64) -> Self {
        Self { least, most, ..self }
    }

    /// The most that it can be if no value has more characters than this.
    pub(super) fn most(self, size: u64) -> u64 {
        let once = size / 10 + 1;
        let product = once.saturating_mul(size / 4 + 1);
        let linear = self.most.saturating_add(self.traversals.saturating_mul(once));
        linear.saturating_add(self.products.saturating_mul(product))
    }
}

thread_local! {
    /// The cost of the evaluation under way, and its limit.
    static METER: Cell<(Cost, u64)> = const { Cell::new((Cost::NOTHING, u64::MAX)) };
    /// The least cost of all rules of the object under way.
    static OBJECT: Cell<u64> = const { Cell::new(0) };
}

/// Evaluates an expression up to a limit. Loops beyond it fail.
pub(super) fn measured<T>(expression: &IdedExpr, limit: u64, evaluate: impl FnOnce() -> T) -> (T, Cost) {
    METER.set((weigh(expression), limit));
    let result = evaluate();
    let (cost, _) = METER.replace((Cost::NOTHING, u64::MAX));
    (result, cost)
}

/// Counts one round of a loop with this body. The least that a branch costs is nothing.
pub(super) fn round(name: &str, body: &IdedExpr, is_branch: bool) -> Result<(), ExecutionError> {
    let (cost, limit) = METER.get();
    let own = weigh(body).plus(overhead(name, body));
    let cost = cost.plus(if is_branch { Cost { least: 0, ..own } } else { own });
    METER.set((cost, limit));
    if cost.least > limit { Err(ExecutionError::function_error(name, "the cost exceeds the limit")) } else { Ok(()) }
}

/// Begins with the rules of another object.
pub(super) fn start_object() {
    OBJECT.set(0);
}

/// Adds to the cost of the object. Returns false where its budget is used up.
pub(super) fn spend(cost: u64) -> bool {
    let sum = OBJECT.get().saturating_add(cost);
    OBJECT.set(sum);
    sum <= OBJECT_LIMIT
}

/// Returns whether no further rules are run on the object.
pub(super) fn is_exhausted() -> bool {
    OBJECT.get() > OBJECT_LIMIT
}

/// The cost of a loop itself for each round: of its condition, and of adding to its result.
fn overhead(name: &str, body: &IdedExpr) -> Cost {
    let least = match name {
        "all" => 3,
        "exists" => 4,
        "map" if is_constant(body) => 2,
        "map" => 12,
        _ => 0,
    };
    Cost { traversals: 1, ..Cost::between(least, 15) }
}

/// The cost of one evaluation, without the rounds of its loops.
fn weigh(node: &IdedExpr) -> Cost {
    let sum = |parts: &[&IdedExpr]| parts.iter().fold(Cost::NOTHING, |sum, part| sum.plus(weigh(part)));
    match &node.expr {
        Expr::Literal(_) | Expr::Unspecified => Cost::NOTHING,
        Expr::Ident(name) => Cost::between(u64::from(!TYPES.contains(&name.as_str())), 1),
        // Presence tests are free, and what is tested may be.
        Expr::Select(select) => Cost { least: 0, ..weigh(&select.operand).plus(Cost::between(1, 1)) },
        Expr::List(_) | Expr::Map(_) if is_constant(node) => Cost::NOTHING,
        Expr::List(_) => sum(&children(node)).plus(Cost::between(10, 10)),
        Expr::Map(_) => sum(&children(node)).plus(Cost::between(30, 30)),
        Expr::Call(call) => weigh_call(call),
        // All are rewritten as calls.
        Expr::Comprehension(_) | Expr::Struct(_) => Cost::between(0, u64::MAX),
    }
}

fn weigh_call(call: &CallExpr) -> Cost {
    let name = call.func_name.as_str();
    let target = call.target.as_deref().map_or(Cost::NOTHING, weigh);
    if call.target.is_some() && NAMES.contains(&name) {
        return target.plus(Cost::between(0, 15));
    }
    let args: Vec<_> = call.args.iter().map(weigh).collect();
    let all = args.iter().fold(target, |sum, arg| sum.plus(*arg));
    // The operands that are always evaluated, and counted.
    let least = match (name, args.as_slice()) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::INDEX | SELECT, [first, ..]) => first.least,
        (operators::CONDITIONAL, _) => 0,
        _ => all.least,
    };
    let most = all.most.saturating_add(1);
    let (traversals, products) = match name {
        operators::LOGICAL_AND
        | operators::LOGICAL_OR
        | operators::LOGICAL_NOT
        | operators::CONDITIONAL
        | operators::INDEX
        | operators::SUBSTRACT
        | operators::MULTIPLY
        | operators::DIVIDE
        | operators::MODULO
        | "size"
        | "type"
        | NEGATE
        | SELECT => (0, 0),
        "matches" | "find" | "findAll" | "contains" => match literal_length(call.args.first()) {
            Some(length) => (length / 4 + 1, 0),
            None => (0, 1),
        },
        // Membership and searches look at every item.
        operators::IN | "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => (10, 0),
        "validate" => (32, 0),
        _ => (3, 0),
    };
    all.plus(Cost { traversals, products, ..Cost::NOTHING }).with(least, most)
}

fn literal_length(node: Option<&IdedExpr>) -> Option<u64> {
    match &node?.expr {
        Expr::Literal(LiteralValue::String(text)) => u64::try_from(text.inner().len()).ok(),
        _ => None,
    }
}

/// Returns whether a server computes an expression once.
fn is_constant(node: &IdedExpr) -> bool {
    match &node.expr {
        Expr::Ident(_) => false,
        Expr::Call(call) if call.target.is_none() && call.args.is_empty() => false,
        _ => children(node).into_iter().all(is_constant),
    }
}

/// The number of characters of a value in JSON, roughly and not too low.
pub(super) fn text_size(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) => 6,
        Value::Number(_) => 26,
        Value::String(text) => text.len() as u64 + 3,
        Value::Array(items) => items.iter().fold(2, |sum, item| sum + text_size(item)),
        Value::Object(map) => map.iter().fold(2, |sum, (name, value)| sum + name.len() as u64 + 4 + text_size(value)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use rstest::rstest;
    use serde_json::{Value, json};

    use super::super::super::{Schema, Validator};
    use super::super::engine::Engine;
    use super::super::program::{Subject, guarded};
    use super::super::rewrite::rewrite;
    use super::{RULE_LIMIT, measured, text_size};
    use crate::document::{Sources, parse};
    use crate::kubernetes::KubeVersion;

    fn fixture(name: &str) -> Value {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rule-costs");
        let mut sources = Sources::default();
        let id = sources.add(name, std::fs::read_to_string(folder.join(name)).unwrap());
        parse(&sources, id).unwrap()[0].to_value()
    }

    fn schema(value: &Value) -> Schema {
        let mut sources = Sources::default();
        let id = sources.add("schema", value.to_string());
        Schema::read(&parse(&sources, id).unwrap()[0])
    }

    /// The cost that Kubernetes counted for a rule lies between our bounds. Beyond a limit it does not go on counting.
    #[test]
    fn costs_are_within_bounds() {
        let (cases, recorded) = (fixture("cases.yaml"), fixture("recorded.json"));
        let (mut compared, mut wrong) = (0, Vec::new());
        for case in cases["cases"].as_array().unwrap() {
            let schema = schema(&case["schema"]);
            let values = case.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
            for rule in case["rules"].as_array().unwrap() {
                let spent = &recorded[case["name"].as_str().unwrap()][rule.as_str().unwrap()]["spent"];
                let mut engine = Engine::new(KubeVersion::NEWEST);
                let text = rule.as_str().unwrap();
                let Ok(Ok(rule)) = guarded(|| rewrite(text, &schema, &mut engine)) else { continue };
                engine.seal();
                for (value, spent) in values.iter().zip(spent.as_array().into_iter().flatten()) {
                    let subject = Subject::new(&schema, false, value, Some(value));
                    let scope = subject.scope(&engine);
                    let (_, cost) = measured(&rule, RULE_LIMIT, || guarded(|| scope.resolve(&rule)));
                    let most = cost.most(2 * text_size(value));
                    let holds = match spent.as_u64() {
                        Some(spent) => cost.least <= spent && spent <= most,
                        None => most > RULE_LIMIT,
                    };
                    compared += 1;
                    if !holds {
                        wrong.push(format!("{text}: {} ≤ {spent} ≤ {most}", cost.least));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(compared > 300, "{compared}");
    }

    /// Loops over ten numbers in each other.
    fn nested(levels: usize, inner: &str, open: &str, close: &str) -> String {
        let list = "[1,2,3,4,5,6,7,8,9,0]";
        (0..levels).fold(inner.to_owned(), |body, level| format!("{list}.{open}(x{level}, {body}){close}"))
    }

    #[rstest]
    #[case(nested(3, "[self]", "map", "") + " != []", true)]
    #[case(nested(5, "[self]", "map", "") + " != []", false)]
    #[case(nested(20, "[self]", "map", "") + " != []", false)]
    #[case(nested(9, "self > 0", "filter", ".size() > 0"), false)]
    #[case(nested(9, "self > 0", "exists_one", " || true"), false)]
    #[case(nested(9, "self > 0", "all", ""), false)]
    #[case(nested(9, "self < 0", "exists", "") + " || true", false)]
    fn rules_beyond_the_limit_end_quickly(#[case] rule: String, #[case] is_admitted: bool) {
        let schema = schema(&json!({"type": "integer", "x-kubernetes-validations": [{"rule": rule}]}));
        let validator = Validator::new(&schema, KubeVersion::NEWEST);
        let answer = validator.validate(&json!(1));
        assert_eq!(answer.violations.is_empty(), is_admitted, "{answer:?}");
    }

    /// Loops over constants cost the same for every object.
    #[test]
    fn rules_without_variables_are_evaluated_once() {
        let rule = nested(6, "[1]", "map", "") + " != []";
        let schema = schema(&json!({"type": "integer", "x-kubernetes-validations": [{"rule": rule}]}));
        let validator = Validator::new(&schema, KubeVersion::NEWEST);
        let began = Instant::now();
        validator.validate(&json!(1));
        let once = began.elapsed();
        for number in 0..500 {
            assert_eq!(validator.validate(&json!(number)).violations.len(), 1);
        }
        assert!(began.elapsed() < 20 * once + Duration::from_secs(1), "{once:?}, then {:?}", began.elapsed());
    }

    /// Each rule costs about a million; the budget of an object is ten.
    #[rstest]
    #[case(9, true)]
    #[case(14, false)]
    fn rules_of_an_object_share_a_budget(#[case] count: usize, #[case] is_admitted: bool) {
        let rules = vec![json!({"rule": "self.all(a, self.all(b, self.all(c, c > 0)))"}); count];
        let list = json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": rules});
        let schema = schema(&list);
        let numbers: Vec<u32> = (1..=58).collect();
        let answer = Validator::new(&schema, KubeVersion::NEWEST).validate(&json!(numbers));
        assert_eq!(answer.violations.is_empty(), is_admitted, "{answer:?}");
    }
}
