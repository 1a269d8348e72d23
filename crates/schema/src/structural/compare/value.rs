//! Constraints on values: bounds, enumerations, patterns, formats, null and the default.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::known::{all_fit, has_size, implies, is_text, lower, text_of, upper};
use super::language::Texts;
use super::node::{Scene, same};
use super::presence::filled;
use super::rule_logic::Formula;
use super::{Direction, Shape, What};
use crate::structural::{Schema, Type};

/// A bound, and true if it is exclusive.
pub(super) type Limit = (Number, bool);

impl Scene<'_> {
    pub(super) fn default(&mut self) {
        let (old, new) = (&self.old.default, &self.new.default);
        let equal = match (old, new) {
            (Some(old), Some(new)) => same(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if !equal {
            // A default with the meaning of absence, or that no object can need, changes nothing.
            let is_idle = self.at.was_required || filled(self.new).is_some_and(|value| is_empty(&value));
            let direction = if old.is_none() && is_idle { Direction::Harmless } else { Direction::Meaning };
            let what = What::DefaultChanged { old: old.clone(), new: new.clone() };
            self.report("default", direction, what);
        }
    }

    pub(super) fn nullable(&mut self) {
        let nullable = self.new.nullable;
        if self.old.nullable == nullable {
            return;
        }
        let direction = if nullable {
            Direction::Wider
        } else if self.at.is_item() || self.at.required {
            Direction::Narrower
        } else {
            // The server drops a null that a property or a map value does not allow.
            Direction::Lossy
        };
        self.report("nullable", direction, What::NullableChanged { nullable });
    }

    pub(super) fn values(&mut self) {
        self.bounds();
        self.multiple_of();
        if self.old.unique_items != self.new.unique_items {
            let word = |unique: bool| unique.then(|| "true".to_owned());
            let direction = tighter(self.new.unique_items);
            let what = What::BoundChanged {
                keyword: "uniqueItems",
                old: word(self.old.unique_items),
                new: word(self.new.unique_items),
            };
            self.report("uniqueItems", direction, what);
        }
        self.enumeration();
        self.pattern();
        self.format();
    }

    fn bounds(&mut self) {
        let (old, new) = (self.old, self.new);
        let limit = |number: &Option<Number>, exclusive| number.clone().map(|n| (n, exclusive));
        let low = |schema: &Schema| limit(&schema.minimum, schema.exclusive_minimum);
        let high = |schema: &Schema| limit(&schema.maximum, schema.exclusive_maximum);
        self.bound("minimum", Ordering::Greater, low(old), low(new));
        self.bound("maximum", Ordering::Less, high(old), high(new));
        let size = |size: Option<i64>| size.map(|size| (Number::from(size), false));
        // A lower bound of zero has no effect.
        let least = |size: Option<i64>| size.filter(|size| *size > 0).map(|n| (n.into(), false));
        for (keyword, old, new) in [
            ("minLength", old.min_length, new.min_length),
            ("minItems", old.min_items, new.min_items),
            ("minProperties", old.min_properties, new.min_properties),
        ] {
            self.bound(keyword, Ordering::Greater, least(old), least(new));
        }
        for (keyword, old, new) in [
            ("maxLength", old.max_length, new.max_length),
            ("maxItems", old.max_items, new.max_items),
            ("maxProperties", old.max_properties, new.max_properties),
        ] {
            self.bound(keyword, Ordering::Less, size(old), size(new));
        }
    }

    /// `stricter` is the direction in which a bound of this kind tightens.
    fn bound(&mut self, keyword: &'static str, stricter: Ordering, old: Option<Limit>, new: Option<Limit>) {
        let tightened = match (&old, &new) {
            (None, None) => return,
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (Some((old, old_excludes)), Some((new, new_excludes))) => match order(new, old) {
                Ordering::Equal if old_excludes == new_excludes => return,
                Ordering::Equal => *new_excludes,
                order => order == stricter,
            },
        };
        let is_implied = tightened && new.as_ref().is_some_and(|new| self.implies_bound(keyword, stricter, new));
        let direction = if is_implied { Direction::Harmless } else { tighter(tightened) };
        let word = |limit: Option<Limit>| {
            limit.map(|(number, excludes)| {
                let mark = if excludes { " (exclusive)" } else { "" };
                format!("{number}{mark}")
            })
        };
        let what = What::BoundChanged { keyword, old: word(old), new: word(new) };
        self.report(keyword, direction, what);
    }

    /// Returns true if all old values satisfy a new bound for other reasons than the old bound.
    fn implies_bound(&self, keyword: &str, stricter: Ordering, limit: &Limit) -> bool {
        let size = limit.0.as_i64();
        let is_kept = match keyword {
            "minimum" => lower(self.old).is_some_and(|old| implies(&old, limit, stricter)),
            "maximum" => upper(self.old).is_some_and(|old| implies(&old, limit, stricter)),
            "minLength" | "minItems" | "minProperties" => has_size(self.old, size, None),
            // New defaults add properties.
            "maxProperties" if self.at.is_root() || self.node().altered().1 => false,
            _ => has_size(self.old, None, size),
        };
        let number = limit.0.to_string();
        let subject = if matches!(keyword, "minimum" | "maximum") { "self" } else { "_.size(self)" }.to_owned();
        let goal = match stricter {
            Ordering::Greater => Formula::less(number, subject, !limit.1),
            Ordering::Less | Ordering::Equal => Formula::less(subject, number, !limit.1),
        };
        is_kept || all_fit(self.old, self.new) || self.follows(&goal)
    }

    fn multiple_of(&mut self) {
        let float = |number: &Option<Number>| number.as_ref().and_then(Number::as_f64);
        let (old, new) = (float(&self.old.multiple_of), float(&self.new.multiple_of));
        let whole = |ratio: f64| ratio.is_finite() && (ratio - ratio.round()).abs() < 1e-9;
        let direction = match (old, new) {
            (None, None) => return,
            (Some(old), Some(new)) if (old - new).abs() < f64::EPSILON => return,
            (_, None) => Direction::Wider,
            (Some(old), Some(new)) if whole(old / new) => Direction::Wider,
            (_, Some(_)) if all_fit(self.old, self.new) => Direction::Harmless,
            (_, Some(_)) => Direction::Narrower,
        };
        let word = |number: &Option<Number>| number.as_ref().map(ToString::to_string);
        let what = What::BoundChanged {
            keyword: "multipleOf",
            old: word(&self.old.multiple_of),
            new: word(&self.new.multiple_of),
        };
        self.report("multipleOf", direction, what);
    }

    fn enumeration(&mut self) {
        let (direction, what) = match (&self.old.enumeration, &self.new.enumeration) {
            (None, None) => return,
            (None, Some(values)) => {
                let values = values.clone();
                let direction = if self.is_among(&values) { Direction::Harmless } else { Direction::Narrower };
                (direction, What::EnumAdded { values })
            }
            (Some(values), None) => {
                let values = values.clone();
                (Direction::Wider, What::EnumRemoved { values })
            }
            (Some(old), Some(new)) => {
                let (removed, added) = (without(old, new), without(new, old));
                if removed.is_empty() && added.is_empty() {
                    return;
                }
                let direction = tighter(!removed.is_empty() && !self.is_among(new));
                (direction, What::EnumChanged { removed, added })
            }
        };
        self.report("enum", direction, what);
    }

    /// Returns true if every old value is one of these.
    fn is_among(&self, values: &[Value]) -> bool {
        let texts = || values.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
        let goal = || Formula::member("self".to_owned(), values.iter().map(text_of).collect(), true);
        all_fit(self.old, self.new)
            || texts().is_some_and(|texts| is_text(self.old, Some(Texts::one_of(texts))))
            || self.follows(&goal())
    }

    fn pattern(&mut self) {
        if self.old.pattern == self.new.pattern {
            return;
        }
        let text = |schema: &Schema| schema.pattern.as_ref().map(|pattern| pattern.text.clone());
        let (old, new) = (text(self.old), text(self.new));
        let matching =
            |text: &Option<String>| text.as_ref().map_or_else(|| Some(Texts::all()), |text| Texts::matching(text));
        let among = |all: &Schema, texts: Option<Texts>| texts.and_then(|texts| Texts::of(all).are_among(&texts));
        let forth = among(self.old, matching(&new));
        let direction = match (forth, among(self.new, matching(&old))) {
            (Some(true), Some(true)) => Direction::Harmless,
            (Some(true), _) => Direction::Wider,
            _ if all_fit(self.old, self.new) || new.as_deref().is_some_and(|new| self.matches(new)) => {
                Direction::Harmless
            }
            (Some(false), _) => Direction::Narrower,
            (None, _) => Direction::Unknown,
        };
        self.report("pattern", direction, What::PatternChanged { old, new });
    }

    /// Returns true if old rules require a pattern.
    fn matches(&self, pattern: &str) -> bool {
        let term = format!("_.matches(self,{pattern:?})");
        self.follows(&Formula::Atom { term, expected: true })
    }

    fn format(&mut self) {
        let (old, new) = (&self.old.format, &self.new.format);
        if old == new {
            return;
        }
        let direction = match (in_force(self.old), in_force(self.new)) {
            (old, new) if old == new || all_fit(self.old, self.new) => Direction::Harmless,
            (Some(old), Some(new)) => tighter(!includes(&new, &old)),
            (_, new) => tighter(new.is_some()),
        };
        let what = What::FormatChanged { old: old.clone(), new: new.clone() };
        self.report("format", direction, what);
    }
}

fn tighter(tighter: bool) -> Direction {
    if tighter { Direction::Narrower } else { Direction::Wider }
}

/// Compares numbers by value, integers exactly.
pub(super) fn order(left: &Number, right: &Number) -> Ordering {
    let whole = |number: &Number| {
        let signed = number.as_i64().map(i128::from);
        signed.or_else(|| number.as_u64().map(i128::from))
    };
    if let (Some(left), Some(right)) = (whole(left), whole(right)) {
        return left.cmp(&right);
    }
    let float = |number: &Number| number.as_f64().unwrap_or_default();
    float(left).partial_cmp(&float(right)).unwrap_or(Ordering::Equal)
}

fn without(values: &[Value], others: &[Value]) -> Vec<Value> {
    let missing = |value: &&Value| !others.iter().any(|other| same(value, other));
    values.iter().filter(missing).cloned().collect()
}

/// Returns true if a value means the same as its absence to most programs.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// String formats that API servers check; they ignore dashes in the names.
const TEXT_FORMATS: [&str; 24] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
];

/// The format that a server enforces on values of this schema. It ignores unknown names, `password` and formats of
/// another type, and integers always fit int64.
fn in_force(schema: &Schema) -> Option<String> {
    let name = schema.format.as_ref()?.replace('-', "");
    let known = match Shape::of(schema) {
        Shape::Of(Type::Integer) => name == "int32",
        Shape::Of(Type::Number) => name == "float",
        Shape::Of(Type::Boolean | Type::Array | Type::Object) => false,
        Shape::Of(Type::String) | Shape::IntOrString | Shape::Any => {
            name == "uuid5" || TEXT_FORMATS.contains(&name.as_str())
        }
    };
    known.then_some(name)
}

/// Returns true if every value of one format is also one of the other.
fn includes(wide: &str, narrow: &str) -> bool {
    wide == narrow
        || matches!(
            (wide, narrow),
            ("uuid", "uuid3" | "uuid4" | "uuid5") | ("isbn", "isbn10" | "isbn13") | ("k8slongname", "k8sshortname")
        )
}
