//! Source lines as a report may show them: values of fields that look secret are replaced.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::schema::is_secret;

const MASK: &str = "•••";

/// A key and its scalar on one line, in YAML or JSON. Maps, lists, block scalars, aliases and tags
/// are not values that stand on the line.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?P<key>[\w./-]+)(?:["']\s*:\s*|\s*:\s+)(?P<value>"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,\[\]{}#|>&*!"'][^,\]}#]*)"#,
    )
    .expect("the expression is lawful")
});

/// A line without its secrets.
pub(super) struct Shown {
    /// What may be shown.
    pub(super) text: String,
    hidden: Vec<Range<usize>>,
}

/// Replaces what looks like a secret's value.
pub(super) fn show(line: &str) -> Shown {
    let mut shown = Shown { text: String::with_capacity(line.len()), hidden: Vec::new() };
    let mut rest = 0;
    for field in FIELD.captures_iter(line) {
        if let Some(value) = field.name("value").filter(|_| is_secret(&field["key"], None)) {
            let end = value.start() + value.as_str().trim_end().len();
            shown.text.push_str(&line[rest..value.start()]);
            shown.text.push_str(MASK);
            shown.hidden.push(value.start()..end);
            rest = end;
        }
    }
    shown.text.push_str(&line[rest..]);
    shown
}

impl Shown {
    /// Where a byte of the line stands now.
    pub(super) fn at(&self, byte: usize) -> usize {
        let mut shown = byte;
        for hidden in self.hidden.iter().filter(|hidden| hidden.start < byte) {
            let covered = byte.min(hidden.end) - hidden.start;
            shown = shown + MASK.len() - covered;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_hidden_and_nothing_else() {
        let text = |line: &str| show(line).text;
        assert_eq!(text("  password: s3cret # mine"), "  password: ••• # mine");
        assert_eq!(text("- {user: a, password: 'b c', size: 1}"), "- {user: a, password: •••, size: 1}");
        assert_eq!(text(r#"{"apiKey":"x\"y","a":1}"#), r#"{"apiKey":•••,"a":1}"#);
        for line in ["password:", "  password: {type: string}", "password: |", "secretName: a", "path: .spec.password"]
        {
            assert_eq!(text(line), line);
        }
        assert_eq!(text("url: \"http://token:8080/\""), "url: \"http://token:8080/\"");
    }

    #[test]
    fn places_move_with_the_text() {
        let line = "{token: abcdefghijkl, size: 1}";
        let shown = show(line);
        let size = line.find("size").unwrap();
        assert_eq!(&shown.text[shown.at(size)..shown.at(size) + 4], "size");
        assert_eq!(shown.at(3), 3);
        assert_eq!(shown.at(12), 8 + MASK.len());
    }
}
