//! The words of a CEL rule.

/// Words, literals and operators; spaces and comments are gone.
pub(super) fn tokens(rule: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = rule;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            rest = &rest[length..];
            continue;
        } else if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        } else if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let prefix = rest[..end].to_ascii_lowercase();
            // `r'…'` and `b'…'` are literals with a prefix.
            match rest[end..].chars().next() {
                Some('"' | '\'') if matches!(prefix.as_str(), "r" | "b" | "br" | "rb") => {
                    end + literal(&rest[end..], prefix.contains('r'))
                }
                Some('.') if is_fraction(&rest[..end], &rest[end..]) => {
                    let tail = &rest[end + 1..];
                    end + 1 + tail.find(|c| !is_word(c)).unwrap_or(tail.len())
                }
                _ => end,
            }
        } else if matches!(first, '"' | '\'') {
            literal(rest, false)
        } else {
            let pairs = ["||", "&&", "==", "!=", "<=", ">="];
            let is_pair = pairs.iter().any(|pair| rest.starts_with(pair));
            if is_pair { 2 } else { first.len_utf8() }
        };
        found.push(plain_quotes(&rest[..length]));
        rest = &rest[length..];
    }
    found
}

fn is_fraction(word: &str, rest: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit()) && rest[1..].starts_with(|c: char| c.is_ascii_digit())
}

/// The length of a literal with its quotes.
fn literal(text: &str, raw: bool) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let (open, end) = if text.starts_with(&triple) { (3, triple.as_str()) } else { (1, quote) };
    let mut at = open;
    while at < text.len() {
        if text[at..].starts_with(end) {
            return at + end.len();
        }
        let c = text[at..].chars().next().map_or(1, char::len_utf8);
        let escaped = !raw && text[at..].starts_with('\\');
        at += c;
        if escaped {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

/// `'a'` and `"a"` are the same text.
fn plain_quotes(token: &str) -> String {
    let inner = token.strip_prefix('\'').and_then(|token| token.strip_suffix('\''));
    match inner {
        Some(inner) if !inner.contains(['"', '\\', '\'']) => format!("\"{inner}\""),
        _ => token.to_owned(),
    }
}

/// Whether a character can be part of a name or a number.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
