//! Texts of others in a report: names, refusals, excerpts. Here they are made visible for all writers but JSON, so that no
//! terminal, CI log or page obeys them.

use serde_json::{Map, Value};

use super::Report;
use crdproof_schema::text::{is_invisible, visible, visible_line};

/// Texts that have several lines by themselves. Any other text is one line, and a line break in it is shown as one.
const MULTILINE: [&str; 4] = ["evidence", "problems", "help", "why"];

/// Returns the report with all its texts made visible.
pub(super) fn visible_report(report: &Report) -> Report {
    let safe = serde_json::to_value(report).map(|value| walk(value, Lines::One)).and_then(serde_json::from_value);
    // A report is read back as it was written; the test of the JSON writer says so.
    safe.unwrap_or_else(|_| report.clone())
}

/// The state of a walk over the lines of a text.
#[derive(Debug, Clone, Copy)]
enum Lines {
    One,
    Several,
    /// Places in it are counted in bytes.
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

/// Replaces what is invisible by as many bytes, so that places stay right.
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
