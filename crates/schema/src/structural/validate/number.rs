//! `minimum`, `maximum`, `multipleOf` and the width of numeric types.
//!
//! A bound is a floating point number to the server. An integer value is compared with the bound truncated to an
//! integer, so that 0 passes `minimum: 0.5` while 0.0 does not.

use serde_json::Number;

use super::super::Type;
use super::super::format::{Format, Width};
use super::super::place::Place;
use super::super::verdict::Reason;
use super::{Check, Numeric, Tally};

/// Larger integers are not exact in floating point.
const GREATEST_EXACT: f64 = 9_007_199_254_740_991.0;

/// Two to the sixty-third.
const BEYOND_I64: f64 = 9_223_372_036_854_775_808.0;

impl Check<'_> {
    pub(super) fn number(&self, format: Option<Format>, place: &Place<'_>) -> Tally {
        let mut tally = Tally::default();
        let Some(value) = Numeric::of(self.value) else {
            return tally;
        };
        let width = self.width(format);
        if let Some(name) = misfit(value, width) {
            let message = format!("{} does not fit into {name}", self.value);
            tally.add(place.violation_of_whole("format", message));
        }
        let schema = self.schema;
        for (keyword, bound) in
            [("multipleOf", &schema.multiple_of), ("minimum", &schema.minimum), ("maximum", &schema.maximum)]
        {
            if let Some(bound) = bound {
                self.bound(value, keyword, bound, width, place, &mut tally);
            }
        }
        tally.count();
        tally
    }

    /// The width that values must fit, which is 64 bits if an integer has no format.
    fn width(&self, format: Option<Format>) -> Option<Width> {
        match (self.numeric_type()?, format) {
            (Type::Integer | Type::Number, Some(Format::Number(width))) => Some(width),
            (Type::Integer, _) => Some(Width::Int64),
            _ => None,
        }
    }

    fn bound(
        &self,
        value: Numeric,
        keyword: &'static str,
        bound: &Number,
        width: Option<Width>,
        place: &Place<'_>,
        tally: &mut Tally,
    ) {
        let Some(limit) = bound.as_f64() else { return };
        let value = match misfit(Numeric::Floating(limit), width) {
            None => value,
            Some(name) => {
                let message = format!("the {keyword} {bound} of the schema does not fit into {name}");
                tally.add(place.violation_of_whole(keyword, message));
                Numeric::Floating(value.to_f64())
            }
        };
        self.compare(value, keyword, bound, limit, place, tally);
    }

    fn compare(
        &self,
        value: Numeric,
        keyword: &'static str,
        bound: &Number,
        limit: f64,
        place: &Place<'_>,
        tally: &mut Tally,
    ) {
        let (holds, relation) = match keyword {
            "multipleOf" => (is_multiple(value, limit), "must be a multiple of"),
            "minimum" if self.schema.exclusive_minimum => {
                (lies_below(cut(limit), limit, value, true), "must be greater than")
            }
            "minimum" => (lies_below(cut(limit), limit, value, false), "must be greater than or equal to"),
            _ if self.schema.exclusive_maximum => (lies_above(cut(limit), limit, value, true), "must be less than"),
            _ => (lies_above(cut(limit), limit, value, false), "must be less than or equal to"),
        };
        if !holds {
            let message = format!("{relation} {bound}, is {}", self.value);
            tally.add(place.violation(Reason::Invalid, keyword, message));
        }
    }
}

/// Returns true if a floating point number counts as an integer: exactly, or slightly above.
pub(super) fn is_whole(value: f64) -> bool {
    if !value.is_finite() || value.abs() > GREATEST_EXACT {
        return false;
    }
    let whole = value.trunc();
    let above = value - whole;
    above == 0.0 || whole > 0.0 && above / (value + whole) < 1e-9
}

/// The name of the width that a number does not fit.
fn misfit(value: Numeric, width: Option<Width>) -> Option<&'static str> {
    let fits = match (width?, value) {
        (Width::Int32, Numeric::Whole(whole)) => i32::try_from(whole).is_ok(),
        (Width::Int32, Numeric::Floating(floating)) => {
            floating.fract() == 0.0 && (-2_147_483_648.0..2_147_483_648.0).contains(&floating)
        }
        // The server prints the number and reads it again. The shortest text for the smallest 64-bit number is that of
        // a smaller one, which does not fit.
        (Width::Int64, Numeric::Floating(floating)) => floating.fract() == 0.0 && floating.abs() < BEYOND_I64,
        (Width::Float, value) => !is_beyond_f32(value.to_f64()),
        (Width::Int64, Numeric::Whole(_)) | (Width::Double, _) => true,
    };
    match width? {
        _ if fits => None,
        Width::Int32 => Some("a whole number of 32 bits"),
        Width::Int64 => Some("a whole number of 64 bits"),
        Width::Float | Width::Double => Some("a number of 32 bits"),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "what does not fit becomes infinite, which is the question")]
fn is_beyond_f32(value: f64) -> bool {
    (value as f32).is_infinite()
}

/// Truncates a floating point number to an integer like the processors of servers: a number that does not fit becomes
/// the smallest number.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked, the fraction is meant to go")]
pub(super) fn cut(value: f64) -> i64 {
    if (-BEYOND_I64..BEYOND_I64).contains(&value) { value as i64 } else { i64::MIN }
}

fn lies_below(whole_limit: i64, limit: f64, value: Numeric, exclusive: bool) -> bool {
    match value {
        Numeric::Whole(whole) => whole > whole_limit || (!exclusive && whole == whole_limit),
        Numeric::Floating(floating) if exclusive => floating > limit,
        Numeric::Floating(floating) => floating >= limit,
    }
}

fn lies_above(whole_limit: i64, limit: f64, value: Numeric, exclusive: bool) -> bool {
    match value {
        Numeric::Whole(whole) => whole < whole_limit || (!exclusive && whole == whole_limit),
        Numeric::Floating(floating) if exclusive => floating < limit,
        Numeric::Floating(floating) => floating <= limit,
    }
}

fn is_multiple(value: Numeric, factor: f64) -> bool {
    match value {
        Numeric::Whole(whole) => {
            let factor = cut(factor);
            factor > 0 && whole % factor == 0
        }
        Numeric::Floating(_) if factor <= 0.0 => false,
        Numeric::Floating(floating) if factor < 1.0 => is_whole(1.0 / factor * floating),
        Numeric::Floating(floating) => is_whole(floating / factor),
    }
}
