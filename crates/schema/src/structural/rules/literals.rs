//! String literals in a form that our parser reads right. It drops quotes inside triple quotes, and keeps the backslash
//! of some escapes.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// Rewrites string literals that the parser misreads. Everything else stays as it is; so does a literal that is not
/// valid, for the parser to complain about.
pub(super) fn plain_literals(text: &str) -> Cow<'_, str> {
    let is_misread = ["'''", "\"\"\"", "\\'", "\\\""].iter().any(|part| text.contains(part));
    if !is_misread {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '/' && rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if let Some((prefix, literal)) = literal(rest, out.chars().next_back()) {
            let raw = prefix.contains(['r', 'R']);
            match decode(literal.inner, raw).filter(|_| !prefix.contains(['b', 'B'])) {
                Some(value) => out.push_str(&quote(&value)),
                None => out.push_str(&rest[..prefix.len() + literal.length]),
            }
            rest = &rest[prefix.len() + literal.length..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Cow::Owned(out)
}

/// A string literal without its prefix.
struct Literal<'a> {
    inner: &'a str,
    /// With its quotes.
    length: usize,
}

/// The string literal at the start of a text, and its prefix.
fn literal(text: &str, before: Option<char>) -> Option<(&str, Literal<'_>)> {
    let prefix = text.len() - text.trim_start_matches(['r', 'R', 'b', 'B']).len();
    let (prefix, quoted) = text.split_at(prefix);
    let in_word = before.is_some_and(|before| before.is_alphanumeric() || before == '_');
    if prefix.len() > 2 || (in_word && !prefix.is_empty()) {
        return None;
    }
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| quoted.starts_with(quote))?;
    let raw = prefix.contains(['r', 'R']);
    let body = &quoted[quote.len()..];
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if !escaped && body[at..].starts_with(quote) {
            return Some((prefix, Literal { inner: &body[..at], length: at + 2 * quote.len() }));
        }
        escaped = !raw && !escaped && c == '\\';
    }
    None
}

/// The value of a literal; `None` where an escape is not valid.
fn decode(inner: &str, raw: bool) -> Option<String> {
    if raw {
        return Some(inner.to_owned());
    }
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        value.push(if c == '\\' { escape(&mut chars)? } else { c });
    }
    Some(value)
}

fn escape(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    Some(match chars.next()? {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        same @ ('\\' | '?' | '"' | '\'' | '`') => same,
        'x' | 'X' => number(chars, "", 2, 16)?,
        'u' => number(chars, "", 4, 16)?,
        'U' => number(chars, "", 8, 16)?,
        first @ '0'..='3' => number(chars, first.encode_utf8(&mut [0; 4]), 2, 8)?,
        _ => return None,
    })
}

fn number(chars: &mut Peekable<Chars<'_>>, first: &str, digits: usize, radix: u32) -> Option<char> {
    let mut text = first.to_owned();
    for _ in 0..digits {
        text.push(chars.next()?);
    }
    char::from_u32(u32::from_str_radix(&text, radix).ok()?)
}

/// A literal that every parser reads alike.
fn quote(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' | '\'' | '\0'..='\x1f' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::plain_literals;

    #[rstest]
    #[case(r"self == 'a'", r"self == 'a'")]
    #[case(r"self == 'it\'s'", r#"self == "it\u0027s""#)]
    #[case(r#"self == "a\"b\\""#, r#"self == "a\u0022b\\""#)]
    #[case(r#"self == '\"'"#, r#"self == "\u0022""#)]
    #[case(r"self == '''a'b''' && x", r#"self == "a\u0027b" && x"#)]
    #[case(r#"r"""a\""" + '\''"#, r#""a\\" + "\u0027""#)]
    #[case(r"r'a\' + '\''", r#""a\\" + "\u0027""#)]
    #[case(r"// it's '''", r"// it's '''")]
    #[case(r"bar'\''", r#"bar"\u0027""#)]
    #[case(r"b'\'' == x", r"b'\'' == x")]
    #[case(r"'\q\''", r"'\q\''")]
    #[case(r"'open \'", r"'open \'")]
    fn literals_are_plain(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(plain_literals(text), expected);
    }
}
