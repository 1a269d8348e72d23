//! Texts that are short enough for a message.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        assert_eq!(truncate("äöü", 3), "äöü");
        assert_eq!(truncate("äöü", 2), "äö…");
        assert_eq!(truncate("", 0), "");
        assert_eq!(truncate("a", 0), "…");
    }
}
