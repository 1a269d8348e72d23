//! `enum`, and the keywords of strings.

use serde_json::Value;

use super::super::format::Format;
use super::super::place::Place;
use super::super::verdict::Reason;
use super::number::cut;
use super::{Check, Numeric, Tally};

impl Check<'_> {
    pub(super) fn text(&self, text: &str, format: Option<Format>, place: &Place<'_>, tally: &mut Tally) {
        self.length_or_pattern(text, place, tally);
        tally.count();
        if let Some(Format::Text(test)) = format {
            if !test(text) {
                let name = self.schema.format.as_deref().unwrap_or_default();
                let message = format!("{text:?} is not of format {name}");
                tally.add(place.violation(Reason::TypeInvalid, "format", message));
            }
            tally.count();
        }
    }

    /// Only the first one that fails is reported.
    fn length_or_pattern(&self, text: &str, place: &Place<'_>, tally: &mut Tally) {
        let schema = self.schema;
        let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(most) = schema.max_length.filter(|most| length() > *most) {
            let message = format!("has {} characters, may have at most {most}", length());
            tally.add(place.violation(Reason::TooLong, "maxLength", message));
        } else if let Some(least) = schema.min_length.filter(|least| length() < *least) {
            let message = format!("{text:?} has {} characters, must have {least}", length());
            tally.add(place.violation(Reason::Invalid, "minLength", message));
        } else if let Some(pattern) = &schema.pattern
            && !(pattern.text.is_empty() || pattern.matches(text))
        {
            let message = format!("{text:?} does not match {}", pattern.text);
            tally.add(place.violation(Reason::Invalid, "pattern", message));
        }
    }

    pub(super) fn enumeration(&self, place: &Place<'_>, tally: &mut Tally) {
        let Some(allowed) = &self.schema.enumeration else { return };
        if allowed.iter().any(|allowed| is_same(self.value, allowed)) {
            return;
        }
        let names = allowed.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        let message = format!("{} is not one of {}", self.value, names);
        tally.add(place.violation(Reason::NotSupported, "enum", message));
    }
}

/// The server converts the value to the type of the enumerated one before comparing. Hence 1.5 is among the integers if
/// 1 is, and 65 is `A`. Null is never among the values.
fn is_same(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(_), Value::Number(_)) => match (Numeric::of(value), Numeric::of(allowed)) {
            (Some(Numeric::Whole(value)), Some(Numeric::Whole(allowed))) => value == allowed,
            (Some(Numeric::Floating(value)), Some(Numeric::Whole(allowed))) => cut(value) == allowed,
            (Some(value), Some(Numeric::Floating(allowed))) => value.to_f64().total_cmp(&allowed).is_eq(),
            _ => false,
        },
        (Value::Number(number), Value::String(allowed)) => number.as_i64().is_some_and(|number| {
            let c = u32::try_from(number).ok().and_then(char::from_u32);
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            allowed.chars().eq([c])
        }),
        _ => value == allowed,
    }
}
