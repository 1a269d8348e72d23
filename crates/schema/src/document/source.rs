//! Source texts and locations in them.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Identifies one text in the [`Sources`] of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

/// A byte range of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The source.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// One text and its name: a path, `-`, a command line or `git:REF:PATH`.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name of the text in messages and reports.
    pub name: String,
    /// The text itself.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
    /// The number of characters before each block, to find a column in a long line quickly.
    blocks: Vec<u32>,
}

/// The number of bytes in a block.
const BLOCK: usize = 1024;

/// A location for people: file, line and column, both counted from one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The file, as it is named on the command line or in the subject file.
    pub file: String,
    /// Line, counted from one.
    pub line: u32,
    /// Column in characters, counted from one.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Source {
    fn new(name: String, text: Arc<str>) -> Self {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| offset(at + 1))).collect();
        let counts = text.as_bytes().chunks(BLOCK).scan(0, |sum, block| {
            let before = *sum;
            *sum += starts(block);
            Some(before)
        });
        let blocks = counts.collect();
        Self { name, text, line_starts, blocks }
    }

    /// The number of characters that begin before a byte.
    fn characters_before(&self, byte: usize) -> u32 {
        let byte = byte.min(self.text.len());
        let block = (byte / BLOCK).min(self.blocks.len().saturating_sub(1));
        let before = self.blocks.get(block).copied().unwrap_or_default();
        before + starts(&self.text.as_bytes()[(block * BLOCK).min(byte)..byte])
    }

    /// The line (from one) that contains the byte.
    pub fn line_of(&self, byte: u32) -> u32 {
        offset(self.line_starts.partition_point(|start| *start <= byte))
    }

    /// Byte range of a line (from one), without its line break.
    pub fn line_range(&self, line: u32) -> std::ops::Range<usize> {
        let at = |line: u32| self.line_starts.get(line as usize).map(|start| *start as usize);
        let start = at(line.saturating_sub(1)).unwrap_or(self.text.len());
        let end = at(line).map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }

    /// The text of a line (from one), without its line break.
    pub fn line(&self, line: u32) -> &str {
        self.text.get(self.line_range(line)).unwrap_or_default().trim_end_matches('\r')
    }

    /// The location of a byte.
    pub fn place(&self, byte: u32) -> Place {
        let line = self.line_of(byte);
        let start = self.line_range(line).start;
        let column = self.characters_before((byte as usize).max(start)) - self.characters_before(start) + 1;
        Place { file: self.name.clone(), line, column }
    }
}

/// All texts of a run. Spans refer to them.
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a text and returns its id. Truncates texts over 4 GiB, which a span cannot address.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        let id = SourceId(offset(self.0.len()));
        self.0.push(Source::new(name.into(), text.into()));
        id
    }

    /// The text of an id. Ids must come from [`Sources::add`] of the same value.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.0[id.0 as usize]
    }

    /// Returns the location of a span's start.
    pub fn place(&self, span: Span) -> Place {
        self.get(span.source).place(span.start)
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        let text = &self.get(span.source).text;
        text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

impl Span {
    /// An empty span at the start of a source.
    pub fn start_of(source: SourceId) -> Self {
        Self { source, start: 0, end: 0 }
    }

    /// The span from the start of this one to the end of the other.
    pub fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.end), ..self }
    }
}

/// The number of characters that begin in some bytes of UTF-8.
fn starts(bytes: &[u8]) -> u32 {
    offset(bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count())
}

/// Byte offsets and counts fit in 32 bits because sources are limited to that size on reading.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_count_lines_and_characters_from_one() {
        let mut sources = Sources::default();
        let id = sources.add("a.yaml", "a: 1\nü: é!\n");
        let bang = offset("a: 1\nü: é".len());
        let place = sources.get(id).place(bang);
        assert_eq!(place.to_string(), "a.yaml:2:5");
        assert_eq!(sources.get(id).line(2), "ü: é!");
        assert_eq!(sources.get(id).place(999).line, 3);
        let long = format!("a\n{}!", "ü".repeat(3000));
        let id = sources.add("b.yaml", long.clone());
        assert_eq!(sources.get(id).place(offset(long.len() - 1)).to_string(), "b.yaml:2:3001");
    }
}
