//! Locations in sources, with enough text to show them without the source.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::redaction::{self, RedactedPart, Redaction, floor};
use crdproof_schema::document::{SourceId, Sources, Span};

/// A location with an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Location {
    /// The name of the file.
    pub file: String,
    /// First line, counted from one.
    pub line: u32,
    /// First column in characters, counted from one.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
    /// The text around the location.
    pub excerpt: Excerpt,
}

/// Some lines of a source, and a range in them.
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

/// Another location that explains a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Related {
    /// The explanation.
    pub message: String,
    /// The location.
    pub location: Location,
}

/// Longer spans are shown by their first line.
const EXCERPT_LINES: u32 = 4;
/// Longer lines are cut, so that an excerpt stays readable.
const LINE_LIMIT: usize = 240;
/// Length of a long line that is shown before the range.
const LEAD: usize = 40;

/// Finds locations in the sources of a run. Searches a long line for secrets only once, however many findings are in
/// it.
#[derive(Debug)]
pub struct Locator<'a> {
    sources: &'a Sources,
    named: RefCell<HashMap<(SourceId, u32), Named>>,
}

/// The values in a line that look secret by the names of their fields.
type Named = Rc<[Range<usize>]>;

impl<'a> Locator<'a> {
    /// Finds locations in these sources.
    pub fn new(sources: &'a Sources) -> Self {
        Self { sources, named: RefCell::default() }
    }

    /// The location of a span.
    pub fn locate(&self, span: Span, hide: &Redaction) -> Location {
        let source = self.sources.get(span.source);
        let start = source.place(span.start);
        let end = source.place(span.end.max(span.start));
        let last = if end.line - start.line < EXCERPT_LINES { end.line } else { start.line };
        let in_line = |byte: u32, line: u32| (byte as usize).saturating_sub(source.line_range(line).start);
        let from = in_line(span.start, start.line);
        let lines: Vec<Line> = (start.line..=last)
            .map(|line| self.line(span.source, line, if line == start.line { from } else { 0 }, hide))
            .collect();
        let text = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
        let from = lines[0].at(from);
        let to = if last == end.line {
            let before: usize = lines[..lines.len() - 1].iter().map(|line| line.text.len() + 1).sum();
            before + lines[lines.len() - 1].at(in_line(span.end, end.line))
        } else {
            lines[0].text.len()
        };
        let from = floor(&text, from);
        let to = floor(&text, to).max(from);
        Location {
            file: start.file,
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            excerpt: Excerpt { line: start.line, text, start: from, end: to },
        }
    }

    /// A line, or the part of a long one that begins a little before a byte.
    fn line(&self, id: SourceId, number: u32, byte: usize, hide: &Redaction) -> Line {
        let line = self.sources.get(id).line(number);
        let start = if line.len() <= LINE_LIMIT || byte < LINE_LIMIT { 0 } else { byte.min(line.len()) - LEAD };
        let start = floor(line, start);
        let end = floor(line, start + LINE_LIMIT);
        let shown = redaction::show(line, start..end, &self.named(id, number, line), hide);
        let lead = if start > 0 { "…" } else { "" };
        let text = format!("{lead}{}{}", shown.text, if end < line.len() { "…" } else { "" });
        Line { text, lead: lead.len(), shown }
    }

    fn named(&self, id: SourceId, number: u32, line: &str) -> Named {
        let mut known = self.named.borrow_mut();
        let found = known.entry((id, number)).or_insert_with(|| redaction::named_secrets(line).into());
        Rc::clone(found)
    }
}

/// A line for an excerpt.
struct Line {
    text: String,
    /// The length of the part that is left out at the beginning.
    lead: usize,
    shown: RedactedPart,
}

impl Line {
    fn at(&self, byte: usize) -> usize {
        self.lead + self.shown.at(byte)
    }
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
        let location = Locator::new(&sources).locate(span("yes", "yes"), &Redaction::default());
        assert_eq!((location.line, location.column, location.end_column), (3, 6, 9));
        let excerpt = location.excerpt;
        assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "yes");
        let location = Locator::new(&sources).locate(span("spec", "no"), &Redaction::default());
        let excerpt = location.excerpt;
        assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "spec:\n  x: yes\n  y: no");
        let long = format!("k: {}", "ü".repeat(300));
        let source = sources.add("g.yaml", long.clone());
        let whole = Span { source, start: 0, end: u32::try_from(long.len()).unwrap() };
        assert!(Locator::new(&sources).locate(whole, &Redaction::default()).excerpt.text.len() < 300);
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let mut sources = Sources::default();
        let text =
            format!("{{{}\"ü\":1,\"token\":\"s3cret\",\"here\":2,{}}}", "\"a\":1,".repeat(99), "\"b\":1,".repeat(99));
        let source = sources.add("one.json", text.clone());
        let start = u32::try_from(text.find("here").unwrap()).unwrap();
        let location = Locator::new(&sources).locate(Span { source, start, end: start + 4 }, &Redaction::default());
        let excerpt = &location.excerpt;
        assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "here");
        assert!(excerpt.text.starts_with('…') && excerpt.text.ends_with('…') && !excerpt.text.contains("s3cret"));
        assert_eq!(location.column as usize, text[..start as usize].chars().count() + 1);
    }

    /// Searching the whole line for each location would take a minute.
    #[test]
    fn places_in_a_long_line_are_found_quickly() {
        let mut sources = Sources::default();
        let text = "{\"description\":\"of a field\"},".repeat(40_000);
        let source = sources.add("one.json", text.clone());
        let locator = Locator::new(&sources);
        let started = std::time::Instant::now();
        for start in (0..u32::try_from(text.len()).unwrap()).step_by(text.len() / 2_000) {
            let place = locator.locate(Span { source, start, end: start + 1 }, &Redaction::default());
            assert_eq!(place.column, start + 1);
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
    }
}
