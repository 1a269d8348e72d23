//! Simple evaluation of rules. `None` if a rule is too complex, or if the evaluation fails.

use std::cmp::Ordering;

use serde_json::Value;

use super::read::{Expr, Quantifier, Relation, Seg};
use crate::structural::Pattern;

/// The value of a variable: a part of the value under test, or another value.
#[derive(Debug, Clone)]
pub(super) enum Bound {
    Place(Vec<Seg>),
    Value(Value),
}

/// The variables in scope; the last one of a name counts.
pub(super) type Scope = Vec<(String, Bound)>;

/// The part of a value.
pub(super) fn at<'v>(value: &'v Value, steps: &[Seg]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Seg::Field(name) => value.get(name),
        Seg::Item(index) => value.get(index),
    })
}

/// Returns the place of a variable's part in the value.
pub(super) fn place(scope: &Scope, name: &str, steps: &[Seg]) -> Option<Vec<Seg>> {
    match scope.iter().rev().find(|(known, _)| known == name) {
        Some((_, Bound::Place(base))) => Some(base.iter().chain(steps).cloned().collect()),
        Some((_, Bound::Value(_))) => None,
        None => (name == "self").then(|| steps.to_vec()),
    }
}

pub(super) fn evaluate(expr: &Expr, root: &Value, scope: &Scope) -> Option<Value> {
    Some(match expr {
        Expr::Constant(value) => value.clone(),
        Expr::Part(name, steps) => match scope.iter().rev().find(|(known, _)| known == name) {
            Some((_, Bound::Value(value))) => at(value, steps)?.clone(),
            _ => at(root, &place(scope, name, steps)?)?.clone(),
        },
        Expr::Has(name, steps) => match scope.iter().rev().find(|(known, _)| known == name) {
            Some((_, Bound::Value(value))) => at(value, steps).is_some().into(),
            _ => at(root, &place(scope, name, steps)?).is_some().into(),
        },
        Expr::Not(inner) => (!truth(inner, root, scope)?).into(),
        Expr::And(parts) => all(parts.iter().map(|part| truth(part, root, scope)), false)?.into(),
        Expr::Or(parts) => all(parts.iter().map(|part| truth(part, root, scope)), true)?.into(),
        Expr::If(test, then, otherwise) => {
            let chosen = if truth(test, root, scope)? { then } else { otherwise };
            evaluate(chosen, root, scope)?
        }
        Expr::Compare(relation, left, right) => {
            let (left, right) = (evaluate(left, root, scope)?, evaluate(right, root, scope)?);
            compare(*relation, &left, &right)?.into()
        }
        Expr::In(item, list) => {
            let item = evaluate(item, root, scope)?;
            match evaluate(list, root, scope)? {
                Value::Array(items) => items.contains(&item).into(),
                Value::Object(map) => map.contains_key(item.as_str()?).into(),
                _ => return None,
            }
        }
        Expr::List(items) => items.iter().map(|item| evaluate(item, root, scope)).collect::<Option<Vec<_>>>()?.into(),
        Expr::Quantified(kind, range, variable, body) => quantified(*kind, range, variable, body, root, scope)?,
        Expr::Else(value, other) => match evaluate(value, root, scope) {
            Some(value) => value,
            None => evaluate(other, root, scope)?,
        },
        Expr::Call(name, args) => {
            let args = args.iter().map(|arg| evaluate(arg, root, scope)).collect::<Option<Vec<_>>>()?;
            call(name, &args)?
        }
    })
}

pub(super) fn truth(expr: &Expr, root: &Value, scope: &Scope) -> Option<bool> {
    evaluate(expr, root, scope)?.as_bool()
}

/// Returns true if all are true, or with `any` if one is; unknown ones do not matter if another one decides.
fn all(parts: impl Iterator<Item = Option<bool>>, any: bool) -> Option<bool> {
    let mut unknown = false;
    for part in parts {
        match part {
            Some(part) if part == any => return Some(any),
            Some(_) => {}
            None => unknown = true,
        }
    }
    (!unknown).then_some(!any)
}

/// The parts that a quantifier ranges over, each as the value of its variable.
pub(super) fn range(range: &Expr, root: &Value, scope: &Scope) -> Option<Vec<Bound>> {
    if let Expr::Part(name, steps) = range
        && let Some(place) = place(scope, name, steps)
    {
        return Some(match at(root, &place)? {
            Value::Array(items) => (0..items.len())
                .map(|index| Bound::Place(place.iter().cloned().chain([Seg::Item(index)]).collect()))
                .collect(),
            Value::Object(map) => map.keys().map(|key| Bound::Value(key.clone().into())).collect(),
            _ => return None,
        });
    }
    match evaluate(range, root, scope)? {
        Value::Array(items) => Some(items.into_iter().map(Bound::Value).collect()),
        Value::Object(map) => Some(map.into_iter().map(|(key, _)| Bound::Value(key.into())).collect()),
        _ => None,
    }
}

fn quantified(
    kind: Quantifier,
    over: &Expr,
    variable: &str,
    body: &Expr,
    root: &Value,
    scope: &Scope,
) -> Option<Value> {
    let parts = range(over, root, scope)?;
    let mut inner = scope.clone();
    let mut value_of = |bound: &Bound| {
        inner.push((variable.to_owned(), bound.clone()));
        let value = evaluate(body, root, &inner);
        inner.pop();
        value
    };
    let resolved = |bound: &Bound| match bound {
        Bound::Place(place) => at(root, place).cloned(),
        Bound::Value(value) => Some(value.clone()),
    };
    let holds: Vec<Option<Value>> = parts.iter().map(&mut value_of).collect();
    let truths = || holds.iter().map(|value| value.as_ref().and_then(Value::as_bool));
    Some(match kind {
        Quantifier::All => all(truths(), false)?.into(),
        Quantifier::Exists => all(truths(), true)?.into(),
        Quantifier::One => (truths().collect::<Option<Vec<_>>>()?.iter().filter(|holds| **holds).count() == 1).into(),
        Quantifier::Map => holds.into_iter().collect::<Option<Vec<_>>>()?.into(),
        Quantifier::Filter => {
            let kept = truths().collect::<Option<Vec<_>>>()?;
            let kept = parts.iter().zip(kept).filter(|(_, holds)| *holds);
            kept.map(|(part, _)| resolved(part)).collect::<Option<Vec<_>>>()?.into()
        }
    })
}

pub(super) fn compare(relation: Relation, left: &Value, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?)?,
        },
        (Value::String(a), Value::String(b)) => a.cmp(b),
        _ if left == right => Ordering::Equal,
        _ if matches!(relation, Relation::Equal | Relation::Unequal) => Ordering::Less,
        _ => return None,
    };
    Some(match relation {
        Relation::Equal => order.is_eq(),
        Relation::Unequal => order.is_ne(),
        Relation::Less => order.is_lt(),
        Relation::AtMost => order.is_le(),
        Relation::Greater => order.is_gt(),
        Relation::AtLeast => order.is_ge(),
    })
}

fn call(name: &str, args: &[Value]) -> Option<Value> {
    Some(match (name, args) {
        ("size", [Value::String(text)]) => text.chars().count().into(),
        ("size", [Value::Array(items)]) => items.len().into(),
        ("size", [Value::Object(map)]) => map.len().into(),
        ("string", [Value::String(text)]) => text.clone().into(),
        ("dyn", [value]) => value.clone(),
        ("contains", [Value::String(text), Value::String(part)]) => text.contains(part.as_str()).into(),
        ("startsWith", [Value::String(text), Value::String(part)]) => text.starts_with(part.as_str()).into(),
        ("endsWith", [Value::String(text), Value::String(part)]) => text.ends_with(part.as_str()).into(),
        ("matches", [Value::String(text), Value::String(pattern)]) => Pattern::new(pattern).matches(text).into(),
        ("lowerAscii", [Value::String(text)]) => text.to_ascii_lowercase().into(),
        ("upperAscii", [Value::String(text)]) => text.to_ascii_uppercase().into(),
        ("split", [Value::String(text), Value::String(by)]) => text.split(by.as_str()).collect::<Vec<_>>().into(),
        ("[]", [Value::Array(items), Value::Number(at)]) => items.get(usize::try_from(at.as_u64()?).ok()?)?.clone(),
        ("[]", [Value::Object(map), Value::String(key)]) => map.get(key)?.clone(),
        ("_+_", [Value::String(left), Value::String(right)]) => format!("{left}{right}").into(),
        ("_+_", [Value::Number(left), Value::Number(right)]) => left.as_i64()?.checked_add(right.as_i64()?)?.into(),
        ("_-_", [Value::Number(left), Value::Number(right)]) => left.as_i64()?.checked_sub(right.as_i64()?)?.into(),
        ("_*_", [Value::Number(left), Value::Number(right)]) => left.as_i64()?.checked_mul(right.as_i64()?)?.into(),
        ("_%_", [Value::Number(left), Value::Number(right)]) => left.as_i64()?.checked_rem(right.as_i64()?)?.into(),
        _ => return None,
    })
}
