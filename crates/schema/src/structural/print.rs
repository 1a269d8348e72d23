//! Printing numbers as a server does.
//!
//! A server holds a number as an integer only if it was written without a fraction. Printing loses the difference: 1.0
//! is printed as 1, and is an integer when it is read again.

use serde_json::{Map, Number, Value};

/// Changes every number to its printed form.
pub(super) fn print(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(printed) = print_number(number) {
                *number = printed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(print),
        Value::Object(map) => map.values_mut().for_each(print),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Returns true if a number has its printed form.
pub(super) fn prints_as_it_is(number: &Number) -> bool {
    print_number(number).is_none_or(|printed| printed == *number)
}

/// The printed form of a number, if it differs. An integer beyond 64 bits is a float to the server, and loses its last
/// digits.
#[expect(clippy::cast_possible_truncation, reason = "guarded by the range check before it")]
fn print_number(number: &Number) -> Option<Number> {
    if number.is_i64() {
        return None;
    }
    let value = number.as_f64()?;
    let limit = 9_223_372_036_854_775_808.0;
    if value.fract() == 0.0 && (-limit..limit).contains(&value) {
        return Some((value as i64).into());
    }
    Number::from_f64(value)
}

/// The printed text of a value with sorted keys, so that equal values have equal texts.
pub(super) fn printed(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(name, _)| *name);
            let entries = entries.into_iter();
            Value::Object(entries.map(|(name, value)| (name.clone(), sorted(value))).collect::<Map<_, _>>())
        }
        Value::Number(_) => {
            let mut value = value.clone();
            print(&mut value);
            value
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}
