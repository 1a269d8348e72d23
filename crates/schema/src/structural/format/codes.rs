//! Identifiers, check digits, colours and names.

use std::sync::LazyLock;

use regex::Regex;

use crate::kubernetes::is_dns_subdomain_1123;

/// Twenty-four hexadecimal digits.
pub(super) fn is_bson_object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_uuid(text: &str) -> bool {
    uuid_digits(text).is_some()
}

pub(super) fn is_uuid3(text: &str) -> bool {
    uuid_digits(text).is_some_and(|digits| digits[12] == b'3')
}

pub(super) fn is_uuid4(text: &str) -> bool {
    uuid_digits(text).is_some_and(|digits| digits[12] == b'4' && has_variant(&digits))
}

pub(super) fn is_uuid5(text: &str) -> bool {
    uuid_digits(text).is_some_and(|digits| digits[12] == b'5' && has_variant(&digits))
}

fn has_variant(digits: &[u8; 32]) -> bool {
    matches!(digits[16].to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b')
}

/// The digits of a UUID, each of whose dashes may be missing.
fn uuid_digits(text: &str) -> Option<[u8; 32]> {
    let mut digits = [0; 32];
    let mut count = 0;
    let mut dash_allowed = false;
    for byte in text.bytes() {
        if byte == b'-' && dash_allowed {
            dash_allowed = false;
            continue;
        }
        if !byte.is_ascii_hexdigit() {
            return None;
        }
        *digits.get_mut(count)? = byte;
        count += 1;
        dash_allowed = matches!(count, 8 | 12 | 16 | 20);
    }
    (count == 32).then_some(digits)
}

pub(super) fn is_isbn(text: &str) -> bool {
    is_isbn10(text) || is_isbn13(text)
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let code = without_separators(text);
    let Some((check, digits)) = code.split_last().filter(|_| code.len() == 10) else {
        return false;
    };
    let check = match check {
        b'X' => 10,
        b'0'..=b'9' => u32::from(check - b'0'),
        _ => return false,
    };
    let sum = (1..)
        .zip(digits)
        .try_fold(0, |sum, (weight, digit)| digit.is_ascii_digit().then(|| sum + weight * u32::from(digit - b'0')));
    sum.is_some_and(|sum| (sum + 10 * check) % 11 == 0)
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let code = without_separators(text);
    if code.len() != 13 || !code.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let weights = [1, 3].into_iter().cycle();
    let sum: u32 = weights.zip(&code).map(|(weight, digit)| weight * u32::from(digit - b'0')).sum();
    sum.is_multiple_of(10)
}

fn without_separators(text: &str) -> Vec<u8> {
    let separator = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'-');
    text.bytes().filter(|byte| !separator(byte)).collect()
}

static CARD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9]{2})[0-9]{12}",
        "|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$"
    ))
    .ok()
});

/// A number of an issuer, with a correct check digit; skips everything except digits.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let luhn: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, byte)| {
            let digit = u32::from(byte - b'0');
            let doubled = digit * 2;
            match (index % 2, doubled) {
                (0, _) => digit,
                (_, 0..=9) => doubled,
                _ => doubled - 9,
            }
        })
        .sum();
    luhn.is_multiple_of(10) && matches(CARD.as_ref(), &digits)
}

static SSN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$").ok());

pub(super) fn is_ssn(text: &str) -> bool {
    text.len() == 11 && matches(SSN.as_ref(), text)
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

static RGB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let space = r"[\t\n\f\r ]*";
    let part = format!("{space}(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5]){space}");
    Regex::new(&format!(r"^rgb\({part},{part},{part}\)$")).ok()
});

pub(super) fn is_rgb_color(text: &str) -> bool {
    matches(RGB.as_ref(), text)
}

fn matches(regex: Option<&Regex>, text: &str) -> bool {
    regex.is_some_and(|regex| regex.is_match(text))
}

/// Padded base64 of the standard alphabet. Bits beyond the last byte need not be zero, and the empty string is not
/// valid.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    !digits.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

pub(super) fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && !text.contains('.') && is_dns_subdomain_1123(text)
}

pub(super) fn is_long_name(text: &str) -> bool {
    is_dns_subdomain_1123(text)
}
