//! Decides if two rules mean the same, and if one follows from others.
//!
//! A rule becomes a [`Formula`]: `&&` and `||` over literals, normalised from the tree that the evaluator's parser
//! returns. A formula describes the objects for which the rule evaluates to true: on a server, an evaluation error
//! refuses an object just as `false` does. Rules that this logic cannot see through are different, never the same.

use std::collections::BTreeSet;

use super::rule_terms::{call, number};

/// Integers below this are exact as floating point numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Maximum number of alternatives to satisfy a formula.
const MAX_ALTERNATIVES: usize = 512;

/// A rule by its logical structure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Formula {
    /// At least one of these holds. Nothing satisfies an empty one.
    Or(BTreeSet<Self>),
    /// All of these hold. Everything satisfies an empty one.
    And(BTreeSet<Self>),
    /// `left < right` or `left <= right`. Greater-than is turned around.
    Less { left: String, right: String, or_equal: bool },
    /// A term is, or is not, one of these literals.
    In { subject: String, values: BTreeSet<String>, expected: bool },
    /// All, or some, items of a list or keys of a map satisfy a formula.
    Each { range: String, all: bool, body: Box<Self> },
    /// A term without `&&` and `||` evaluates to this value.
    Atom { term: String, expected: bool },
    /// A rule that the parser cannot read.
    Opaque(String),
}

/// Returns true if a literal is true for other reasons than rules.
pub(super) type Oracle<'a> = &'a dyn Fn(&Formula) -> bool;

impl Formula {
    /// Joins rules that must all hold.
    pub(super) fn all(rules: impl IntoIterator<Item = Self>) -> Self {
        join(true, rules)
    }

    /// Returns the formula of `has(self.field)`.
    pub(super) fn present(field: &str) -> Self {
        Self::Atom { term: format!("has(self.{field})"), expected: true }
    }

    /// Returns the formula which says that a term is, or is not, one of these literals.
    pub(super) fn member(subject: String, values: BTreeSet<String>, expected: bool) -> Self {
        let is_zero = values.len() == 1 && values.contains("0");
        // A size is a whole number that is not negative.
        match (subject.starts_with("_.size(") && is_zero, expected) {
            (true, true) => Self::Less { left: subject, right: "0".to_owned(), or_equal: true },
            (true, false) => Self::Less { left: "1".to_owned(), right: subject, or_equal: true },
            (false, _) => Self::In { subject, values, expected },
        }
    }

    /// Returns the formula of `left < right` or `left <= right`; of a size always the latter.
    pub(super) fn less(left: String, right: String, or_equal: bool) -> Self {
        let is_size = |term: &str| term.starts_with("_.size(");
        let moved = |term: &str, by: i64| term.parse::<i64>().ok().and_then(|number| number.checked_add(by));
        if !or_equal
            && is_size(&right)
            && let Some(number) = moved(&left, 1)
        {
            return Self::Less { left: number.to_string(), right, or_equal: true };
        }
        if !or_equal
            && is_size(&left)
            && let Some(number) = moved(&right, -1)
        {
            return Self::Less { left, right: number.to_string(), or_equal: true };
        }
        Self::Less { left, right, or_equal }
    }

    /// Returns true if the other rule holds wherever this one does, and false if that cannot be shown.
    pub(super) fn implies(&self, other: &Self) -> bool {
        Self::entail([self], other, &|_| false)
    }

    /// Returns true if a rule holds wherever all these facts do, and false if that cannot be shown.
    pub(super) fn entail<'f>(facts: impl IntoIterator<Item = &'f Self>, goal: &Self, oracle: Oracle<'_>) -> bool {
        let mut ways: Vec<Vec<&Self>> = vec![Vec::new()];
        for fact in facts {
            if fact == goal {
                return true;
            }
            // Skip a fact with too many alternatives: conclusions without it are still valid.
            if let Some(more) = fact.ways().and_then(|options| cross(&ways, &options)) {
                ways = more;
            }
        }
        ways.iter().all(|known| are_contradictory(known) || goal.holds(known, oracle))
    }

    /// The sets of literals each of which makes this true. `None` if there are too many.
    fn ways(&self) -> Option<Vec<Vec<&Self>>> {
        match self {
            Self::Or(options) => {
                let mut ways = Vec::new();
                for option in options {
                    ways.extend(option.ways()?);
                    if ways.len() > MAX_ALTERNATIVES {
                        return None;
                    }
                }
                Some(ways)
            }
            Self::And(parts) => parts.iter().try_fold(vec![Vec::new()], |ways, part| cross(&ways, &part.ways()?)),
            literal => Some(vec![vec![literal]]),
        }
    }

    /// Returns true if this is true whenever these literals are.
    fn holds(&self, known: &[&Self], oracle: Oracle<'_>) -> bool {
        match self {
            Self::Or(options) => options.iter().any(|option| option.holds(known, oracle)),
            Self::And(parts) => parts.iter().all(|part| part.holds(known, oracle)),
            literal => known.iter().any(|known| known.implies_literal(literal)) || oracle(literal),
        }
    }

    fn implies_literal(&self, other: &Self) -> bool {
        match (self, other) {
            _ if self == other => true,
            (Self::Less { .. }, Self::Less { .. }) => self.implies_less(other),
            (Self::In { subject, values, expected }, Self::In { subject: of, values: others, expected: wanted }) => {
                subject == of
                    && match (expected, wanted) {
                        (true, true) => values.is_subset(others),
                        (false, false) => others.is_subset(values),
                        (true, false) => values.is_disjoint(others) && are_comparable(values.iter().chain(others)),
                        (false, true) => false,
                    }
            }
            (Self::In { subject, values, expected: true }, Self::Less { left, right, or_equal }) => {
                values.iter().all(|value| satisfies(value, subject, left, right, *or_equal) == Some(true))
            }
            (Self::Less { left, right, or_equal }, Self::In { subject, values, expected: false }) => {
                let is_empty_text = values.len() == 1 && values.contains("\"\"");
                is_empty_text && *or_equal && left == "1" && *right == call("_.size", std::slice::from_ref(subject))
                    || values.iter().all(|value| satisfies(value, subject, left, right, *or_equal) == Some(false))
            }
            (Self::In { subject, values, expected: false }, Self::Less { left, right, or_equal: true }) => {
                values.contains("\"\"") && left == "1" && *right == call("_.size", std::slice::from_ref(subject))
            }
            (Self::Each { range, all, body }, Self::Each { range: of, all: every, body: other }) => {
                range == of && all == every && body.implies(other)
            }
            _ => false,
        }
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

    /// Returns true if both cannot be true of one object.
    fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Atom { term, expected }, Self::Atom { term: same, expected: opposite }) => {
                term == same && expected != opposite
            }
            (Self::In { subject, values, expected: true }, Self::In { subject: of, values: others, expected }) => {
                subject == of
                    && if *expected {
                        values.is_disjoint(others) && are_comparable(values.iter().chain(others))
                    } else {
                        values.is_subset(others)
                    }
            }
            _ => false,
        }
    }
}

/// Combines every alternative of one with every alternative of another.
fn cross<'f>(ways: &[Vec<&'f Formula>], more: &[Vec<&'f Formula>]) -> Option<Vec<Vec<&'f Formula>>> {
    if ways.len().checked_mul(more.len())? > MAX_ALTERNATIVES {
        return None;
    }
    let join = |way: &Vec<&'f Formula>, more: &Vec<&'f Formula>| way.iter().chain(more).copied().collect();
    Some(ways.iter().flat_map(|way| more.iter().map(move |more| join(way, more))).collect())
}

fn are_contradictory(known: &[&Formula]) -> bool {
    known.iter().any(|one| known.iter().any(|other| one.excludes(other)))
}

/// Returns true if different spellings mean different values, which is not so for 1 and 1.0.
fn are_comparable<'v>(values: impl Iterator<Item = &'v String>) -> bool {
    let mut kinds = values.map(|value| match value.as_bytes().first() {
        Some(b'"') => Some(false),
        _ => value.parse::<i64>().ok().map(|_| true),
    });
    let Some(first) = kinds.next() else { return true };
    first.is_some() && kinds.all(|kind| kind == first)
}

/// Returns true if a comparison of a subject with a number is true for a value; `None` if it is about something else.
fn satisfies(value: &str, subject: &str, left: &str, right: &str, or_equal: bool) -> Option<bool> {
    let side = |side: &str| number(if side == subject { value } else { side }).filter(|number| number.abs() < EXACT);
    if (left == subject) == (right == subject) {
        return None;
    }
    let (left, right) = (side(left)?, side(right)?);
    Some(left < right || or_equal && left <= right)
}

/// Joins formulas by `&&`, or by `||`. Flattens nested formulas; a single formula stays as it is.
pub(super) fn join(all: bool, parts: impl IntoIterator<Item = Formula>) -> Formula {
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
    let mut joined = merge_members(all, joined);
    match joined.pop_first() {
        Some(only) if joined.is_empty() => only,
        first => {
            joined.extend(first);
            if all { Formula::And(joined) } else { Formula::Or(joined) }
        }
    }
}

/// `x == 'a' || x == 'b'` is `x in ['a', 'b']`, and likewise for the other three.
fn merge_members(all: bool, parts: BTreeSet<Formula>) -> BTreeSet<Formula> {
    let mut merged: Vec<Formula> = Vec::new();
    for part in parts {
        let Formula::In { subject, values, expected } = &part else {
            merged.push(part);
            continue;
        };
        let same = merged.iter_mut().find_map(|known| match known {
            Formula::In { subject: of, values: known, expected: wanted } if of == subject && wanted == expected => {
                Some(known)
            }
            _ => None,
        });
        match same {
            Some(known) if *expected != all => known.extend(values.iter().cloned()),
            Some(known) if are_comparable(known.iter().chain(values)) => {
                *known = known.intersection(values).cloned().collect();
            }
            Some(_) | None => merged.push(part),
        }
    }
    merged.into_iter().collect()
}

pub(super) fn constant(value: bool) -> Formula {
    if value { Formula::And(BTreeSet::new()) } else { Formula::Or(BTreeSet::new()) }
}
