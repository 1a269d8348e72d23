//! Facts about the values of an old schema: finite sets, bounds, sizes and strings.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::language::Texts;
use super::presence::{Node, World};
use super::rule_logic::Formula;
use super::rule_terms::number;
use super::value::{Limit, order};
use crate::kubernetes::KubeVersion;
use crate::structural::{Schema, Type, fits};

/// The values of a schema that allows only some. Skips values that its other keywords refuse.
pub(super) fn finite(schema: &Schema) -> Option<Vec<Value>> {
    let booleans = [Value::Bool(false), Value::Bool(true)];
    let values = match (&schema.enumeration, schema.ty) {
        (Some(values), _) => values.as_slice(),
        (None, Some(Type::Boolean)) => &booleans,
        (None, _) => return None,
    };
    let mut values: Vec<_> = values.iter().filter(|value| fits(schema, value, KubeVersion::NEWEST)).cloned().collect();
    if schema.nullable {
        values.push(Value::Null);
    }
    Some(values)
}

/// Returns true if every value of a finite old schema fits the new one.
pub(super) fn all_fit(old: &Schema, new: &Schema) -> bool {
    finite(old).is_some_and(|values| {
        values.iter().all(|value| value.is_null() && new.nullable || fits(new, value, KubeVersion::NEWEST))
    })
}

/// The strictest lower bound of numbers of a schema.
pub(super) fn lower(schema: &Schema) -> Option<Limit> {
    let stated = schema.minimum.clone().map(|number| (number, schema.exclusive_minimum));
    let stated = stated.map(|limit| if is_whole(schema) { inclusive(limit, 1) } else { limit });
    strictest(stated, width(schema).map(|(low, _)| (low.into(), false)), Ordering::Greater)
}

/// The strictest upper bound of numbers of a schema.
pub(super) fn upper(schema: &Schema) -> Option<Limit> {
    let stated = schema.maximum.clone().map(|number| (number, schema.exclusive_maximum));
    let stated = stated.map(|limit| if is_whole(schema) { inclusive(limit, -1) } else { limit });
    strictest(stated, width(schema).map(|(_, high)| (high.into(), false)), Ordering::Less)
}

fn is_whole(schema: &Schema) -> bool {
    schema.ty == Some(Type::Integer) && !schema.int_or_string
}

/// For integers, more than 5 is at least 6.
fn inclusive(limit: Limit, by: i64) -> Limit {
    match (limit.0.as_i64().and_then(|number| number.checked_add(by)), limit.1) {
        (Some(number), true) => (number.into(), false),
        _ => limit,
    }
}

fn width(schema: &Schema) -> Option<(i64, i64)> {
    let format = schema.format.as_deref();
    match (is_whole(schema), format) {
        (true, Some("int32")) => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        (true, _) => Some((i64::MIN, i64::MAX)),
        (false, _) => None,
    }
}

fn strictest(one: Option<Limit>, other: Option<Limit>, stricter: Ordering) -> Option<Limit> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if implies(&one, &other, stricter) { one } else { other }),
        (one, other) => one.or(other),
    }
}

/// Returns true if a bound implies another one of its kind; `stricter` is the direction in which they tighten.
pub(super) fn implies(old: &Limit, new: &Limit, stricter: Ordering) -> bool {
    match order(&old.0, &new.0) {
        Ordering::Equal => old.1 || !new.1,
        order => order == stricter,
    }
}

/// The minimum and the maximum size of lists and objects.
fn sizes(schema: &Schema) -> Option<(i64, Option<i64>)> {
    let least =
        |stated: Option<i64>, other: usize| stated.unwrap_or_default().max(i64::try_from(other).unwrap_or_default());
    let most = |stated: Option<i64>, other: Option<usize>| {
        let other = other.and_then(|other| i64::try_from(other).ok());
        stated.into_iter().chain(other).min()
    };
    match schema.ty? {
        Type::Array => {
            // A set contains each value once.
            let is_set = schema.list_type.as_deref() == Some("set");
            let values = schema.items.as_deref().filter(|_| is_set).and_then(finite);
            Some((least(schema.min_items, 0), most(schema.max_items, values.map(|values| values.len()))))
        }
        Type::Object => {
            let is_open = schema.preserves_unknown() || schema.additional.is_some() || schema.embedded_resource;
            let count = (!is_open).then_some(schema.properties.len());
            Some((least(schema.min_properties, schema.required.len()), most(schema.max_properties, count)))
        }
        Type::String | Type::Boolean | Type::Integer | Type::Number => None,
    }
}

/// Returns true if values of a schema have at least, or at most, this size.
pub(super) fn has_size(schema: &Schema, least: Option<i64>, most: Option<i64>) -> bool {
    if schema.ty == Some(Type::String) && !schema.int_or_string {
        let within = |new: Option<i64>, old: Option<i64>, order: Ordering| {
            new.is_none_or(|new| old.is_some_and(|old| old == new || old.cmp(&new) == order))
        };
        // Without a pattern or format there are only the lengths.
        let has_form = schema.pattern.is_some() || schema.format.is_some();
        return within(least.filter(|least| *least > 0), schema.min_length, Ordering::Greater)
            && within(most, schema.max_length, Ordering::Less)
            || has_form
                && Texts::of_length(least, most).and_then(|texts| Texts::of(schema).are_among(&texts)) == Some(true);
    }
    sizes(schema).is_some_and(|(low, high)| {
        least.is_none_or(|least| low >= least) && most.is_none_or(|most| high.is_some_and(|high| high <= most))
    })
}

/// Returns true if a literal of a rule is true of every object that fits the old schema.
pub(super) fn follows(node: Node<'_>, world: &World, literal: &Formula) -> bool {
    let schema = |subject: &str| node.old_at(world, &split(subject)?);
    match literal {
        Formula::Less { left, right, or_equal } => {
            let bound = |text: &str| number(text).and_then(|_| serde_json::from_str::<Number>(text).ok());
            match (bound(left), bound(right)) {
                (Some(low), None) => is_bounded(right, &schema, &(low, !or_equal), Ordering::Greater),
                (None, Some(high)) => is_bounded(left, &schema, &(high, !or_equal), Ordering::Less),
                _ => false,
            }
        }
        Formula::In { subject, values, expected } => schema(subject).is_some_and(|schema| {
            if *expected {
                let all = finite(schema);
                return all.is_some_and(|all| all.iter().all(|value| values.contains(&text_of(value))));
            }
            // A value that the schema refuses cannot occur.
            let refused = |text: &String| {
                serde_json::from_str(text).is_ok_and(|value: Value| !fits(schema, &value, KubeVersion::NEWEST))
            };
            values.iter().all(refused)
        }),
        Formula::Atom { term, expected: true } => matched(term).is_some_and(|(subject, pattern)| {
            let texts = Texts::matching(&pattern);
            schema(subject).is_some_and(|schema| is_text(schema, texts))
        }),
        Formula::Atom { .. } | Formula::Each { .. } | Formula::Opaque(_) | Formula::Or(_) | Formula::And(_) => false,
    }
}

fn is_bounded<'a>(
    subject: &str,
    schema: &dyn Fn(&str) -> Option<&'a Schema>,
    limit: &Limit,
    stricter: Ordering,
) -> bool {
    if let Some(inner) = subject.strip_prefix("_.size(").and_then(|rest| rest.strip_suffix(')')) {
        let Some(size) = limit.0.as_i64().filter(|_| !limit.1) else { return false };
        let is_lower = stricter == Ordering::Greater;
        let (least, most) = if is_lower { (Some(size), None) } else { (None, Some(size)) };
        // New defaults may add fields to an object.
        let is_kept = |schema: &Schema| is_lower || schema.ty != Some(Type::Object);
        return schema(inner).is_some_and(|schema| is_kept(schema) && has_size(schema, least, most));
    }
    let Some(schema) = schema(subject) else { return false };
    let known = if stricter == Ordering::Greater { lower(schema) } else { upper(schema) };
    known.is_some_and(|known| implies(&known, limit, stricter))
        || finite(schema).is_some_and(|values| {
            let mut numbers = values.iter().map(|value| match value {
                Value::Number(number) => Some((number.clone(), false)),
                _ => None,
            });
            numbers.all(|number| number.is_some_and(|number| implies(&number, limit, stricter)))
        })
}

/// Returns true if every string of a schema is one of these.
pub(super) fn is_text(schema: &Schema, texts: Option<Texts>) -> bool {
    let Some(texts) = texts else { return false };
    let words = finite(schema);
    let words = words.as_ref().map(|values| values.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let all = match words {
        Some(Some(words)) => Texts::one_of(words),
        None if schema.ty == Some(Type::String) && !schema.int_or_string => Texts::of(schema),
        Some(None) | None => return false,
    };
    all.are_among(&texts) == Some(true)
}

/// The subject and the pattern of `self.a.matches('…')`.
fn matched(term: &str) -> Option<(&str, String)> {
    let (subject, pattern) = term.strip_prefix("_.matches(")?.strip_suffix(')')?.split_once(',')?;
    Some((subject, unquoted(pattern)?))
}

/// Reads a string as it is printed in terms. `None` for those that JSON writes differently.
fn unquoted(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

/// A value as rules print it.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        value => value.to_string(),
    }
}

/// The names of a term such as `self.a.b`.
fn split(term: &str) -> Option<Vec<String>> {
    let rest = term.strip_prefix("self")?;
    let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let names = rest.strip_prefix('.').map(|rest| rest.split('.').collect::<Vec<_>>());
    match (rest.is_empty(), names) {
        (true, _) => Some(Vec::new()),
        (false, Some(names)) if names.iter().all(|name| is_plain(name)) => {
            Some(names.into_iter().map(str::to_owned).collect())
        }
        (false, _) => None,
    }
}
