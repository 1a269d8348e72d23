//! Reads rules. Ignores spaces, comments, quotes, needless parentheses, the order of commutative operands, the place of
//! a negation, escapes of field names and names of variables.

use std::collections::BTreeSet;

use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::rule_logic::{Formula, constant, join};
use super::trees::{ERROR, height, is_error, rename};
use crate::structural::unescape_field;

impl Formula {
    /// Reads a rule.
    #[cfg(test)]
    pub(super) fn read(rule: &str) -> Self {
        let tree = crate::structural::parse_rule(rule);
        tree.map_or_else(|| Self::unreadable(rule), |tree| Self::of(&tree))
    }

    /// A rule that the parser cannot read; it is equal only to itself.
    pub(super) fn unreadable(rule: &str) -> Self {
        Self::Opaque(rule.trim().to_owned())
    }

    /// Reads a parsed rule.
    pub(super) fn of(tree: &IdedExpr) -> Self {
        formula(tree, true, Position::Rule)
    }

    /// Prints a formula that is part of a term.
    fn text(&self) -> String {
        let texts = |parts: &BTreeSet<Self>| parts.iter().map(Self::text).collect::<Vec<_>>();
        let negated = |text: String, expected: bool| {
            if expected { text } else { call(operators::LOGICAL_NOT, &[text]) }
        };
        match self {
            Self::Or(options) => call(operators::LOGICAL_OR, &texts(options)),
            Self::And(parts) => call(operators::LOGICAL_AND, &texts(parts)),
            Self::Less { left, right, or_equal } => {
                let operator = if *or_equal { operators::LESS_EQUALS } else { operators::LESS };
                call(operator, &[left.clone(), right.clone()])
            }
            Self::In { subject, values, expected } => {
                let values = values.iter().cloned().collect::<Vec<_>>().join(",");
                negated(call(operators::IN, &[subject.clone(), format!("[{values}]")]), *expected)
            }
            Self::Each { range, all, body } => {
                call(if *all { "_.all" } else { "_.exists" }, &[range.clone(), body.text()])
            }
            Self::Atom { term, expected } => negated(term.clone(), *expected),
            Self::Opaque(rule) => rule.clone(),
        }
    }
}

/// The position of an expression, which determines the meaning of an evaluation error.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// The rule itself, or a part of its logic: an error is equivalent to the wrong value.
    Rule,
    /// Inside a term: an error must stay an error.
    Term,
}

/// Returns the formula that an expression evaluates to a value.
fn formula(node: &IdedExpr, expected: bool, position: Position) -> Formula {
    if is_error(node) && position == Position::Rule {
        return constant(false);
    }
    logic(node, expected, position).unwrap_or_else(|| Formula::Atom { term: plain(node), expected })
}

/// Returns the formula of an operator that has a logical meaning; `None` for every other expression.
fn logic(node: &IdedExpr, expected: bool, position: Position) -> Option<Formula> {
    let (name, args) = match &node.expr {
        Expr::Literal(LiteralValue::Boolean(value)) => return Some(constant(*value.inner() == expected)),
        Expr::Comprehension(fold) => return quantified(fold, expected, position),
        Expr::Call(CallExpr { func_name, target: None, args }) => (func_name.as_str(), args.as_slice()),
        _ => return None,
    };
    Some(match (name, args) {
        (operators::LOGICAL_NOT, [operand]) => formula(operand, !expected, position),
        // By De Morgan, `a && b` is false if one of them is.
        (operators::LOGICAL_AND | operators::LOGICAL_OR, parts) => {
            let all = (name == operators::LOGICAL_AND) == expected;
            join(all, parts.iter().map(|part| formula(part, expected, position)))
        }
        (operators::CONDITIONAL, [test, then, otherwise]) if position == Position::Rule => {
            let branch = |outcome: bool, value: &IdedExpr| {
                // An error of the test is an error of the whole.
                join(true, [formula(test, outcome, position), formula(value, expected, position)])
            };
            join(false, [branch(true, then), branch(false, otherwise)])
        }
        (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
            equality(left, right, (name == operators::EQUALS) == expected, position)
        }
        (operators::IN, [subject, list]) => Formula::member(term(subject), literals(list)?, expected),
        (operators::LESS | operators::LESS_EQUALS, [left, right])
        | (operators::GREATER | operators::GREATER_EQUALS, [right, left]) => {
            let or_equal = matches!(name, operators::LESS_EQUALS | operators::GREATER_EQUALS);
            let less = Formula::less(term(left), term(right), or_equal);
            // `!(a < b)` is not `b <= a`: both are false for NaN.
            if expected { less } else { Formula::Atom { term: less.text(), expected } }
        }
        _ => return None,
    })
}

fn equality(left: &IdedExpr, right: &IdedExpr, expected: bool, position: Position) -> Formula {
    match (literal(left), literal(right)) {
        (Some(value), None) => compared(right, value, expected, position),
        (None, Some(value)) => compared(left, value, expected, position),
        _ => {
            let mut sides = [term(left), term(right)];
            sides.sort_unstable();
            Formula::Atom { term: call(operators::EQUALS, &sides), expected }
        }
    }
}

fn compared(subject: &IdedExpr, value: String, expected: bool, position: Position) -> Formula {
    match value.as_str() {
        "true" => formula(subject, expected, position),
        "false" => formula(subject, !expected, position),
        _ => Formula::member(term(subject), BTreeSet::from([value]), expected),
    }
}

/// `all` is true if its test is true for each, and false if it is false for one; `exists` is the reverse.
fn quantified(fold: &ComprehensionExpr, expected: bool, position: Position) -> Option<Formula> {
    let Expr::Call(step) = &fold.loop_step.expr else { return None };
    let is_all = match step.func_name.as_str() {
        operators::LOGICAL_AND => true,
        operators::LOGICAL_OR => false,
        _ => return None,
    };
    let [accumulated, test] = step.args.as_slice() else { return None };
    let is_plain = matches!(&accumulated.expr, Expr::Ident(name) if *name == fold.accu_var)
        && matches!(&fold.result.expr, Expr::Ident(name) if *name == fold.accu_var)
        && fold.iter_var2.is_none()
        && !matches!(fold.iter_var.as_str(), "self" | "oldSelf");
    if !is_plain {
        return None;
    }
    let variable = format!("@{}", height(test));
    let body = formula(&rename(test, &fold.iter_var, &variable), expected, position);
    let all = is_all == expected;
    Some(Formula::Each { range: term(&fold.iter_range), all, body: Box::new(body) })
}

/// Prints an expression so that only equal expressions print alike.
fn term(node: &IdedExpr) -> String {
    logic(node, true, Position::Term).map_or_else(|| plain(node), |formula| formula.text())
}

fn terms<'e>(nodes: impl IntoIterator<Item = &'e IdedExpr>) -> Vec<String> {
    nodes.into_iter().map(term).collect()
}

/// Prints an expression without logic; operators as calls by their names, such as `_+_(a,b)`.
fn plain(node: &IdedExpr) -> String {
    if let Some(value) = literal(node) {
        return value;
    }
    match &node.expr {
        Expr::Ident(name) => name.clone(),
        Expr::Literal(other) => format!("{other:?}"),
        Expr::Select(select) if select.test => format!("has({}{})", term(&select.operand), step(&select.field)),
        Expr::Select(select) => format!("{}{}", term(&select.operand), step(&select.field)),
        Expr::List(list) => format!("{}{:?}", call("[]", &terms(&list.elements)), list.optional_indices),
        Expr::Map(map) => {
            let entries = map.entries.iter().map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => format!("{}:{}:{}", term(&entry.key), term(&entry.value), entry.optional),
                EntryExpr::StructField(field) => format!("{field:?}"),
            });
            call("{}", &entries.collect::<Vec<_>>())
        }
        Expr::Comprehension(fold) => {
            let parts = [&fold.iter_range, &fold.accu_init, &fold.loop_cond, &fold.loop_step, &fold.result];
            call(&format!("{} {:?} {}", fold.iter_var, fold.iter_var2, fold.accu_var), &terms(parts))
        }
        Expr::Call(CallExpr { func_name, target, args }) => {
            // `size(a)` is `a.size()`.
            let is_method = target.is_some() || matches!(func_name.as_str(), "size" | "matches");
            let name = if is_method && func_name != ERROR { format!("_.{func_name}") } else { func_name.clone() };
            call(&name, &terms(target.as_deref().into_iter().chain(args)))
        }
        Expr::Struct(_) | Expr::Unspecified => format!("{node:?}"),
    }
}

/// A selected field by its name in the schema.
fn step(field: &str) -> String {
    let name = unescape_field(field);
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { format!(".{name}") } else { format!(".{name:?}") }
}

/// Prints a literal string, number, boolean or null.
fn literal(node: &IdedExpr) -> Option<String> {
    let Expr::Literal(value) = &node.expr else { return None };
    match value {
        LiteralValue::Boolean(value) => Some(value.inner().to_string()),
        LiteralValue::Int(value) => Some(value.inner().to_string()),
        LiteralValue::Double(value) => Some(format!("{:?}", value.inner())),
        LiteralValue::String(value) => Some(format!("{:?}", value.inner())),
        LiteralValue::Null => Some("null".to_owned()),
        LiteralValue::Bytes(_) | LiteralValue::UInt(_) => None,
    }
}

/// The members of a literal list.
fn literals(node: &IdedExpr) -> Option<BTreeSet<String>> {
    let Expr::List(list) = &node.expr else { return None };
    if !list.optional_indices.is_empty() {
        return None;
    }
    list.elements.iter().map(literal).collect()
}

pub(super) fn call(name: &str, args: &[String]) -> String {
    format!("{name}({})", args.join(","))
}

pub(super) fn number(term: &str) -> Option<f64> {
    term.parse().ok().filter(|_| term.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
}
