//! Places in sources, with enough text to show them without the source available.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::redaction::{self, Redaction};
use crdproof_schema::document::{Sources, Span};

/// A place with an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Location {
    /// The file, as it was named.
    pub file: String,
    /// First line, counted from one.
    pub line: u32,
    /// First column in characters, counted from one.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
    /// The text around the place.
    pub excerpt: Excerpt,
}

/// Some lines of a source, and the range in them that is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Excerpt {
    /// The number of the first line.
    pub line: u32,
    /// The lines.
    pub text: String,
    /// First byte of the range in the text.
    pub start: usize,
    /// One past the last byte of the range in the text.
    pub end: usize,
}

/// Another place that explains a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Related {
    /// What it explains.
    pub message: String,
    /// Where it is.
    pub location: Location,
}

/// Spans over more lines than this are shown by their first line.
const EXCERPT_LINES: u32 = 4;
/// Longer lines are cut, so that an excerpt stays readable.
const LINE_LIMIT: usize = 240;

impl Location {
    /// The place of a span.
    pub fn of(sources: &Sources, span: Span, hide: &Redaction) -> Self {
        let source = sources.get(span.source);
        let start = source.place(span.start);
        let end = source.place(span.end.max(span.start));
        let last = if end.line - start.line < EXCERPT_LINES { end.line } else { start.line };
        let shown: Vec<_> = (start.line..=last).map(|line| redaction::show(source.line(line), hide)).collect();
        let lines: Vec<String> = shown.iter().map(|line| cut(&line.text)).collect();
        let text = lines.join("\n");
        let from = shown[0].at((span.start as usize).saturating_sub(source.line_range(start.line).start));
        let to = if last == end.line {
            let before: usize = lines[..lines.len() - 1].iter().map(|line| line.len() + 1).sum();
            let in_line = (span.end as usize).saturating_sub(source.line_range(end.line).start);
            before + shown[shown.len() - 1].at(in_line)
        } else {
            lines[0].len()
        };
        let from = floor(&text, from);
        let to = floor(&text, to).max(from);
        Self {
            file: start.file,
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            excerpt: Excerpt { line: start.line, text, start: from, end: to },
        }
    }
}

fn cut(line: &str) -> String {
    if line.len() <= LINE_LIMIT {
        return line.to_owned();
    }
    format!("{}…", &line[..floor(line, LINE_LIMIT)])
}

/// The nearest character boundary at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_show_the_range() {
        let mut sources = Sources::default();
        let text = "a: 1\nspec:\n  x: yes\n  y: no\n";
        let source = sources.add("f.yaml", text);
        let span = |start: &str, end: &str| Span {
            source,
            start: u32::try_from(text.find(start).unwrap()).unwrap(),
            end: u32::try_from(text.find(end).unwrap() + end.len()).unwrap(),
        };
        let location = Location::of(&sources, span("yes", "yes"), &Redaction::default());
        assert_eq!((location.line, location.column, location.end_column), (3, 6, 9));
        let excerpt = location.excerpt;
        assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "yes");
        let location = Location::of(&sources, span("spec", "no"), &Redaction::default());
        let excerpt = location.excerpt;
        assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "spec:\n  x: yes\n  y: no");
        let long = format!("k: {}", "ü".repeat(300));
        let source = sources.add("g.yaml", long.clone());
        let whole = Span { source, start: 0, end: u32::try_from(long.len()).unwrap() };
        assert!(Location::of(&sources, whole, &Redaction::default()).excerpt.text.len() < 300);
    }
}
