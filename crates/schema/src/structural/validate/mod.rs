//! Validates schema keywords like the server's validator.
//!
//! It counts the successful checks of an alternative, because of several failing alternatives the server shows the one
//! that came furthest. It reports each message once, so that two parts of a schema with the same message give one
//! violation.

mod logic;
mod number;
mod object;
mod scalar;

use serde_json::Value;

use super::format::{Format, enforces_width};
use super::place::Place;
use super::ratchet::Correlation;
use super::verdict::{Reason, Violation};
use super::{Schema, Type};
use crate::kubernetes::KubeVersion;

/// The violations, and the number of successful checks.
#[derive(Debug, Default)]
struct Tally {
    violations: Vec<Violation>,
    matches: usize,
}

impl Tally {
    fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }

    fn add(&mut self, violation: Violation) {
        if !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    /// Counts a successful check.
    fn count(&mut self) {
        self.matches += 1;
    }

    fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        other.violations.into_iter().for_each(|violation| self.add(violation));
    }
}

/// Returns the violations of the keywords of a schema by a value. Ignores rules and list types.
pub(crate) fn keywords(schema: &Schema, value: &Value, kubernetes: KubeVersion) -> Vec<Violation> {
    Check { schema, value, kubernetes, nesting: 0 }.violations(&Place::root(), None)
}

/// Returns true if there are none.
pub fn fits(schema: &Schema, value: &Value, kubernetes: KubeVersion) -> bool {
    keywords(schema, value, kubernetes).is_empty()
}

/// A value and the schema node to validate it by.
pub(super) struct Check<'a> {
    /// The schema node.
    pub(super) schema: &'a Schema,
    /// The value.
    pub(super) value: &'a Value,
    /// The release of the server.
    pub(super) kubernetes: KubeVersion,
    /// The number of compositions around this node; they do not deepen the place.
    pub(super) nesting: usize,
}

/// A number as Go holds it: an integer if it was written so and fits, otherwise floating point.
#[derive(Clone, Copy)]
enum Numeric {
    Whole(i64),
    Floating(f64),
}

impl Numeric {
    fn of(value: &Value) -> Option<Self> {
        let number = value.as_number()?;
        match number.as_i64() {
            Some(whole) => Some(Self::Whole(whole)),
            None => number.as_f64().map(Self::Floating),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the server compares in this precision")]
    fn to_f64(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Floating(floating) => floating,
        }
    }
}

impl<'a> Check<'a> {
    /// Returns the violations of the value.
    pub(super) fn violations(&self, place: &Place<'_>, correlation: Option<&Correlation<'a>>) -> Vec<Violation> {
        self.run(place, correlation).violations
    }

    /// Runs the check, and accepts values that an update does not change.
    fn run(&self, place: &Place<'_>, correlation: Option<&Correlation<'a>>) -> Tally {
        let mut tally = self.all(place, correlation);
        if !tally.is_valid() && correlation.is_some_and(Correlation::is_unchanged) {
            tally.violations.clear();
        }
        tally
    }

    fn all(&self, place: &Place<'_>, correlation: Option<&Correlation<'a>>) -> Tally {
        let mut tally = Tally::default();
        if place.is_too_deep() || self.nesting > super::place::DEPTH_LIMIT {
            let message = "nested too deeply to be judged";
            tally.add(place.violation(Reason::Invalid, "properties", message.to_owned()));
            return tally;
        }
        if self.value.is_null() {
            self.type_of_null(place, &mut tally);
            self.enumeration(place, &mut tally);
            return tally;
        }
        let format = Format::of(self.schema, self.kubernetes);
        if !self.types().is_empty() || format.is_some() {
            self.types_and(format, place, &mut tally);
            tally.count();
        }
        tally.merge(self.compositions(place));
        tally.count();
        match self.value {
            Value::String(text) => self.text(text, format, place, &mut tally),
            Value::Number(_) => {
                tally.merge(self.number(format, place));
                tally.count();
            }
            Value::Array(items) => {
                tally.merge(self.items(items, place, correlation));
                tally.count();
            }
            Value::Object(_) | Value::Null | Value::Bool(_) => {}
        }
        self.enumeration(place, &mut tally);
        tally.count();
        if let Value::Object(map) = self.value {
            tally.merge(self.properties(map, place, correlation));
            tally.count();
        }
        tally.count();
        tally
    }

    /// The same value with another schema node, in a composition of this one.
    fn alternative(&self, schema: &'a Schema) -> Check<'a> {
        Check { schema, nesting: self.nesting + 1, ..*self }
    }

    /// A part of the value with the schema of that part.
    fn part(&self, schema: &'a Schema, value: &'a Value) -> Check<'a> {
        Check { schema, value, ..*self }
    }

    /// The types that the schema allows.
    fn types(&self) -> &'a [Type] {
        if self.schema.int_or_string { &[Type::Integer, Type::String] } else { self.schema.ty.as_slice() }
    }

    /// The only type, if there is one and values are checked against its width.
    fn numeric_type(&self) -> Option<Type> {
        match self.types() {
            [only] if enforces_width(self.kubernetes) => Some(*only),
            _ => None,
        }
    }

    fn type_of_null(&self, place: &Place<'_>, tally: &mut Tally) {
        if self.types().is_empty() || self.schema.nullable {
            tally.count();
        } else {
            tally.add(self.wrong_type("null", place));
        }
    }

    fn types_and(&self, format: Option<Format>, place: &Place<'_>, tally: &mut Tally) {
        let types = self.types();
        let numeric = types.contains(&Type::Integer) || types.contains(&Type::Number);
        let fits = types.contains(&self.actual_type()) || self.passes_as_number();
        let composed = self.value.is_string() || self.value.is_array();
        // A format without a numeric type implies strings, but lists are accepted.
        if fits || (format.is_some() && composed && !numeric) {
            tally.count();
        } else {
            tally.add(self.wrong_type(self.actual_type().as_str(), place));
        }
    }

    fn wrong_type(&self, actual: &str, place: &Place<'_>) -> Violation {
        let types: Vec<_> = self.types().iter().map(|ty| ty.as_str()).collect();
        let wanted = match &self.schema.format {
            Some(format) if types.is_empty() => format!("a string of format {format}"),
            _ => format!("of type {}", types.join(" or ")),
        };
        let message = format!("must be {wanted}, is of type {actual}");
        place.violation(Reason::TypeInvalid, "type", message)
    }

    fn actual_type(&self) -> Type {
        match self.value {
            Value::Bool(_) => Type::Boolean,
            Value::Number(number) if number.is_i64() => Type::Integer,
            Value::Number(_) => Type::Number,
            Value::String(_) | Value::Null => Type::String,
            Value::Array(_) => Type::Array,
            Value::Object(_) => Type::Object,
        }
    }

    /// A number without a fraction passes as an integer, and an integer as any number.
    fn passes_as_number(&self) -> bool {
        match Numeric::of(self.value) {
            Some(Numeric::Whole(_)) => self.types().contains(&Type::Number),
            Some(Numeric::Floating(floating)) => self.types().contains(&Type::Integer) && number::is_whole(floating),
            None => false,
        }
    }
}
