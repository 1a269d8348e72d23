//! A URI as in the first line of an HTTP request: absolute, or an absolute path. It has no fragment, so `#` is a normal
//! character.

use super::network::is_ip;

/// A part of a URI, which determines its allowed characters.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Host,
    Zone,
    Free,
}

/// Returns true if Go reads a string as a URL for a request.
pub fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return false;
    };
    let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            is_authority(scheme, authority) && is_escaped(path, Part::Free)
        }
        None => is_escaped(rest, Part::Free),
    }
}

/// The scheme, empty if there is none, and the rest. `None` for a colon at the very start.
pub(in crate::structural) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(scheme: &str, authority: &str) -> bool {
    match authority.rsplit_once('@') {
        Some((user, host)) => is_user(user) && is_host(scheme, host),
        None => is_host(scheme, authority),
    }
}

fn is_user(user: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    user.bytes().all(allowed) && is_escaped(user, Part::Free)
}

fn is_host(scheme: &str, host: &str) -> bool {
    match host.rfind('[') {
        Some(0) => is_literal(&host[1..]),
        Some(_) => false,
        None => {
            let strict = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https");
            let colon = if strict { host.find(':') } else { host.rfind(':') };
            colon.is_none_or(|at| is_port(&host[at..])) && is_escaped(host, Part::Host)
        }
    }
}

/// Returns true for the rest after an opening bracket: an IPv6 address, perhaps with a zone, and perhaps a port.
fn is_literal(rest: &str) -> bool {
    let Some((address, port)) = rest.rsplit_once(']') else {
        return false;
    };
    let (address, zone) = match address.find("%25") {
        Some(at) => (&address[..at], Some(&address[at..])),
        None => (address, None),
    };
    is_port(port)
        && address.contains(':')
        && is_ip(address)
        && zone.is_none_or(|zone| zone.len() > 3 && is_escaped(zone, Part::Zone))
}

/// Empty, or a colon and digits, of which there may be none.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns true if every percent sign starts an escape, and every character is allowed.
fn is_escaped(text: &str, part: Part) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let Some([high, low]) = bytes.get(at + 1..at + 3) else {
                return false;
            };
            if !high.is_ascii_hexdigit() || !low.is_ascii_hexdigit() {
                return false;
            }
            let ascii = matches!(high, b'0'..=b'7');
            if part == Part::Host && ascii && bytes[at..at + 3] != *b"%25" {
                return false;
            }
            at += 3;
            continue;
        }
        if part != Part::Free && byte.is_ascii() && !may_stand_in_host(*byte) {
            return false;
        }
        at += 1;
    }
    true
}

fn may_stand_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}
