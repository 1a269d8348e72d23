//! A fast JSON parser. Leaves other texts to the YAML parser, which also reports errors.

use std::collections::HashSet;

use super::source::offset;
use super::{Entry, Kind, Node, SourceId, Span, scalar};

/// Up to this size, keys are compared one by one.
const MAX_LINEAR_KEYS: usize = 12;

/// Reads a text that is one JSON object. `None` if the YAML parser must decide: wrong syntax, a duplicate key,
/// collections deeper than the limit.
pub(super) fn read(text: &str, source: SourceId, depth: usize) -> Option<Node> {
    let mut reader = Reader { text, at: 0, source };
    reader.skip_space();
    if reader.peek()? != b'{' {
        return None;
    }
    let node = reader.value(depth)?;
    reader.skip_space();
    (reader.at == text.len()).then_some(node)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    source: SourceId,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Takes this byte, if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn span(&self, start: usize) -> Span {
        Span { source: self.source, start: offset(start), end: offset(self.at) }
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        self.skip_space();
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => Kind::Map(self.map(depth.checked_sub(1)?)?),
            b'[' => Kind::List(self.list(depth.checked_sub(1)?)?),
            b'"' => Kind::String(self.string()?),
            _ => self.plain()?,
        };
        Some(Node { span: self.span(start), kind })
    }

    fn map(&mut self, depth: usize) -> Option<Vec<Entry>> {
        self.at += 1;
        let mut entries = Vec::new();
        if self.take(b'}') {
            return Some(entries);
        }
        loop {
            self.skip_space();
            let start = self.at;
            let key = self.string()?;
            let key_span = self.span(start);
            if !self.take(b':') {
                return None;
            }
            entries.push(Entry { key, key_span, value: self.value(depth)? });
            if self.take(b'}') {
                return are_unique(&entries).then_some(entries);
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Vec<Node>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Some(items);
        }
        loop {
            items.push(self.value(depth)?);
            if self.take(b']') {
                return Some(items);
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.at;
        self.at += 1;
        let mut is_escaped = false;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    self.at += 2;
                }
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        if is_escaped {
            return serde_json::from_str(self.text.get(start..self.at)?).ok();
        }
        Some(self.text.get(start + 1..self.at - 1)?.to_owned())
    }

    /// A number, a boolean or null, by the rules of the YAML parser.
    fn plain(&mut self) -> Option<Kind> {
        let start = self.at;
        while matches!(self.peek(), Some(b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E')) {
            self.at += 1;
        }
        match scalar::resolve(self.text.get(start..self.at)?) {
            Ok(kind @ (Kind::Number(_) | Kind::Bool(_) | Kind::Null)) if self.at > start => Some(kind),
            _ => None,
        }
    }
}

fn are_unique(entries: &[Entry]) -> bool {
    if entries.len() <= MAX_LINEAR_KEYS {
        let is_new = |(at, entry): (usize, &Entry)| entries[..at].iter().all(|other| other.key != entry.key);
        return entries.iter().enumerate().all(is_new);
    }
    let mut keys = HashSet::with_capacity(entries.len());
    entries.iter().all(|entry| keys.insert(entry.key.as_str()))
}
