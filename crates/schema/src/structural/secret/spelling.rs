//! Known secrets in texts of others, however they are spelled there: as they are, or escaped as JSON, HTML and URLs
//! escape, once or several times.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{MIN_LENGTH, REDACTED};

/// The sign that the rest of a text is missing.
const CUT: char = '…';

/// The most bytes that the spelling of one letter takes: two escaped halves of a pair, each behind some backslashes.
const LONGEST: usize = 24;

/// The entities that have names.
const ENTITIES: [(&str, char); 5] = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')];

/// A text in which none of these values is left, nor the beginning of one that was cut.
pub fn redact_text(text: &str, secrets: &BTreeSet<String>) -> String {
    let mut hidden: Vec<Range<usize>> = secrets.iter().flat_map(|secret| find_secret(text, secret)).collect();
    hidden.extend(text.match_indices(CUT).filter_map(|(at, _)| cut_secret(&text[..at], secrets)));
    // Of those that begin at one place the longest counts.
    hidden.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let (mut redacted, mut rest) = (String::with_capacity(text.len()), 0);
    for range in hidden {
        if range.start >= rest {
            redacted.push_str(&text[rest..range.start]);
            redacted.push_str(REDACTED);
        }
        rest = rest.max(range.end);
    }
    redacted.push_str(&text[rest..]);
    redacted
}

/// The places of a secret in a text.
pub fn find_secret(text: &str, secret: &str) -> Vec<Range<usize>> {
    let (before, anchor) = anchor(secret);
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut rest = 0;
    // An empty anchor is found everywhere.
    for (at, _) in text.match_indices(anchor) {
        let first = at.saturating_sub(before.chars().count() * LONGEST).max(rest);
        let starts = (first..=at.saturating_sub(before.chars().count())).rev();
        let mut starts = starts.filter(|start| text.is_char_boundary(*start));
        if at < rest {
            continue;
        }
        if let Some(range) = starts.find_map(|start| whole(text, start, secret)) {
            rest = range.end;
            found.push(range);
        }
    }
    found
}

/// The longest part of a secret that is spelled in one way only, and what is before it.
fn anchor(secret: &str) -> (&str, &str) {
    let mut parts = secret.split(|letter: char| !letter.is_ascii_alphanumeric());
    let longest = parts.clone().map(str::len).max().unwrap_or_default();
    let part = parts.find(|part| part.len() == longest).unwrap_or_default();
    (secret.split(part).next().unwrap_or_default(), part)
}

fn whole(text: &str, start: usize, secret: &str) -> Option<Range<usize>> {
    let (end, letters) = spelled(text, start, secret);
    (letters == secret.chars().count() && end > start).then_some(start..end)
}

/// The place of a secret whose end was cut off where this text ends.
fn cut_secret(text: &str, secrets: &BTreeSet<String>) -> Option<Range<usize>> {
    let begins = |secret: &String| {
        let first = text.len().saturating_sub(secret.chars().count() * LONGEST);
        let mut starts = (first..text.len()).filter(|start| text.is_char_boundary(*start));
        starts.find(|start| {
            let (end, letters) = spelled(text, *start, secret);
            // The cut may be in the middle of an escape.
            let rest = &text[end..];
            let in_escape = |letter: char| letter.is_ascii_alphanumeric() || ['\\', '&', '#', '%'].contains(&letter);
            let is_cut = rest.len() < LONGEST && rest.starts_with(['\\', '&', '%']) && rest.chars().all(in_escape);
            letters >= MIN_LENGTH && (rest.is_empty() || is_cut)
        })
    };
    secrets.iter().filter_map(begins).min().map(|start| start..text.len())
}

/// Returns where the spelling of a secret ends that begins here, and how many of its letters there are.
fn spelled(text: &str, start: usize, secret: &str) -> (usize, usize) {
    if text[start..].starts_with(secret) {
        return (start + secret.len(), secret.chars().count());
    }
    let (mut end, mut letters) = (start, 0);
    let mut before = None;
    for letter in secret.chars() {
        // As many backslashes as there are stand for one, or for several in a row, and the last may begin an escape.
        let after_slash = before == Some('\\');
        let shared = || {
            text[..end]
                .strip_suffix('\\')
                .and_then(|text_before| Some(spelling(&text[text_before.len()..], letter)? - 1))
        };
        match spelling(&text[end..], letter).or_else(|| if after_slash { shared() } else { None }) {
            Some(length) => end += length,
            None if after_slash && letter == '\\' => {}
            None => break,
        }
        (before, letters) = (Some(letter), letters + 1);
    }
    (end, letters)
}

/// Returns how many bytes at the beginning of a text spell a letter.
fn spelling(text: &str, letter: char) -> Option<usize> {
    if letter.is_ascii_alphanumeric() {
        return text.starts_with(letter).then_some(1);
    }
    let rest = text.trim_start_matches('\\');
    let slashes = text.len() - rest.len();
    if letter == '\\' && slashes > 0 {
        return in_units(text, letter).or(Some(slashes));
    }
    // An escape first: it may begin with the letter itself, as `&amp;` and `%25` do.
    let escaped = as_entity(text, letter).or_else(|| in_url(text, letter)).or_else(|| in_units(text, letter));
    let plain = || rest.starts_with(letter).then(|| slashes + letter.len_utf8());
    let tab = || (slashes > 0 && letter == '\t' && rest.starts_with('t')).then_some(slashes + 1);
    escaped.or_else(plain).or_else(tab)
}

/// As JSON writes a letter in ASCII: `\u00e9`, in two halves where it takes two.
fn in_units(text: &str, letter: char) -> Option<usize> {
    let mut units = [0; 2];
    let mut rest = text;
    for unit in letter.encode_utf16(&mut units) {
        let digits = rest.trim_start_matches('\\').strip_prefix('u').filter(|_| rest.starts_with('\\'))?;
        let is_unit = u16::from_str_radix(digits.get(..4)?, 16).is_ok_and(|found| found == *unit);
        rest = if is_unit { &digits[4..] } else { return None };
    }
    Some(text.len() - rest.len())
}

/// As HTML and XML write a letter: `&lt;`, `&#34;`, `&#x22;`.
fn as_entity(text: &str, letter: char) -> Option<usize> {
    if let Some((name, _)) = ENTITIES.iter().find(|(name, known)| *known == letter && text.starts_with(name)) {
        return Some(name.len());
    }
    let (digits, _) = text.strip_prefix("&#")?.split_once(';')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    code.is_ok_and(|code| code == u32::from(letter)).then_some(digits.len() + 3)
}

/// As URLs write a letter: `%22`; a space is a plus sign, too.
fn in_url(text: &str, letter: char) -> Option<usize> {
    if letter == ' ' && text.starts_with('+') {
        return Some(1);
    }
    let (mut bytes, mut rest) = ([0; 4], text);
    for byte in letter.encode_utf8(&mut bytes).bytes() {
        let digits = rest.strip_prefix('%')?;
        let is_byte = u8::from_str_radix(digits.get(..2)?, 16).is_ok_and(|found| found == byte);
        rest = if is_byte { &digits[2..] } else { return None };
    }
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(secrets: &[&str]) -> BTreeSet<String> {
        secrets.iter().map(|secret| (*secret).to_owned()).collect()
    }

    #[test]
    fn known_values_are_taken_out_of_any_text() {
        let secrets = of(&["hunter2", "hunter2-long"]);
        assert_eq!(redact_text("no hunter2-long, no hunter2.", &secrets), "no •••, no •••.");
        assert_eq!(redact_text("", &secrets), "");
        // A secret that overlaps another one hides both.
        assert_eq!(redact_text("abcdefghij!", &of(&["abcdefg", "defghij"])), "•••!");
    }

    #[test]
    fn a_secret_is_known_however_often_it_is_escaped() {
        let secret = r#"hunter"2\<é🐤>&\\end/+ x"#;
        let secrets = of(&[secret]);
        let mut text = secret.to_owned();
        for depth in 0..5 {
            assert_eq!(redact_text(&text, &secrets), if depth == 0 { "•••".into() } else { quoted(depth) }, "{text}");
            text = json!(text).to_string();
        }
        for spelled in [
            r#"hunter\"2\\\u003c\u00e9\ud83d\udc24\u003e\u0026\\\\end/\u002B x"#,
            r#"hunter\\\"2\\\\\\u003C\\u00E9\\ud83d\\udc24>&\\\\\\\\end\/+ x"#,
            "hunter&quot;2\\&lt;&#233;&#x1F424;&gt;&amp;\\\\end/+ x",
            "hunter%222%5c%3Cé%F0%9F%90%A4%3e%26%5C%5Cend%2f%2B+x",
        ] {
            assert_eq!(redact_text(&format!("[{spelled}]"), &secrets), "[•••]", "{spelled}");
        }
        assert_eq!(redact_text("hunter2 hunter'2", &secrets), "hunter2 hunter'2");
    }

    /// Marks that stand for a secret, in JSON in JSON, so often.
    fn quoted(depth: usize) -> String {
        (0..depth).fold(REDACTED.to_owned(), |text, _| json!(text).to_string())
    }

    #[test]
    fn the_beginning_of_a_secret_before_a_cut_is_hidden() {
        let secrets = of(&[r#"hunter"2\end"#]);
        let text = r#"it is hunter"2… and hunter… or hunt… or hunter\"2\\e… or hunter\…"#;
        assert_eq!(redact_text(text, &secrets), "it is •••… and •••… or hunt… or •••… or •••…");
        assert_eq!(redact_text("geheim\\u00… geheim&#3…", &of(&["geheimé\"x"])), "•••… •••…");
    }

    #[test]
    fn a_secret_without_letters_is_found() {
        assert_eq!(redact_text("a !\"§$%&/ b", &of(&["!\"§$%&/"])), "a ••• b");
    }

    #[test]
    fn a_secret_that_looks_like_an_escape_is_found() {
        for secret in ["abc&amp;def", "abc%25def", r"abc\u0041def", r"abc\\def"] {
            let inner = json!({ "p": secret }).to_string();
            assert_eq!(redact_text(secret, &of(&[secret])), "•••");
            assert_eq!(redact_text(&inner, &of(&[secret])), r#"{"p":"•••"}"#);
        }
    }
}
