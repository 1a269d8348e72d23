//! What a value may be: bounds, enumerations, patterns, formats, null and the default.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Number, Value};

use super::node::{Scene, same};
use super::{Direction, Shape, What};
use crate::structural::{Schema, Type};

/// A bound and whether the value itself is outside.
type Limit = (Number, bool);

impl Scene<'_> {
    pub(super) fn default(&mut self) {
        let (old, new) = (&self.old.default, &self.new.default);
        let equal = match (old, new) {
            (Some(old), Some(new)) => same(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if !equal {
            let what = What::DefaultChanged { old: old.clone(), new: new.clone() };
            self.tell("default", Direction::Meaning, what);
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
            // The server drops a null that a property or a map value may not hold.
            Direction::Lossy
        };
        self.tell("nullable", direction, What::NullableChanged { nullable });
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
            self.tell("uniqueItems", direction, what);
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
        // Nothing is shorter than nothing, so a lower bound of zero says nothing.
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

    /// `stricter` says which way a bound of this kind tightens.
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
        let word = |limit: Option<Limit>| {
            limit.map(|(number, excludes)| {
                let mark = if excludes { " (exclusive)" } else { "" };
                format!("{number}{mark}")
            })
        };
        let what = What::BoundChanged { keyword, old: word(old), new: word(new) };
        self.tell(keyword, tighter(tightened), what);
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
            (_, Some(_)) => Direction::Narrower,
        };
        let word = |number: &Option<Number>| number.as_ref().map(ToString::to_string);
        let what = What::BoundChanged {
            keyword: "multipleOf",
            old: word(&self.old.multiple_of),
            new: word(&self.new.multiple_of),
        };
        self.tell("multipleOf", direction, what);
    }

    fn enumeration(&mut self) {
        let (direction, what) = match (&self.old.enumeration, &self.new.enumeration) {
            (None, None) => return,
            (None, Some(values)) => {
                let values = values.clone();
                (Direction::Narrower, What::EnumAdded { values })
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
                let direction = tighter(!removed.is_empty());
                (direction, What::EnumChanged { removed, added })
            }
        };
        self.tell("enum", direction, what);
    }

    fn pattern(&mut self) {
        if self.old.pattern == self.new.pattern {
            return;
        }
        let text = |schema: &Schema| schema.pattern.as_ref().map(|pattern| pattern.text.clone());
        let (old, new) = (text(self.old), text(self.new));
        let free = |pattern: &Option<String>| {
            pattern.as_ref().is_none_or(|text| matches!(text.as_str(), "" | ".*" | "^.*" | ".*$" | "^" | "$"))
        };
        let direction = match (free(&old), free(&new)) {
            (true, true) => Direction::Harmless,
            (true, false) => Direction::Narrower,
            (false, true) => Direction::Wider,
            (false, false) => {
                let words = |text: &'_ Option<String>| -> Option<BTreeSet<String>> { alternatives(text.as_deref()?) };
                match (words(&old), words(&new)) {
                    (Some(old), Some(new)) if old == new => Direction::Harmless,
                    (Some(old), Some(new)) => tighter(!old.is_subset(&new)),
                    _ => Direction::Unknown,
                }
            }
        };
        self.tell("pattern", direction, What::PatternChanged { old, new });
    }

    fn format(&mut self) {
        let (old, new) = (&self.old.format, &self.new.format);
        if old == new {
            return;
        }
        let direction = match (in_force(self.old), in_force(self.new)) {
            (old, new) if old == new => Direction::Harmless,
            (Some(old), Some(new)) => tighter(!includes(&new, &old)),
            (_, new) => tighter(new.is_some()),
        };
        let what = What::FormatChanged { old: old.clone(), new: new.clone() };
        self.tell("format", direction, what);
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

/// The words of a pattern such as `^(a|b)$`, which is an enumeration in disguise.
fn alternatives(pattern: &str) -> Option<BTreeSet<String>> {
    let words = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let group = words.strip_prefix("(?:").or_else(|| words.strip_prefix('('));
    let words = match group {
        Some(group) => group.strip_suffix(')')?,
        // Without a group the anchors would belong to the first and the last word only.
        None if words.contains('|') => return None,
        None => words,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | ' ' | '|');
    let literal = words.chars().all(plain);
    literal.then(|| words.split('|').map(str::to_owned).collect())
}

/// Formats of text that API servers check; they read the names without dashes.
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

/// The format that a server enforces on values of this schema. Unknown names, `password` and
/// formats of another type mean nothing to it, and whole numbers fit int64 as it is.
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

/// Whether every value of one format is also one of the other.
fn includes(wide: &str, narrow: &str) -> bool {
    wide == narrow
        || matches!(
            (wide, narrow),
            ("uuid", "uuid3" | "uuid4" | "uuid5") | ("isbn", "isbn10" | "isbn13") | ("k8slongname", "k8sshortname")
        )
}
