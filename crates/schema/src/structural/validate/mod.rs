//! The schema keywords, judged as the server's validator judges them.
//!
//! Two of its habits shape this code. It counts how many checks of an alternative succeeded, because
//! of several failing alternatives it shows the one that came furthest. And it reports each message
//! once, so that two parts of a schema which say the same give one violation.

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

/// What comes of some checks.
pub(super) trait Outcome: Default {
    /// Whether nothing failed.
    fn is_valid(&self) -> bool;
    /// Something failed.
    fn add(&mut self, violation: impl FnOnce() -> Violation);
    /// A check succeeded.
    fn count(&mut self);
    /// The outcome of further checks belongs to this one.
    fn merge(&mut self, other: Self);
    /// Whether this failed later than another failure.
    fn came_further_than(&self, other: &Self) -> bool;
    /// As if nothing had failed.
    fn forgiven(self) -> Self;
}

/// An outcome with everything that is to be said about it.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// What failed.
    pub(super) violations: Vec<Violation>,
    /// How many checks succeeded.
    matches: usize,
}

impl Outcome for Tally {
    fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }

    fn add(&mut self, violation: impl FnOnce() -> Violation) {
        let violation = violation();
        if !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    fn count(&mut self) {
        self.matches += 1;
    }

    fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        for violation in other.violations {
            self.add(|| violation);
        }
    }

    fn came_further_than(&self, other: &Self) -> bool {
        self.matches > other.matches
    }

    fn forgiven(self) -> Self {
        Self { violations: Vec::new(), ..self }
    }
}

/// Whether anything failed, and nothing else: most values are valid, and need no words.
#[derive(Default)]
struct Failed(bool);

impl Outcome for Failed {
    fn is_valid(&self) -> bool {
        !self.0
    }

    fn add(&mut self, _: impl FnOnce() -> Violation) {
        self.0 = true;
    }

    fn count(&mut self) {}

    fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn came_further_than(&self, _: &Self) -> bool {
        false
    }

    fn forgiven(self) -> Self {
        Self(false)
    }
}

/// What the keywords of a schema say about a value as it is. Rules and list types are not looked at.
pub(crate) fn keywords(schema: &Schema, value: &Value, kubernetes: KubeVersion) -> Vec<Violation> {
    Check { schema, value, kubernetes, nesting: 0 }.violations(&Place::root(), None)
}

/// Whether they say nothing against it.
pub fn fits(schema: &Schema, value: &Value, kubernetes: KubeVersion) -> bool {
    Check { schema, value, kubernetes, nesting: 0 }.run::<Failed>(&Place::root(), None).is_valid()
}

/// A value under the schema validator.
pub(super) struct Check<'a> {
    /// The schema node.
    pub(super) schema: &'a Schema,
    /// The value.
    pub(super) value: &'a Value,
    /// The release whose server judges.
    pub(super) kubernetes: KubeVersion,
    /// How many compositions this node stands in; they do not deepen the place.
    pub(super) nesting: usize,
}

/// A number as Go holds it: whole if it was written so and fits, else floating.
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
    /// What is wrong with the value.
    pub(super) fn violations(&self, place: &Place<'_>, correlation: Option<&Correlation<'a>>) -> Vec<Violation> {
        if self.run::<Failed>(place, None).is_valid() {
            return Vec::new();
        }
        self.run::<Tally>(place, correlation).violations
    }

    /// Runs the check, forgiving what an update leaves as it was.
    fn run<T: Outcome>(&self, place: &Place<'_>, correlation: Option<&Correlation<'a>>) -> T {
        let outcome: T = self.all(place, correlation);
        let forgiven = !outcome.is_valid() && correlation.is_some_and(Correlation::is_unchanged);
        if forgiven { outcome.forgiven() } else { outcome }
    }

    fn all<T: Outcome>(&self, place: &Place<'_>, correlation: Option<&Correlation<'a>>) -> T {
        let mut outcome = T::default();
        if place.is_too_deep() || self.nesting > super::place::DEPTH_LIMIT {
            let message = "nested too deeply to be judged";
            outcome.add(|| place.broken(Reason::Invalid, "properties", message.to_owned()));
            return outcome;
        }
        if self.value.is_null() {
            self.type_of_null(place, &mut outcome);
            self.enumeration(place, &mut outcome);
            return outcome;
        }
        let format = Format::of(self.schema, self.kubernetes);
        if !self.types().is_empty() || format.is_some() {
            self.types_and(format, place, &mut outcome);
            outcome.count();
        }
        outcome.merge(self.compositions(place));
        outcome.count();
        match self.value {
            Value::String(text) => self.text(text, format, place, &mut outcome),
            Value::Number(_) => {
                outcome.merge(self.number(format, place));
                outcome.count();
            }
            Value::Array(items) => {
                outcome.merge(self.items(items, place, correlation));
                outcome.count();
            }
            Value::Object(_) | Value::Null | Value::Bool(_) => {}
        }
        self.enumeration(place, &mut outcome);
        outcome.count();
        if let Value::Object(map) = self.value {
            outcome.merge(self.properties(map, place, correlation));
            outcome.count();
        }
        outcome.count();
        outcome
    }

    /// The same value against another schema node, which stands in a composition of this one.
    fn alternative(&self, schema: &'a Schema) -> Check<'a> {
        Check { schema, nesting: self.nesting + 1, ..*self }
    }

    /// A part of the value against the schema of that part.
    fn part(&self, schema: &'a Schema, value: &'a Value) -> Check<'a> {
        Check { schema, value, ..*self }
    }

    /// The types that the schema allows.
    fn types(&self) -> &'a [Type] {
        if self.schema.int_or_string { &[Type::Integer, Type::String] } else { self.schema.ty.as_slice() }
    }

    /// The only type, where there is one and values are checked against its width.
    fn numeric_type(&self) -> Option<Type> {
        match self.types() {
            [only] if enforces_width(self.kubernetes) => Some(*only),
            _ => None,
        }
    }

    fn type_of_null(&self, place: &Place<'_>, outcome: &mut impl Outcome) {
        if self.types().is_empty() || self.schema.nullable {
            outcome.count();
        } else {
            outcome.add(|| self.wrong_type("null", place));
        }
    }

    fn types_and(&self, format: Option<Format>, place: &Place<'_>, outcome: &mut impl Outcome) {
        let types = self.types();
        let numeric = types.contains(&Type::Integer) || types.contains(&Type::Number);
        let fits = types.contains(&self.actual_type()) || self.passes_as_number();
        let composed = self.value.is_string() || self.value.is_array();
        // A format without a numeric type says that strings are meant, and lists slip through.
        if fits || (format.is_some() && composed && !numeric) {
            outcome.count();
        } else {
            outcome.add(|| self.wrong_type(self.actual_type().as_str(), place));
        }
    }

    fn wrong_type(&self, actual: &str, place: &Place<'_>) -> Violation {
        let types: Vec<_> = self.types().iter().map(|ty| ty.as_str()).collect();
        let wanted = match &self.schema.format {
            Some(format) if types.is_empty() => format!("a string of format {format}"),
            _ => format!("of type {}", types.join(" or ")),
        };
        let message = format!("must be {wanted}, is of type {actual}");
        place.broken(Reason::TypeInvalid, "type", message)
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

    /// A number without a fraction passes as whole, and a whole one as any number.
    fn passes_as_number(&self) -> bool {
        match Numeric::of(self.value) {
            Some(Numeric::Whole(_)) => self.types().contains(&Type::Number),
            Some(Numeric::Floating(floating)) => self.types().contains(&Type::Integer) && number::is_whole(floating),
            None => false,
        }
    }
}
