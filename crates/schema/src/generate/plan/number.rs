//! Numbers within their bounds.

use serde_json::{Number, Value};

use super::super::random::Random;
use crate::structural::Schema;

/// Integers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Whole {
    /// The minimum.
    pub(crate) low: i64,
    /// The maximum.
    pub(crate) high: i64,
    /// All are multiples of it.
    pub(crate) step: i64,
    /// True if a bound was stated, false if it follows from the width.
    pub(crate) stated: (bool, bool),
}

/// Any numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Floating {
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) exclusive: (bool, bool),
    pub(crate) step: Option<f64>,
}

/// Larger bounds are not exact in floating point, and have no integers nearby.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

impl Whole {
    /// The bounds of all schemas; `Err` names the keyword that no number satisfies.
    pub(crate) fn of(schemas: &[&Schema]) -> Result<Self, &'static str> {
        let narrow = schemas.iter().any(|schema| schema.format.as_deref() == Some("int32"));
        let (low, high) = if narrow { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (i64::MIN, i64::MAX) };
        let mut whole = Self { low, high, step: 1, stated: (false, false) };
        for schema in schemas {
            if let Some(bound) = schema.minimum.as_ref().and_then(Number::as_f64) {
                let low = above(bound, schema.exclusive_minimum).ok_or("minimum")?;
                whole.low = whole.low.max(low);
                whole.stated.0 = true;
            }
            if let Some(bound) = schema.maximum.as_ref().and_then(Number::as_f64) {
                let high = above(-bound, schema.exclusive_maximum).ok_or("maximum")?;
                whole.high = whole.high.min(high.checked_neg().unwrap_or(i64::MAX));
                whole.stated.1 = true;
            }
            if let Some(step) = schema.multiple_of.as_ref().and_then(Number::as_f64) {
                whole.step =
                    common(whole.step, cut(step).filter(|step| *step > 0).ok_or("multipleOf")?).ok_or("multipleOf")?;
            }
        }
        if whole.low > whole.high {
            return Err(if whole.stated.0 { "minimum" } else { "maximum" });
        }
        let (least, greatest) = (whole.low.div_euclid(whole.step), whole.high.div_euclid(whole.step));
        let least = if whole.low.rem_euclid(whole.step) == 0 { least } else { least + 1 };
        if least > greatest { Err("multipleOf") } else { Ok(whole) }
    }

    /// The multiple at or next to a number, if there is one within the bounds.
    pub(crate) fn near(&self, number: i64) -> Option<i64> {
        let number = number.clamp(self.low, self.high);
        let down = number.checked_sub(number.rem_euclid(self.step));
        let fits = |number: &i64| (self.low..=self.high).contains(number);
        down.filter(fits).or_else(|| down?.checked_add(self.step).filter(fits))
    }

    pub(crate) fn sample(&self, random: &mut Random) -> i64 {
        // Usually small numbers, which people write, and sometimes any.
        let (low, high) = match random.below(8) {
            0 => (self.low, self.high),
            1 | 2 => (-1000, 100_000),
            _ => (1, 100),
        };
        let number = random.between(low.max(self.low).min(self.high), high.min(self.high).max(self.low));
        self.near(number).unwrap_or(self.low)
    }

    /// The numbers at the boundaries: the bounds and their neighbours, and the limits of narrower types.
    pub(crate) fn edges(&self) -> Vec<i64> {
        let powers = [1_i64 << 31, 1 << 32, 1 << 53];
        let mut edges =
            vec![self.low, self.low.saturating_add(self.step), self.high, self.high.saturating_sub(self.step)];
        edges.extend([0, 1, -1, i64::MAX, i64::MIN]);
        edges.extend(powers.iter().flat_map(|power| [power - 1, *power, power + 1, -power - 1, -power, 1 - power]));
        let mut kept: Vec<i64> = edges
            .into_iter()
            .filter(|edge| (self.low..=self.high).contains(edge))
            .filter_map(|edge| self.near(edge))
            .collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }
}

impl Floating {
    pub(crate) fn of(schemas: &[&Schema]) -> Result<Self, &'static str> {
        let mut floating = Self { low: None, high: None, exclusive: (false, false), step: None };
        for schema in schemas {
            if let Some(bound) = schema.minimum.as_ref().and_then(Number::as_f64)
                && floating.low.is_none_or(|low| bound >= low)
            {
                floating.low = Some(bound);
                floating.exclusive.0 |= schema.exclusive_minimum;
            }
            if let Some(bound) = schema.maximum.as_ref().and_then(Number::as_f64)
                && floating.high.is_none_or(|high| bound <= high)
            {
                floating.high = Some(bound);
                floating.exclusive.1 |= schema.exclusive_maximum;
            }
            floating.step = floating.step.or(schema.multiple_of.as_ref().and_then(Number::as_f64));
        }
        match (floating.low, floating.high) {
            (Some(low), Some(high)) if low > high => Err("minimum"),
            _ => Ok(floating),
        }
    }

    /// A number that most likely fits, and must be tested.
    pub(crate) fn sample(&self, random: &mut Random) -> Value {
        let low = self.low.unwrap_or_else(|| self.high.map_or(-1000.0, |high| high - 1000.0));
        let high = self.high.unwrap_or(low + 2000.0);
        if let Some(step) = self.step {
            // The number of steps between the bounds.
            let steps = cut((high - low) / step).unwrap_or(1000).clamp(0, 1 << 40);
            let first = (low / step).ceil();
            #[expect(clippy::cast_precision_loss, reason = "the count is below 2^40")]
            return Value::from((first + random.between(0, steps) as f64) * step);
        }
        let whole = (cut(low.ceil()), cut(high.floor()));
        match whole {
            (Some(low), Some(high)) if low <= high && random.chance(1, 2) => {
                let inner = (low.saturating_add(1), high.saturating_sub(1));
                let (low, high) = if inner.0 <= inner.1 { inner } else { (low, high) };
                random.between(low, high).into()
            }
            _ => {
                #[expect(clippy::cast_precision_loss, reason = "a numerator of ten bits")]
                let part = (random.below(1023) + 1) as f64 / 1024.0;
                Value::from(low + (high - low) * part)
            }
        }
    }

    /// The numbers at the boundaries, which must be tested.
    pub(crate) fn edges(&self) -> Vec<Value> {
        let mut edges: Vec<Value> = [self.low, self.high].into_iter().flatten().map(plain).collect();
        edges.extend([Value::from(0), 1.into(), (-1).into(), 0.5.into(), (-0.5).into(), 1e-7.into(), 1e21.into()]);
        edges.extend([Value::from(1_i64 << 31), (1_i64 << 53).into(), ((1_i64 << 53) + 1).into(), i64::MAX.into()]);
        edges
    }
}

/// A number without a fraction as an integer.
fn plain(number: f64) -> Value {
    match cut(number).filter(|_| number.fract() == 0.0) {
        Some(whole) => whole.into(),
        None => number.into(),
    }
}

/// The smallest integer at a bound or above it.
fn above(bound: f64, exclusive: bool) -> Option<i64> {
    if bound < -BEYOND {
        return Some(i64::MIN);
    }
    let least = cut(bound.ceil())?;
    if exclusive && bound.fract() == 0.0 { least.checked_add(1) } else { Some(least) }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked, the fraction is meant to go")]
fn cut(number: f64) -> Option<i64> {
    (-BEYOND..BEYOND).contains(&number).then_some(number as i64)
}

/// The least common multiple.
fn common(left: i64, right: i64) -> Option<i64> {
    let (mut a, mut b) = (left, right);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (left / a).checked_mul(right)
}
