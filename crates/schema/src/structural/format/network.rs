//! Addresses and host names.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let one = r"[a-zA-Z0-9\p{S}\p{L}]";
    Regex::new(&format!(
        r"^({one}((-?{one}{{0,62}})?)|({one}(([a-zA-Z0-9\-\p{{S}}\p{{L}}]{{0,61}}{one})?)(\.))+([a-zA-Z\p{{L}}]){{2,63}})$"
    ))
    .ok()
});

/// A single label with at most one dash right after its first character, or labels with a top-level domain of two
/// letters or more. Lengths are in bytes.
pub(super) fn is_hostname(text: &str) -> bool {
    HOSTNAME.as_ref().is_some_and(|regex| regex.is_match(text))
        && text.len() <= 255
        && text.split('.').all(|label| label.len() <= 63)
}

/// An address with a dot in it, also an IPv6 address that ends in one. Accepts leading zeros.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && (is_sloppy_ipv4(text) || is_sloppy_ipv6(text))
}

/// An address with a colon in it; without a zone, and without leading zeros in its IPv4 part.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

/// Any address that the strict parser of the server accepts.
pub(super) fn is_ip(text: &str) -> bool {
    is_ipv6(text) || text.parse::<Ipv4Addr>().is_ok()
}

/// An address, a slash and a number of bits. Bits outside the prefix may be set.
pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let most = if is_sloppy_ipv4(address) {
        32
    } else if is_sloppy_ipv6(address) {
        128
    } else {
        return false;
    };
    let digits = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    digits && bits.parse::<u32>().is_ok_and(|bits| bits <= most)
}

fn is_sloppy_ipv4(text: &str) -> bool {
    without_zeros(text).is_some_and(|text| text.parse::<Ipv4Addr>().is_ok())
}

fn is_sloppy_ipv6(text: &str) -> bool {
    let Some((front, back)) = text.rsplit_once(':').filter(|(_, back)| back.contains('.')) else {
        return is_ipv6(text);
    };
    without_zeros(back).is_some_and(|back| is_ipv6(&format!("{front}:{back}")))
}

/// The four numbers of an address, without leading zeros.
fn without_zeros(text: &str) -> Option<String> {
    let numbers: Option<Vec<&str>> = text
        .split('.')
        .map(|number| match number.trim_start_matches('0') {
            "" if number.is_empty() => None,
            "" => Some("0"),
            rest => Some(rest),
        })
        .collect();
    numbers.map(|numbers| numbers.join("."))
}

/// 6, 8 or 20 bytes: joined by colons or dashes, in pairs joined by dots, or with nothing between.
pub(super) fn is_mac(text: &str) -> bool {
    let Some(separator) = text.chars().find(|c| matches!(c, ':' | '-' | '.')) else {
        return is_hex(text) && matches!(text.len(), 12 | 16 | 40);
    };
    let width = if separator == '.' { 4 } else { 2 };
    let groups: Vec<&str> = text.split(separator).collect();
    groups.iter().all(|group| group.len() == width && is_hex(group)) && matches!(groups.len() * width, 12 | 16 | 40)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
