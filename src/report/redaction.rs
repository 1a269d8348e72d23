//! Source lines in a report, with secrets redacted.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crdproof_schema::structural::{REDACTED, find_secret, is_secret, may_name_secret};

/// The values that excerpts do not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redaction {
    /// Nothing is redacted.
    Nothing,
    /// Values of fields that look secret, and these values anywhere.
    Secrets(BTreeSet<String>),
}

impl Default for Redaction {
    fn default() -> Self {
        Self::Secrets(BTreeSet::new())
    }
}

/// A key and its scalar on one line, in YAML or JSON, also in JSON inside a YAML string. Maps, lists, block scalars,
/// aliases and tags are not values on the line.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?P<key>[\w./-]+)(?:\\?["']\s*:\s*|\s*:\s+)(?P<value>\\"(?:[^"\\]|\\[^"])*(?:\\")?|"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,\[\]{}#|>&*!"'\\][^,\]}#]*)"#,
    )
    .expect("the expression is valid")
});

/// A part of a line, redacted.
pub(super) struct RedactedPart {
    /// The redacted text.
    pub(super) text: String,
    /// The range of the line, and the ranges that are redacted.
    part: Range<usize>,
    hidden: Vec<Range<usize>>,
}

/// Redacts a part of a line. `named` are the values in the line that [`named_secrets`] found.
pub(super) fn show(line: &str, part: Range<usize>, named: &[Range<usize>], hide: &Redaction) -> RedactedPart {
    let mut hidden = match hide {
        Redaction::Nothing => Vec::new(),
        Redaction::Secrets(values) => {
            // Values do not overlap and are in order.
            let first = named.partition_point(|range| range.end <= part.start);
            let named = named[first..].iter().take_while(|range| range.start < part.end).cloned();
            named.chain(known_secrets(line, &part, values)).collect()
        }
    };
    hidden.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut shown = RedactedPart { text: String::with_capacity(part.len()), part: part.clone(), hidden: Vec::new() };
    let mut rest = part.start;
    for range in hidden {
        let range = range.start.max(part.start)..range.end.min(part.end);
        // One may be inside another.
        if range.start >= rest && !range.is_empty() {
            shown.text.push_str(&line[rest..range.start]);
            shown.text.push_str(REDACTED);
            rest = range.end;
            shown.hidden.push(range);
        }
    }
    shown.text.push_str(&line[rest..part.end]);
    shown
}

/// The ranges of known values that overlap a part of a line.
fn known_secrets(line: &str, part: &Range<usize>, values: &BTreeSet<String>) -> Vec<Range<usize>> {
    // Escaped, a value is several times as long.
    let longest = values.iter().map(String::len).max().unwrap_or_default().saturating_mul(8);
    // At most three bytes lie between two boundaries.
    let from = floor(line, part.start.saturating_sub(longest));
    let near = &line[from..floor(line, part.end.saturating_add(longest + 3))];
    let found = values.iter().flat_map(|value| find_secret(near, value));
    let found = found.map(|range| from + range.start..from + range.end);
    found.filter(|range| range.start < part.end && range.end > part.start).collect()
}

/// The nearest character boundary at or before a byte.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The values of fields that look secret, in the order of the line.
pub(super) fn named_secrets(line: &str) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    // Few lines name a secret, and the expression is slow.
    if !may_name_secret(line) {
        return hidden;
    }
    let mut from = 0;
    while let Some(field) = FIELD.captures_at(line, from)
        && let Some(value) = field.name("value")
    {
        let end = value.start() + value.as_str().trim_end().len();
        let secret = is_secret(&field["key"], None);
        if secret {
            hidden.push(value.start()..end);
        }
        // A string may be a document with its own fields.
        let first = value.as_str().chars().next().map_or(1, char::len_utf8);
        from = if secret { value.end() } else { value.start() + first };
    }
    hidden
}

/// Returns a line without the values of fields that look secret, and the new position of a character.
pub(crate) fn redact_line(line: &str, column: usize) -> (String, usize) {
    let shown = show(line, 0..line.len(), &named_secrets(line), &Redaction::default());
    let byte = line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte);
    let column = shown.text[..floor(&shown.text, shown.at(byte))].chars().count();
    (shown.text, column)
}

impl RedactedPart {
    /// Returns the new position of a byte of the line.
    pub(super) fn at(&self, byte: usize) -> usize {
        let byte = byte.clamp(self.part.start, self.part.end);
        let mut shown = byte - self.part.start;
        for hidden in self.hidden.iter().filter(|hidden| hidden.start < byte) {
            let covered = byte.min(hidden.end) - hidden.start;
            shown = shown + REDACTED.len() - covered;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(line: &str, hide: &Redaction) -> RedactedPart {
        show(line, 0..line.len(), &named_secrets(line), hide)
    }

    #[test]
    fn a_part_shows_nothing_of_a_secret_that_reaches_into_it() {
        let line = "{a: 1, token: abcdefghijkl, size: 1, pin: hunter2}";
        let hide = Redaction::Secrets(["hunter2".to_owned()].into());
        let show = |from: &str, to: &str| {
            let part = line.find(from).unwrap()..line.find(to).unwrap();
            super::show(line, part, &named_secrets(line), &hide).text
        };
        assert_eq!(show("ghijkl", "size"), "•••, ");
        assert_eq!(show("token", "ghijkl"), "token: •••");
        assert_eq!(show("ter2", "}"), "•••");
        assert_eq!(show("size", "ter2"), "size: 1, pin: •••");
    }

    #[test]
    fn values_of_secrets_are_hidden_and_nothing_else() {
        let text = |line: &str| whole(line, &Redaction::default()).text;
        assert_eq!(text("  password: s3cret # mine"), "  password: ••• # mine");
        assert_eq!(text("- {user: a, password: 'b c', size: 1}"), "- {user: a, password: •••, size: 1}");
        assert_eq!(text(r#"{"apiKey":"x\"y","a":1}"#), r#"{"apiKey":•••,"a":1}"#);
        for line in ["password:", "  password: {type: string}", "password: |", "secretName: a", "path: .spec.password"]
        {
            assert_eq!(text(line), line);
        }
        assert_eq!(text(r#"note: "{\"password\":\"x y\",\"a\":1}""#), r#"note: "{\"password\":•••,\"a\":1}""#);
        assert_eq!(text("url: \"http://token:8080/\""), "url: \"http://token:8080/\"");
    }

    #[test]
    fn known_values_are_hidden_under_any_name() {
        let hide = Redaction::Secrets(["hunter2".to_owned()].into());
        assert_eq!(whole("pin: hunter2 # hunter2", &hide).text, "pin: ••• # •••");
        assert_eq!(whole("password: 'hunter2 too'", &hide).text, "password: •••");
        assert_eq!(whole("password: hunter2", &Redaction::Nothing).text, "password: hunter2");
    }

    #[test]
    fn positions_move_with_the_text() {
        let line = "{token: abcdefghijkl, size: 1}";
        let shown = whole(line, &Redaction::default());
        let size = line.find("size").unwrap();
        assert_eq!(&shown.text[shown.at(size)..shown.at(size) + 4], "size");
        assert_eq!(shown.at(3), 3);
        assert_eq!(shown.at(12), 8 + REDACTED.len());
    }
}
