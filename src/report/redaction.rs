//! Source lines as a report may show them: secrets are replaced.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crdproof_schema::structural::{REDACTED, is_secret, may_name_secret};

/// What excerpts do not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redaction {
    /// They show everything.
    Nothing,
    /// Values of fields that look secret, and these values wherever they stand.
    Secrets(BTreeSet<String>),
}

impl Default for Redaction {
    fn default() -> Self {
        Self::Secrets(BTreeSet::new())
    }
}

/// A key and its scalar on one line, in YAML or JSON, also in JSON that is a YAML text. Maps, lists, block scalars,
/// aliases and tags are not values that stand on the line.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?P<key>[\w./-]+)(?:\\?["']\s*:\s*|\s*:\s+)(?P<value>\\"(?:[^"\\]|\\[^"])*(?:\\")?|"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,\[\]{}#|>&*!"'\\][^,\]}#]*)"#,
    )
    .expect("the expression is valid")
});

/// A line without its secrets.
pub(super) struct Shown {
    /// What may be shown.
    pub(super) text: String,
    hidden: Vec<Range<usize>>,
}

/// Replaces what must not be shown.
pub(super) fn show(line: &str, hide: &Redaction) -> Shown {
    let mut hidden = hidden(line, hide);
    hidden.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut shown = Shown { text: String::with_capacity(line.len()), hidden: Vec::new() };
    let mut rest = 0;
    for range in hidden {
        // One may stand inside another.
        if range.start >= rest {
            shown.text.push_str(&line[rest..range.start]);
            shown.text.push_str(REDACTED);
            rest = range.end;
            shown.hidden.push(range);
        }
    }
    shown.text.push_str(&line[rest..]);
    shown
}

fn hidden(line: &str, hide: &Redaction) -> Vec<Range<usize>> {
    let Redaction::Secrets(values) = hide else { return Vec::new() };
    let known = values.iter().flat_map(|value| line.match_indices(value.as_str()));
    let mut hidden: Vec<_> = known.map(|(start, value)| start..start + value.len()).collect();
    // Few lines name a secret, and the expression is costly.
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
        // A text may be a document with fields of its own.
        let first = value.as_str().chars().next().map_or(1, char::len_utf8);
        from = if secret { value.end() } else { value.start() + first };
    }
    hidden
}

impl Shown {
    /// Where a byte of the line stands now.
    pub(super) fn at(&self, byte: usize) -> usize {
        let mut shown = byte;
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

    #[test]
    fn values_of_secrets_are_hidden_and_nothing_else() {
        let text = |line: &str| show(line, &Redaction::default()).text;
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
        assert_eq!(show("pin: hunter2 # hunter2", &hide).text, "pin: ••• # •••");
        assert_eq!(show("password: 'hunter2 too'", &hide).text, "password: •••");
        assert_eq!(show("password: hunter2", &Redaction::Nothing).text, "password: hunter2");
    }

    #[test]
    fn places_move_with_the_text() {
        let line = "{token: abcdefghijkl, size: 1}";
        let shown = show(line, &Redaction::default());
        let size = line.find("size").unwrap();
        assert_eq!(&shown.text[shown.at(size)..shown.at(size) + 4], "size");
        assert_eq!(shown.at(3), 3);
        assert_eq!(shown.at(12), 8 + REDACTED.len());
    }
}
