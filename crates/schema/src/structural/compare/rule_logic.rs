//! Decides whether two rules mean the same, and whether one follows from the other.
//!
//! A rule becomes a [`Formula`]: `&&` and `||` over comparisons and atoms, normalised from the tree that the evaluator's
//! parser returns. Spaces, comments, quotes, needless parentheses, the order of commutative operands and the place of a
//! negation do not count. A formula describes the objects for which the rule evaluates to true: on a server, an
//! evaluation error refuses an object just as `false` does. Rules that this logic cannot see through are different,
//! never the same.

use std::collections::{BTreeSet, HashMap};

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use crate::structural::parse_rule;

/// String literals that the parser misreads: it drops quotes inside triple quotes, and keeps some escaping backslashes.
const MISREAD: [&str; 4] = ["'''", "\"\"\"", "\\'", "\\\""];

/// Integers below this are exact as floating point numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A rule by its logical structure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Formula {
    /// At least one of these holds. Nothing satisfies an empty one.
    Or(BTreeSet<Self>),
    /// All of these hold. Everything satisfies an empty one.
    And(BTreeSet<Self>),
    /// `left < right` or `left <= right`. Greater-than is turned around.
    Less { left: String, right: String, or_equal: bool },
    /// A term without `&&` and `||` evaluates to this value.
    Atom { term: String, expected: bool },
    /// A rule that the parser cannot read.
    Opaque(String),
}

/// Implications that are already decided, by the addresses of both sides.
type Decided = HashMap<(*const Formula, *const Formula), bool>;

impl Formula {
    /// Reads a rule.
    pub(super) fn read(rule: &str) -> Self {
        let tree = if MISREAD.iter().any(|part| rule.contains(part)) { None } else { parse_rule(rule) };
        tree.map_or_else(|| Self::Opaque(rule.trim().to_owned()), |tree| formula(&tree, true, Position::Rule))
    }

    /// Joins rules that must all hold.
    pub(super) fn all(rules: impl IntoIterator<Item = Self>) -> Self {
        join(true, rules)
    }

    /// Returns the formula of `has(self.field)`.
    pub(super) fn present(field: &str) -> Self {
        Self::Atom { term: format!("has(self.{field})"), expected: true }
    }

    /// Returns true if the other rule holds wherever this one does, and false if that cannot be shown.
    pub(super) fn implies(&self, other: &Self) -> bool {
        self.implies_with(other, &mut Decided::new())
    }

    fn implies_with(&self, other: &Self, decided: &mut Decided) -> bool {
        let key = (std::ptr::from_ref(self), std::ptr::from_ref(other));
        if let Some(known) = decided.get(&key) {
            return *known;
        }
        let mut each = |left: &Self, right: &Self| left.implies_with(right, decided);
        let implied = match (self, other) {
            _ if self == other => true,
            (_, Self::And(parts)) => parts.iter().all(|part| each(self, part)),
            (Self::Or(options), _) => options.iter().all(|option| each(option, other)),
            (Self::And(parts), Self::Or(options)) => {
                parts.iter().any(|part| each(part, other)) || options.iter().any(|option| each(self, option))
            }
            (Self::And(parts), _) => parts.iter().any(|part| each(part, other)),
            (_, Self::Or(options)) => options.iter().any(|option| each(self, option)),
            _ => self.implies_less(other),
        };
        decided.insert(key, implied);
        implied
    }

    /// `x <= 5` implies `x <= 9`, and the same for numbers on the left.
    fn implies_less(&self, other: &Self) -> bool {
        let (
            Self::Less { left, right, or_equal },
            Self::Less { left: other_left, right: other_right, or_equal: other_or_equal },
        ) = (self, other)
        else {
            return false;
        };
        let (low, high) = match (left == other_left, right == other_right) {
            (true, true) => return !or_equal || *other_or_equal,
            (true, false) => (number(right), number(other_right)),
            (false, true) => (number(other_left), number(left)),
            (false, false) => return false,
        };
        let (Some(low), Some(high)) = (low, high) else { return false };
        low < high || (low <= high && low.abs() < EXACT && (!or_equal || *other_or_equal))
    }

    /// Returns true if the rule cannot fail on an object that has none of these fields.
    pub(super) fn holds_without(&self, fields: &[String]) -> bool {
        match self {
            Self::Or(options) => options.iter().any(|option| option.holds_without(fields)),
            Self::And(parts) => parts.iter().all(|part| part.holds_without(fields)),
            Self::Atom { term, expected: false } => fields.iter().any(|field| Self::present(field).text() == *term),
            Self::Atom { .. } | Self::Less { .. } | Self::Opaque(_) => false,
        }
    }

    /// Prints a formula that is part of a term.
    fn text(&self) -> String {
        let texts = |parts: &BTreeSet<Self>| parts.iter().map(Self::text).collect::<Vec<_>>();
        match self {
            Self::Or(options) => call(operators::LOGICAL_OR, &texts(options)),
            Self::And(parts) => call(operators::LOGICAL_AND, &texts(parts)),
            Self::Less { left, right, or_equal } => {
                let operator = if *or_equal { operators::LESS_EQUALS } else { operators::LESS };
                call(operator, &[left.clone(), right.clone()])
            }
            Self::Atom { term, expected: true } | Self::Opaque(term) => term.clone(),
            Self::Atom { term, expected: false } => call(operators::LOGICAL_NOT, std::slice::from_ref(term)),
        }
    }
}

/// The position of an expression decides what an evaluation error means there.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// The rule itself, or a part of its logic: an error is as good as the wrong value.
    Rule,
    /// Inside a term: an error must stay an error.
    Term,
}

/// Returns the formula which says that an expression evaluates to a value.
fn formula(node: &IdedExpr, expected: bool, position: Position) -> Formula {
    logic(node, expected, position).unwrap_or_else(|| Formula::Atom { term: plain(node), expected })
}

/// Returns the formula of an operator that has a logical meaning; `None` for every other expression.
fn logic(node: &IdedExpr, expected: bool, position: Position) -> Option<Formula> {
    let (name, args) = match &node.expr {
        Expr::Literal(LiteralValue::Boolean(value)) => return Some(constant(*value.inner() == expected)),
        Expr::Call(CallExpr { func_name, target: None, args }) => (func_name.as_str(), args.as_slice()),
        _ => return None,
    };
    Some(match (name, args) {
        (operators::LOGICAL_NOT, [operand]) => formula(operand, !expected, position),
        // By De Morgan, `a && b` is false where one of them is.
        (operators::LOGICAL_AND | operators::LOGICAL_OR, parts) => {
            let all = (name == operators::LOGICAL_AND) == expected;
            join(all, parts.iter().map(|part| formula(part, expected, position)))
        }
        (operators::CONDITIONAL, [test, then, otherwise]) if position == Position::Rule => {
            let branch = |outcome: bool, value: &IdedExpr| {
                join(true, [formula(test, outcome, Position::Term), formula(value, expected, position)])
            };
            join(false, [branch(true, then), branch(false, otherwise)])
        }
        (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
            let mut sides = [term(left), term(right)];
            sides.sort_unstable();
            let expected = (name == operators::EQUALS) == expected;
            Formula::Atom { term: call(operators::EQUALS, &sides), expected }
        }
        (operators::LESS | operators::LESS_EQUALS, [left, right])
        | (operators::GREATER | operators::GREATER_EQUALS, [right, left]) => {
            let or_equal = matches!(name, operators::LESS_EQUALS | operators::GREATER_EQUALS);
            let less = Formula::Less { left: term(left), right: term(right), or_equal };
            // `!(a < b)` is not `b <= a`: both are false for NaN.
            if expected { less } else { Formula::Atom { term: less.text(), expected } }
        }
        _ => return None,
    })
}

/// Joins formulas by `&&`, or by `||`. Flattens nested formulas; a single formula stays as it is.
fn join(all: bool, parts: impl IntoIterator<Item = Formula>) -> Formula {
    let mut joined = BTreeSet::new();
    for part in parts {
        match part {
            Formula::And(inner) if all => joined.extend(inner),
            Formula::Or(inner) if !all => joined.extend(inner),
            // `a && false` is false, `a || true` is true.
            part if part == constant(!all) => return part,
            part => drop(joined.insert(part)),
        }
    }
    match joined.pop_first() {
        Some(only) if joined.is_empty() => only,
        first => {
            joined.extend(first);
            if all { Formula::And(joined) } else { Formula::Or(joined) }
        }
    }
}

fn constant(value: bool) -> Formula {
    if value { Formula::And(BTreeSet::new()) } else { Formula::Or(BTreeSet::new()) }
}

/// Prints an expression so that only equal expressions print alike.
fn term(node: &IdedExpr) -> String {
    logic(node, true, Position::Term).map_or_else(|| plain(node), |formula| formula.text())
}

fn terms<'e>(nodes: impl IntoIterator<Item = &'e IdedExpr>) -> Vec<String> {
    nodes.into_iter().map(term).collect()
}

/// Prints an expression that contains no logic; operators as calls by their names, such as `_+_(a,b)`.
fn plain(node: &IdedExpr) -> String {
    match &node.expr {
        Expr::Ident(name) => name.clone(),
        Expr::Literal(LiteralValue::Int(value)) => value.inner().to_string(),
        Expr::Literal(LiteralValue::Double(value)) => format!("{:?}", value.inner()),
        Expr::Literal(LiteralValue::String(value)) => format!("{:?}", value.inner()),
        Expr::Literal(other) => format!("{other:?}"),
        Expr::Select(select) if select.test => format!("has({}.{})", term(&select.operand), select.field),
        Expr::Select(select) => format!("{}.{}", term(&select.operand), select.field),
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
            let name = if is_method { format!("_.{func_name}") } else { func_name.clone() };
            call(&name, &terms(target.as_deref().into_iter().chain(args)))
        }
        Expr::Struct(_) | Expr::Unspecified => format!("{node:?}"),
    }
}

fn call(name: &str, args: &[String]) -> String {
    format!("{name}({})", args.join(","))
}

fn number(term: &str) -> Option<f64> {
    term.parse().ok().filter(|_| term.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
}
