//! Shortened texts for messages, escaped texts for terminals and CI logs, and globs.

/// Shortens a text to a number of characters, and marks a truncated one with `…`.
///
/// ```
/// use crdproof_schema::text::truncate;
///
/// assert_eq!(truncate("schema", 6), "schema");
/// assert_eq!(truncate("schemas", 6), "schema…");
/// ```
pub fn truncate(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Escapes everything that a terminal, a CI log or a reader would not see as text: control characters, marks of writing
/// direction, characters that XML forbids, and workflow commands of CI runners. Keeps line breaks.
///
/// ```
/// use crdproof_schema::text::visible;
///
/// assert_eq!(visible("a\u{1b}[31m\u{202e}b"), "a␛[31m\\u{202e}b");
/// assert_eq!(visible("x\n::error::y"), "x\n: :error::y");
/// ```
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = '\n';
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' => shown.push(letter),
            '\t' => shown.push(' '),
            '\0'..='\u{1f}' => shown.push(char::from_u32(u32::from(letter) + 0x2400).unwrap_or('\u{fffd}')),
            _ if is_invisible(letter) => shown.extend(letter.escape_unicode()),
            // Runners execute a word like `::error` at the start of a line, and any space may become a line start.
            ':' if before.is_whitespace() && is_command(&text[at..]) => shown.push_str(": "),
            '[' if shown.ends_with("##") => shown.push_str(" ["),
            _ => shown.push(letter),
        }
        before = letter;
    }
    shown
}

/// Does the same for a text on one line.
pub fn visible_line(text: &str) -> String {
    visible(&text.replace('\n', "\u{240a}"))
}

/// Returns true if a character beyond ASCII is interpreted or refused instead of shown.
pub fn is_invisible(letter: char) -> bool {
    let turns =
        matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(letter, '\u{2028}' | '\u{2029}');
    turns || breaks || letter.is_control() || u32::from(letter) & 0xfffe == 0xfffe
}

fn is_command(text: &str) -> bool {
    text.strip_prefix("::").is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_alphabetic()))
}

/// Returns true if a glob matches a whole text: `*` stands for any characters, also none.
///
/// ```
/// use crdproof_schema::text::glob;
///
/// assert!(glob("manifest/*", "manifest/names-valid"));
/// assert!(!glob("manifest/*", "upgrade/names-valid"));
/// ```
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    // The leftmost match of each part leaves most for the parts after it, so no backtracking is needed.
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_texts() {
        for (pattern, text) in [("manifest/*", "manifest/x"), ("*", "a/b"), ("a*c", "abc"), ("a", "a"), ("*", "")] {
            assert!(glob(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("manifest/*", "upgrade/x"), ("a*c", "abd"), ("", "a"), ("ab*b", "ab"), ("a*a", "a")] {
            assert!(!glob(pattern, text), "{pattern} {text}");
        }
        assert!(glob("*ä*ü*", "xäöüx"));
    }

    /// With backtracking, this would take forever.
    #[test]
    fn many_stars_match_in_linear_time() {
        let text = "a".repeat(10_000);
        assert!(!glob(&("*".repeat(1000) + "x"), &text));
        assert!(!glob(&("a*".repeat(1000) + "x"), &text));
    }

    #[test]
    fn interpreted_characters_are_escaped() {
        assert_eq!(visible("a\u{1b}[31mb\u{9b}c\u{202e}\n"), "a␛[31mb\\u{9b}c\\u{202e}\n");
        assert_eq!(visible("\u{fffe}\r\tx"), "\\u{fffe}␍ x");
        assert_eq!(visible("  ::stop-commands::x [::1] a::b ##[error]"), "  : :stop-commands::x [::1] a::b ## [error]");
        assert_eq!(visible_line("a\n::error::b"), "a␊::error::b");
        let twice = visible("\u{1b}::add-mask::x ##[x \u{202e}");
        assert_eq!(visible(&twice), twice);
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(truncate("äöü", 3), "äöü");
        assert_eq!(truncate("äöü", 2), "äö…");
        assert_eq!(truncate("", 0), "");
        assert_eq!(truncate("a", 0), "…");
    }
}
