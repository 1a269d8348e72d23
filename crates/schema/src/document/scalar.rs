//! The meaning of unquoted YAML scalars in Kubernetes.
//!
//! Kubernetes reads YAML by 1.1 rules: `yes` is true, `0777` is octal, `1_000` is a thousand. A manifest must mean the
//! same here, so the table follows Kubernetes' parser and not YAML 1.2.

use serde_json::Number;

use super::Kind;

/// Resolves a plain (unquoted, untagged) scalar. `Err` says why it has no JSON value.
pub(super) fn resolve(text: &str) -> Result<Kind, &'static str> {
    if let Some(word) = word(text) {
        return word;
    }
    let number = match text.as_bytes().first() {
        Some(b'+' | b'-' | b'0'..=b'9') => number(text),
        Some(b'.') => float(text),
        _ => None,
    };
    Ok(number.unwrap_or_else(|| Kind::String(text.to_owned())))
}

fn word(text: &str) -> Option<Result<Kind, &'static str>> {
    Some(Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Kind::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Kind::Bool(false),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf"
        | "-.INF" => {
            return Some(Err("JSON has no number for infinity or not-a-number"));
        }
        _ => return None,
    }))
}

fn number(text: &str) -> Option<Kind> {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    integer(&plain).or_else(|| if looks_like_float(&plain) { float(&plain) } else { None })
}

/// Integers with the prefixes of Go: `0x`, `0o`, `0b`, and a bare leading zero for octal.
fn integer(text: &str) -> Option<Kind> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        let value = i64::try_from(-i128::from(magnitude)).ok()?;
        Some(Kind::Number(value.into()))
    } else {
        Some(Kind::Number(magnitude.into()))
    }
}

/// Returns true for `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, the form of a number with a fraction or an
/// exponent.
fn looks_like_float(text: &str) -> bool {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && digits(fraction),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_ok && exponent_ok
}

fn float(text: &str) -> Option<Kind> {
    if !looks_like_float(text) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    // A float without a fraction is written to JSON without a point, so it is read back as an integer.
    #[expect(clippy::cast_possible_truncation, reason = "guarded by the range check before it")]
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Some(Kind::Number((value as i64).into()));
    }
    Number::from_f64(value).map(Kind::Number)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::document::{Node, Sources, Span};

    #[rstest]
    #[case("0777", json!(511))]
    #[case("0o17", json!(15))]
    #[case("08", json!(8))]
    #[case("0x1F", json!(31))]
    #[case("-0b11", json!(-3))]
    #[case("1_000", json!(1000))]
    #[case("+7", json!(7))]
    #[case("-9223372036854775808", json!(i64::MIN))]
    #[case("18446744073709551615", json!(u64::MAX))]
    #[case("1.50", json!(1.5))]
    #[case("1e3", json!(1000))]
    #[case(".5", json!(0.5))]
    #[case("1.", json!(1))]
    #[case("yes", json!(true))]
    #[case("Off", json!(false))]
    #[case("n", json!(false))]
    #[case("~", json!(null))]
    #[case("", json!(null))]
    #[case("2024-01-01", json!("2024-01-01"))]
    #[case("1.2.3", json!("1.2.3"))]
    #[case("12:30", json!("12:30"))]
    #[case("-", json!("-"))]
    #[case("1e", json!("1e"))]
    #[case("v1", json!("v1"))]
    #[case("yEs", json!("yEs"))]
    fn scalars_are_read_like_kubernetes(#[case] text: &str, #[case] expected: serde_json::Value) {
        let span = Span::start_of(Sources::default().add("", ""));
        let node = Node { span, kind: resolve(text).unwrap() };
        assert_eq!(node.to_value(), expected);
    }

    #[test]
    fn infinity_is_refused() {
        assert!(resolve(".inf").is_err());
    }
}
