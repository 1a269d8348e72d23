//! Quantities as Kubernetes reads and writes them, exactly, in billionths.

use super::duration::scaled;

const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const DECIMAL: [(&str, i128); 10] = [
    ("n", 1),
    ("u", 1_000),
    ("m", 1_000_000),
    ("", 1_000_000_000),
    ("k", 1_000_000_000_000),
    ("M", 1_000_000_000_000_000),
    ("G", 1_000_000_000_000_000_000),
    ("T", 1_000_000_000_000_000_000_000),
    ("P", 1_000_000_000_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000_000_000_000),
];

/// The billionths of a text such as `10Mi`, `500m` or `1e3`. `None` also if it is finer than that.
pub(super) fn read(text: &str) -> Option<i128> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    let (amount, suffix) = rest.split_at(end);
    let billionths = scaled(amount, factor(suffix)?)?;
    Some(if negative { -billionths } else { billionths })
}

fn factor(suffix: &str) -> Option<i128> {
    if let Some(power) = BINARY.iter().position(|name| *name == suffix) {
        return Some(1_000_000_000 << (10 * (power + 1)));
    }
    if let Some((_, factor)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some(*factor);
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    10_i128.checked_pow(u32::try_from(exponent.checked_add(9)?).ok()?)
}

/// An amount with the largest binary suffix that gives an integer. Fractions of one are dropped.
pub(super) fn write(billionths: i128) -> String {
    let mut amount = billionths / 1_000_000_000;
    let mut suffix = "";
    for larger in BINARY {
        if amount == 0 || amount % 1024 != 0 {
            break;
        }
        amount /= 1024;
        suffix = larger;
    }
    format!("{amount}{suffix}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("10Mi", 10 << 20, "10Mi")]
    #[case("1.5Gi", 3 << 29, "1536Mi")]
    #[case("1k", 1000, "1000")]
    #[case("1e3", 1000, "1000")]
    #[case("-1Ki", -1024, "-1Ki")]
    #[case("0", 0, "0")]
    fn quantities_are_those_of_kubernetes(#[case] text: &str, #[case] bytes: i128, #[case] written: &str) {
        assert_eq!(read(text), Some(bytes * 1_000_000_000));
        assert_eq!(write(bytes * 1_000_000_000), written);
    }

    #[rstest]
    #[case("")]
    #[case("Mi")]
    #[case("1 Mi")]
    #[case("1mi")]
    #[case("1e")]
    #[case("1e99")]
    #[case("0.1n")]
    fn other_texts_are_none(#[case] text: &str) {
        assert_eq!(read(text), None);
    }

    proptest! {
        #[test]
        fn a_written_value_is_read_back(bytes in any::<i64>()) {
            let billionths = i128::from(bytes) * 1_000_000_000;
            prop_assert_eq!(read(&write(billionths)), Some(billionths));
        }
    }
}
