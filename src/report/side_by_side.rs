//! An object before and after, side by side.

use serde::Serialize;
use serde_json::Value;

/// Longer objects are not compared: nobody reads them, and the page stays small.
const MAX_LINES: usize = 160;

/// Two objects, side by side.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct SideBySide {
    /// The name of the left one.
    before: String,
    /// The name of the right one.
    after: String,
    rows: Vec<Row>,
}

/// One line of both; a side that lacks it is empty.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Row {
    left: String,
    right: String,
    differs: bool,
}

impl SideBySide {
    /// Returns the first and the last object of some evidence, whose lines have the form `v1 in: {…}`.
    pub(super) fn of(evidence: &str) -> Option<Self> {
        let mut objects = evidence.lines().filter_map(object);
        let (before, left) = objects.next()?;
        let (after, right) = objects.next_back()?;
        if left.len().max(right.len()) > MAX_LINES || left == right {
            return None;
        }
        Some(Self { before: before.to_owned(), after: after.to_owned(), rows: rows(&left, &right) })
    }
}

/// Shows a counterexample as a difference between the first object of some evidence and the last one.
pub(crate) fn counterexample(evidence: &str) -> Option<String> {
    let both = SideBySide::of(evidence)?;
    let mut text = format!("--- {}\n+++ {}\n", both.before, both.after);
    for Row { left, right, differs } in &both.rows {
        if !differs {
            text.push_str(&format!("  {left}\n"));
            continue;
        }
        for (sign, line) in [('-', left), ('+', right)].into_iter().filter(|(_, line)| !line.is_empty()) {
            text.push_str(&format!("{sign} {line}\n"));
        }
    }
    Some(text)
}

/// Reads a line of evidence that contains an object.
fn object(line: &str) -> Option<(&str, Vec<String>)> {
    let (what, json) = line.split_once(": ")?;
    let value: Value = serde_json::from_str(json.trim()).ok().filter(Value::is_object)?;
    let text = serde_json::to_string_pretty(&value).ok()?;
    Some((what.trim(), text.lines().flat_map(lines).collect()))
}

/// Returns a line without parts that depend on its neighbours: a comma, and the braces of an empty object or list.
fn lines(line: &str) -> Vec<String> {
    let line = line.trim_end_matches(',');
    let indent = &line[..line.len() - line.trim_start().len()];
    match (line.strip_suffix("{}"), line.strip_suffix("[]")) {
        (Some(before), _) => vec![format!("{before}{{"), format!("{indent}}}")],
        (None, Some(before)) => vec![format!("{before}["), format!("{indent}]")],
        (None, None) => vec![line.to_owned()],
    }
}

/// Aligns lines by the longest sequence that both have.
fn rows(left: &[String], right: &[String]) -> Vec<Row> {
    let width = right.len() + 1;
    let mut longest = vec![0_usize; (left.len() + 1) * width];
    for (i, one) in left.iter().enumerate().rev() {
        for (j, other) in right.iter().enumerate().rev() {
            let below = longest[(i + 1) * width + j].max(longest[i * width + j + 1]);
            longest[i * width + j] = if one == other { longest[(i + 1) * width + j + 1] + 1 } else { below };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut rows: Vec<Row> = Vec::new();
    while i < left.len() || j < right.len() {
        let (one, other) = (left.get(i), right.get(j));
        let down = i < left.len() && longest[(i + 1) * width + j] >= longest[i * width + j.min(right.len() - 1) + 1];
        let (one, other) = match (one, other) {
            (Some(one), Some(other)) if one == other => (Some(one), Some(other)),
            (Some(one), Some(_)) if down => (Some(one), None),
            (Some(one), None) => (Some(one), None),
            (_, other) => (None, other),
        };
        i += usize::from(one.is_some());
        j += usize::from(other.is_some());
        let text = |line: Option<&String>| line.cloned().unwrap_or_default();
        push(&mut rows, Row { left: text(one), right: text(other), differs: one != other });
    }
    rows
}

/// Puts a replaced line beside its replacement.
fn push(rows: &mut Vec<Row>, row: Row) {
    if row.left.is_empty()
        && let Some(open) =
            rows.iter_mut().rev().take_while(|row| row.differs).filter(|row| row.right.is_empty()).last()
    {
        open.right = row.right;
        return;
    }
    rows.push(row);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_has_nothing_beside_it() {
        let evidence = "v2 in: {\"a\":1,\"spec\":{\"password\":\"•••\"}}\n\
                        v1 converted: {\"a\":1}\n\
                        v2 converted: {\"a\":2,\"spec\":{}}\nat /spec/password\n- •••\n+ nothing";
        let both = SideBySide::of(evidence).unwrap();
        assert_eq!((both.before.as_str(), both.after.as_str()), ("v2 in", "v2 converted"));
        let differing: Vec<(&str, &str)> =
            both.rows.iter().filter(|row| row.differs).map(|row| (row.left.trim(), row.right.trim())).collect();
        assert_eq!(differing, [("\"a\": 1", "\"a\": 2"), ("\"password\": \"•••\"", "")]);
        assert_eq!(SideBySide::of("v1 in: {}\nanything else"), None);
    }
}
