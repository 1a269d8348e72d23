//! Equal meanings of different forms of a value: absent and zero, or two spellings of one quantity, duration, time or JSON
//! document.

use serde_json::Value;

use super::Schema;
use super::format::{date_time, go_duration};

/// Returns true if an object means the same without this value: it is null, empty or zero in all its parts, and the
/// schema has no other default for it.
pub fn means_absent(schema: Option<&Schema>, value: &Value) -> bool {
    if let Some(default) = schema.and_then(|schema| schema.default.as_ref()) {
        return default == value;
    }
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        // A default below applies only if the object is present.
        Value::Object(map) => {
            let fills_in = schema.is_some_and(|schema| schema.properties.values().any(fills_in));
            !fills_in
                && map.iter().all(|(name, value)| means_absent(schema.and_then(|schema| schema.child(name)), value))
        }
    }
}

/// Returns true if an API server defaults this field of a present object.
fn fills_in(schema: &Schema) -> bool {
    schema.default.as_ref().is_some_and(|default| !means_absent(None, default))
}

/// Returns true if two values are spellings of the same quantity, duration or time, such as `1000m` and `1`, or `60s`
/// and `1m0s`, or texts with the same JSON document, such as annotations in which converters keep an object.
pub fn means_same(schema: Option<&Schema>, left: &Value, right: &Value) -> bool {
    if schema.is_some_and(is_quantity)
        && let (Some(left), Some(right)) = (quantity(left), quantity(right))
    {
        return left == right;
    }
    let (Value::String(left), Value::String(right)) = (left, right) else { return false };
    let same = |read: fn(&str) -> Option<i128>| read(left).is_some_and(|value| read(right) == Some(value));
    same(|text| go_duration(text).map(i128::from)) || same(instant) || is_same_document(left, right)
}

/// Returns true if two texts are JSON objects or lists that mean the same.
fn is_same_document(left: &str, right: &str) -> bool {
    let read = |text: &str| -> Option<Value> {
        let is_document = text.trim_start().starts_with(['{', '[']);
        is_document.then(|| serde_json::from_str(text).ok()).flatten()
    };
    matches!((read(left), read(right)), (Some(left), Some(right)) if is_same(&left, &right))
}

/// Returns true if two documents differ at most in parts that mean absence.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let in_both = |name: &String, value| {
                right.get(name).map_or_else(|| means_absent(None, value), |other| is_same(value, other))
            };
            left.iter().all(|(name, value)| in_both(name, value))
                && right.iter().all(|(name, value)| left.contains_key(name) || means_absent(None, value))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (left, right) => left == right,
    }
}

fn instant(text: &str) -> Option<i128> {
    let moment = date_time(text)?;
    Some(i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanos))
}

/// Returns true if a schema describes quantities: controller-gen gives them all one pattern.
pub fn is_quantity(schema: &Schema) -> bool {
    schema.int_or_string && schema.pattern.as_ref().is_some_and(|pattern| pattern.text.contains("[KMGTPE]i"))
}

/// Returns a quantity in billionths; `None` if it is not one, or too fine or too large.
fn quantity(value: &Value) -> Option<i128> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let end = unsigned.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let decimal = |exponent: i32| 10_i128.checked_pow(u32::try_from(exponent.checked_add(9)?).ok()?);
    let unit = match suffix {
        "" => decimal(0)?,
        "n" => decimal(-9)?,
        "u" => decimal(-6)?,
        "m" => decimal(-3)?,
        "k" => decimal(3)?,
        "M" => decimal(6)?,
        "G" => decimal(9)?,
        "T" => decimal(12)?,
        "P" => decimal(15)?,
        "E" => decimal(18)?,
        "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei" => {
            let power = "KMGTPE".find(&suffix[..1])? + 1;
            1_000_000_000_i128 << (10 * power)
        }
        _ => decimal(suffix.strip_prefix(['e', 'E'])?.parse().ok()?)?,
    };
    let divisor = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let scaled = digits.checked_mul(unit)?;
    (scaled % divisor == 0).then_some(if negative { -(scaled / divisor) } else { scaled / divisor })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::document::{Sources, parse};

    fn schema(text: &str) -> Schema {
        let mut sources = Sources::default();
        let id = sources.add("schema.yaml", text.to_owned());
        Schema::read(&parse(&sources, id).unwrap()[0])
    }

    #[rstest]
    #[case("{}", json!(null), true)]
    #[case("{}", json!(0), true)]
    #[case("{}", json!(0.0), true)]
    #[case("{}", json!(false), true)]
    #[case("{}", json!(""), true)]
    #[case("{}", json!([]), true)]
    #[case("{}", json!({"a": {"b": 0}}), true)]
    #[case("{}", json!(1), false)]
    #[case("{}", json!([0]), false)]
    #[case("{}", json!({"a": "x"}), false)]
    #[case("{default: 1}", json!(0), false)]
    #[case("{default: 1}", json!(1), true)]
    #[case("{default: false}", json!(false), true)]
    #[case("{properties: {a: {default: 5}}}", json!({}), false)]
    #[case("{properties: {a: {default: 5}}}", json!({"a": 0}), false)]
    #[case("{properties: {a: {default: 0}}}", json!({"a": 0}), true)]
    fn zero_means_absent_unless_a_default_says_otherwise(
        #[case] text: &str,
        #[case] value: Value,
        #[case] meant: bool,
    ) {
        assert_eq!(means_absent(Some(&schema(text)), &value), meant);
    }

    const QUANTITY: &str = r"{x-kubernetes-int-or-string: true, pattern: '^[0-9]+([KMGTPE]i)?$'}";

    #[rstest]
    #[case(QUANTITY, json!(0), json!("0"), true)]
    #[case(QUANTITY, json!("1000m"), json!("1"), true)]
    #[case(QUANTITY, json!("1Gi"), json!("1024Mi"), true)]
    #[case(QUANTITY, json!("1.5k"), json!(1500), true)]
    #[case(QUANTITY, json!("1e3"), json!("1k"), true)]
    #[case(QUANTITY, json!("-1"), json!("1"), false)]
    #[case(QUANTITY, json!("1Gi"), json!("1G"), false)]
    #[case("{x-kubernetes-int-or-string: true}", json!(80), json!("80"), false)]
    #[case("{type: string}", json!("60s"), json!("1m0s"), true)]
    #[case("{type: string}", json!("1500ms"), json!("1s"), false)]
    #[case("{type: string}", json!("a"), json!("b"), false)]
    #[case("{type: string}", json!(r#"{"a": 1, "b": {"c": false}}"#), json!(r#"{"b":{},"a":1}"#), true)]
    #[case("{type: string}", json!(r#"{"a": 1}"#), json!(r#"{"a": 2}"#), false)]
    #[case("{type: string}", json!(r#"{"a": 1}"#), json!("{}"), false)]
    #[case("{type: string}", json!("[1, 2]"), json!("[2, 1]"), false)]
    #[case("{type: string}", json!("[{}]"), json!(r#"[{"a": ""}]"#), true)]
    #[case("{type: string}", json!("{a"), json!("{b"), false)]
    #[case("{type: string}", json!("2026-01-01T02:00:00+02:00"), json!("2026-01-01T00:00:00Z"), true)]
    #[case("{type: string}", json!("2026-01-01T00:00:00.5Z"), json!("2026-01-01T00:00:00Z"), false)]
    fn spellings_of_one_value_mean_the_same(
        #[case] text: &str,
        #[case] left: Value,
        #[case] right: Value,
        #[case] meant: bool,
    ) {
        assert_eq!(means_same(Some(&schema(text)), &left, &right), meant);
        assert_eq!(means_same(Some(&schema(text)), &right, &left), meant);
    }
}
