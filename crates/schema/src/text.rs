//! Texts that are short enough for a message, and texts that a glob matches.

/// Shortens a text to a number of characters, and marks with `…` that something is missing.
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

/// Returns whether a glob matches a whole text: `*` stands for any characters, also none.
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
    // The leftmost place of each part leaves the most for those after it, so nothing has to be tried twice.
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

    /// With a search that goes back, this would take longer than anybody waits.
    #[test]
    fn many_stars_take_no_longer() {
        let text = "a".repeat(10_000);
        assert!(!glob(&("*".repeat(1000) + "x"), &text));
        assert!(!glob(&("a*".repeat(1000) + "x"), &text));
    }

    #[test]
    fn characters_are_counted_and_not_bytes() {
        assert_eq!(truncate("äöü", 3), "äöü");
        assert_eq!(truncate("äöü", 2), "äö…");
        assert_eq!(truncate("", 0), "");
        assert_eq!(truncate("a", 0), "…");
    }
}
