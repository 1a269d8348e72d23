//! Durations as Go reads and writes them, exactly, in nanoseconds.

const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The nanoseconds of a text such as `1h30m`. `None` also if a fraction is finer than a nanosecond.
pub(super) fn read(text: &str) -> Option<i128> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (amount, after) = rest.split_at(end);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(scaled(amount, *factor)?)?;
        rest = next;
    }
    let signed = if negative { -total } else { total };
    i64::try_from(signed).is_ok().then_some(signed)
}

/// A decimal number times a factor, if the result is an integer.
pub(super) fn scaled(amount: &str, factor: i128) -> Option<i128> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let digits = format!("{whole}{fraction}");
    // Numbers with more digits are too fine or too large.
    if digits.is_empty() || digits.len() > 27 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let product = digits.parse::<i128>().ok()?.checked_mul(factor)?;
    (product % scale == 0).then_some(product / scale)
}

/// A duration in Go's format. `None` if it is out of Go's range.
pub(super) fn write(nanos: i128) -> Option<String> {
    i64::try_from(nanos).ok()?;
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let text = match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(nanos, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(nanos, 1_000_000)),
        _ => {
            let minutes = nanos / 60_000_000_000;
            let seconds = format!("{}s", decimal(nanos % 60_000_000_000, 1_000_000_000));
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    };
    Some(format!("{sign}{text}"))
}

fn decimal(amount: u128, unit: u128) -> String {
    let (whole, rest) = (amount / unit, amount % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let width = unit.ilog10() as usize;
    format!("{whole}.{}", format!("{rest:0width$}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1h30m", 5_400_000_000_000, "1h30m0s")]
    #[case("90s", 90_000_000_000, "1m30s")]
    #[case("1.5s", 1_500_000_000, "1.5s")]
    #[case("-2ms", -2_000_000, "-2ms")]
    #[case("1500us", 1_500_000, "1.5ms")]
    #[case("0", 0, "0s")]
    #[case("1h", 3_600_000_000_000, "1h0m0s")]
    fn durations_are_those_of_go(#[case] text: &str, #[case] nanos: i128, #[case] written: &str) {
        assert_eq!(read(text), Some(nanos));
        assert_eq!(write(nanos).as_deref(), Some(written));
    }

    #[rstest]
    #[case("")]
    #[case("5")]
    #[case("1d")]
    #[case("s")]
    #[case(".s")]
    #[case("1..5s")]
    #[case("0.1ns")]
    #[case("9999999h")]
    fn other_texts_are_none(#[case] text: &str) {
        assert_eq!(read(text), None);
    }

    proptest! {
        #[test]
        fn a_written_value_is_read_back(nanos in any::<i64>()) {
            let text = write(i128::from(nanos)).unwrap();
            prop_assert_eq!(read(&text), Some(i128::from(nanos)));
        }
    }
}
