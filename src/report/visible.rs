//! Texts of others in a report: names, refusals, excerpts. This escapes them for all writers except JSON, so that no
//! terminal, CI log or page interprets them.

use serde_json::{Map, Value};

use super::Report;
use crdproof_schema::text::{is_invisible, visible, visible_line};

/// Texts with several lines. Any other text is one line, and its line breaks are escaped.
const MULTILINE: [&str; 4] = ["evidence", "problems", "help", "why"];

/// Returns the report with all its texts escaped.
pub(super) fn visible_report(report: &Report) -> Report {
    let safe = serde_json::to_value(report).map(|value| walk(value, Lines::One)).and_then(serde_json::from_value);
    // A report can always be read back; the test of the JSON writer checks that.
    safe.unwrap_or_else(|_| report.clone())
}

/// The state of a walk over the lines of a text.
#[derive(Debug, Clone, Copy)]
enum Lines {
    One,
    Several,
    /// Positions in it are counted in bytes.
    Excerpt,
}

fn walk(value: Value, lines: Lines) -> Value {
    match value {
        Value::String(text) => Value::String(match lines {
            Lines::One => visible_line(&text),
            Lines::Several => visible(&text),
            Lines::Excerpt => same_length(&text),
        }),
        Value::Array(items) => items.into_iter().map(|item| walk(item, lines)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|entry| field(entry, lines)).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn field((name, value): (String, Value), lines: Lines) -> (String, Value) {
    let lines = match name.as_str() {
        "excerpt" => Lines::Excerpt,
        name if MULTILINE.contains(&name) => Lines::Several,
        _ => lines,
    };
    (visible_line(&name), walk(value, lines))
}

/// Replaces invisible characters by as many bytes, so that positions stay right.
fn same_length(text: &str) -> String {
    let replace = |letter: char| match letter {
        '\n' | '\t' => letter.to_string(),
        _ if is_invisible(letter) => "?".repeat(letter.len_utf8()),
        _ => letter.to_string(),
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_do_not_move_bytes() {
        let text = "a\u{9b}b\u{202e}\n\u{1b}";
        assert_eq!(same_length(text), "a??b???\n?");
        assert_eq!(same_length(text).len(), text.len());
    }
}
