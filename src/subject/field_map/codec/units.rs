//! The same amount in another unit.

use serde_json::Value;

use super::super::model::Unit;
use super::{Said, Side, brief, duration, quantity};

/// The units of the two sides, both of time or both of size.
#[derive(Debug)]
pub(in crate::subject::field_map) struct Units([Unit; 2]);

/// The definition of a unit. Amounts are counted in billionths, so that no text of either kind is rounded.
enum Form {
    /// An integer number of this many billionths.
    Number(i128),
    Duration,
    Quantity,
}

const BILLION: i128 = 1_000_000_000;

impl Units {
    /// `None` if one unit is of time and the other of size.
    pub(in crate::subject::field_map) fn new(units: [Unit; 2]) -> Option<Self> {
        (is_time(units[0]) == is_time(units[1])).then_some(Self(units))
    }

    pub(super) fn say(&self, from: Side, value: &Value) -> Said {
        let (own, other) = (self.0[from.index()], self.0[from.other().index()]);
        let Some(amount) = read(own, value) else {
            return Said::not_quite(None, format!("{} is not a {}", brief(value), name(own)));
        };
        let Some((said, exact)) = write(other, amount) else {
            return Said::not_quite(None, format!("{} is too much for {}", brief(value), name(other)));
        };
        if !exact {
            return Said::not_quite(Some(said), format!("{} is not a whole {}", brief(value), name(other)));
        }
        match read(other, &said).and_then(|amount| write(own, amount)) {
            Some((back, true)) if back == *value => Said::exactly(said),
            Some((back, true)) => {
                let why = format!("{} would come back as {}", brief(value), brief(&back));
                Said::respelled(Some(said), why)
            }
            _ => Said::not_quite(Some(said), format!("{} would not come back", brief(value))),
        }
    }
}

fn is_time(unit: Unit) -> bool {
    match unit {
        Unit::Nanoseconds
        | Unit::Microseconds
        | Unit::Milliseconds
        | Unit::Seconds
        | Unit::Minutes
        | Unit::Hours
        | Unit::Duration => true,
        Unit::Bytes | Unit::Kibibytes | Unit::Mebibytes | Unit::Gibibytes | Unit::Quantity => false,
    }
}

fn form(unit: Unit) -> Form {
    match unit {
        Unit::Nanoseconds => Form::Number(1),
        Unit::Microseconds => Form::Number(1_000),
        Unit::Milliseconds => Form::Number(1_000_000),
        Unit::Seconds | Unit::Bytes => Form::Number(BILLION),
        Unit::Minutes => Form::Number(60 * BILLION),
        Unit::Hours => Form::Number(3600 * BILLION),
        Unit::Kibibytes => Form::Number(BILLION << 10),
        Unit::Mebibytes => Form::Number(BILLION << 20),
        Unit::Gibibytes => Form::Number(BILLION << 30),
        Unit::Duration => Form::Duration,
        Unit::Quantity => Form::Quantity,
    }
}

fn name(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "number of nanoseconds",
        Unit::Microseconds => "number of microseconds",
        Unit::Milliseconds => "number of milliseconds",
        Unit::Seconds => "number of seconds",
        Unit::Minutes => "number of minutes",
        Unit::Hours => "number of hours",
        Unit::Duration => "duration",
        Unit::Bytes => "number of bytes",
        Unit::Kibibytes => "number of kibibytes",
        Unit::Mebibytes => "number of mebibytes",
        Unit::Gibibytes => "number of gibibytes",
        Unit::Quantity => "quantity",
    }
}

fn read(unit: Unit, value: &Value) -> Option<i128> {
    match (form(unit), value) {
        (Form::Number(factor), Value::Number(number)) => {
            let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))?;
            whole.checked_mul(factor)
        }
        (Form::Duration, Value::String(text)) => duration::read(text),
        (Form::Quantity, Value::String(text)) => quantity::read(text),
        // Quantities may be plain numbers.
        (Form::Quantity, Value::Number(number)) => quantity::read(&number.to_string()),
        _ => None,
    }
}

/// The amount in a unit, rounded towards zero, and true if it is exact.
fn write(unit: Unit, amount: i128) -> Option<(Value, bool)> {
    match form(unit) {
        Form::Number(factor) => {
            let whole = i64::try_from(amount / factor).ok()?;
            Some((whole.into(), amount % factor == 0))
        }
        Form::Duration => Some((duration::write(amount)?.into(), true)),
        Form::Quantity => Some((quantity::write(amount).into(), amount % BILLION == 0)),
    }
}
