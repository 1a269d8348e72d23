//! Turns parser events into node trees: documents, anchors, merge keys, duplicate keys.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use granit_parser::{Event, Parser, ScalarStyle, Tag};

use super::source::offset;
use super::{Entry, Kind, Node, Source, SourceId, Sources, Span, json, scalar};

/// An error in a text that is not a YAML or JSON document.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// The location of the error.
    pub span: Span,
    /// The problem.
    pub message: String,
}

/// Maximum number of bytes that anchors and aliases may add to a source, so that a few lines cannot become gigabytes.
const ALIAS_BUDGET: usize = 32 << 20;
/// Maximum nesting of collections, including those of aliases. Code that walks a document recurses, and a few lines of
/// aliases could otherwise exhaust any stack.
const DEPTH_LIMIT: usize = 255;
const TOO_DEEP: &str = "collections nest deeper than 255 levels here";

/// Parses every document of a source. Skips empty documents.
///
/// ```
/// use crdproof_schema::document::{Sources, parse};
/// let mut sources = Sources::default();
/// let id = sources.add("a.yaml", "mode: 0777\n---\non: yes\n");
/// let documents = parse(&sources, id).unwrap();
/// assert_eq!(documents[0].to_value(), serde_json::json!({"mode": 511}));
/// assert_eq!(documents[1].to_value(), serde_json::json!({"true": true}));
/// ```
pub fn parse(sources: &Sources, id: SourceId) -> Result<Vec<Node>, ParseError> {
    let source = sources.get(id);
    if u32::try_from(source.text.len()).is_err() {
        return Err(error(Span::start_of(id), "the text is larger than 4 GiB"));
    }
    if let Some(document) = json::read(&source.text, id, DEPTH_LIMIT) {
        return Ok(vec![document]);
    }
    let mut builder = Builder::new(id, source);
    builder.read()?;
    Ok(builder.documents)
}

impl<'a> Builder<'a> {
    fn new(id: SourceId, source: &'a Source) -> Self {
        let (anchors, stack, documents) = (HashMap::new(), Vec::new(), Vec::new());
        Self { id, source, anchors, budget: ALIAS_BUDGET, stack, documents }
    }

    fn read(&mut self) -> Result<(), ParseError> {
        for event in Parser::new_from_str(&self.source.text) {
            match event {
                Ok((event, span)) => self.take(event, span)?,
                Err(fault) => {
                    let at = offset(fault.marker().byte_offset().unwrap_or(0));
                    return Err(error(Span { source: self.id, start: at, end: at }, &fault.kind().to_string()));
                }
            }
        }
        Ok(())
    }
}

struct Builder<'a> {
    id: SourceId,
    source: &'a Source,
    anchors: HashMap<usize, Node>,
    budget: usize,
    stack: Vec<Open>,
    documents: Vec<Node>,
}

/// A collection whose end was not read yet.
struct Open {
    anchor: usize,
    span: Span,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<Node>, merged: Vec<Node> },
}

impl Builder<'_> {
    fn span(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        Span { source: self.id, start: offset(range.start), end: offset(range.end) }
    }

    fn take(&mut self, event: Event<'_>, span: granit_parser::Span) -> Result<(), ParseError> {
        let span = self.span(span);
        match event {
            Event::DocumentStart(..) => self.anchors.clear(),
            Event::Scalar(text, style, anchor, tag) => {
                let node = scalar_node(&text, style, tag.as_deref(), span)?;
                self.anchor(anchor, &node)?;
                self.push(node)?;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if self.stack.len() >= DEPTH_LIMIT => {
                return Err(error(span, TOO_DEEP));
            }
            Event::SequenceStart(_, anchor, _) => {
                self.stack.push(Open { anchor, span, kind: OpenKind::List(Vec::new()) });
            }
            Event::MappingStart(_, anchor, _) => {
                let kind = OpenKind::Map { entries: Vec::new(), key: None, merged: Vec::new() };
                self.stack.push(Open { anchor, span, kind });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.stack.pop() {
                    let anchor = open.anchor;
                    let node = self.close(open, span)?;
                    self.anchor(anchor, &node)?;
                    self.push(node)?;
                }
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    return Err(error(span, "an alias may not stand inside its own anchor"));
                };
                if self.stack.len() + depth(node) > DEPTH_LIMIT {
                    return Err(error(span, TOO_DEEP));
                }
                self.budget = charge(self.budget, node, span)?;
                let node = node.clone();
                self.push(node)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn anchor(&mut self, anchor: usize, node: &Node) -> Result<(), ParseError> {
        if anchor > 0 {
            self.budget = charge(self.budget, node, node.span)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(())
    }

    fn push(&mut self, node: Node) -> Result<(), ParseError> {
        let Some(open) = self.stack.last_mut() else {
            if !node.is_null() {
                self.documents.push(node);
            }
            return Ok(());
        };
        match &mut open.kind {
            OpenKind::List(items) => items.push(node),
            OpenKind::Map { entries, key, merged } => match key.take() {
                None => *key = Some(node),
                Some(key) => {
                    let plain_merge =
                        self.source.text.get(key.span.start as usize..key.span.end as usize) == Some("<<");
                    if plain_merge {
                        merged.push(node);
                        return Ok(());
                    }
                    let key_span = key.span;
                    let Some(key) = key_text(key) else {
                        return Err(error(key_span, "a key must be a string, a number or a boolean"));
                    };
                    entries.push(Entry { key, key_span, value: node });
                }
            },
        }
        Ok(())
    }

    fn close(&self, open: Open, end: Span) -> Result<Node, ParseError> {
        let Open { span, kind, .. } = open;
        let (kind, last) = match kind {
            OpenKind::List(items) => {
                let last = items.last().map(|node| node.span);
                (Kind::List(items), last)
            }
            OpenKind::Map { entries, merged, .. } => {
                self.refuse_duplicates(&entries)?;
                let last = entries.last().map(|entry| entry.value.span);
                (Kind::Map(merge(entries, merged)?), last)
            }
        };
        // A block collection ends with its last child; the parser's end mark is at the next token.
        let flow = matches!(self.source.text.as_bytes().get(span.start as usize), Some(b'{' | b'['));
        let span = if flow { span.to(end) } else { last.map_or(span, |last| span.to(last)) };
        Ok(Node { span, kind })
    }

    fn refuse_duplicates(&self, entries: &[Entry]) -> Result<(), ParseError> {
        let mut seen: HashMap<&str, Span> = HashMap::with_capacity(entries.len());
        for entry in entries {
            if let Some(first) = seen.insert(&entry.key, entry.key_span) {
                let line = self.source.line_of(first.start);
                let message = format!("duplicate key {:?}; the first one is on line {line}", entry.key);
                return Err(error(entry.key_span, &message));
            }
        }
        Ok(())
    }
}

fn scalar_node(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Node, ParseError> {
    let kind = match tag.map(Tag::suffix) {
        Some("str") => Kind::String(text.to_owned()),
        Some("binary") => {
            let compact: String = text.split_whitespace().collect();
            let bytes = base64::engine::general_purpose::STANDARD.decode(compact);
            let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
            Kind::String(text.ok_or_else(|| error(span, "!!binary does not hold text in base64"))?)
        }
        None if style != ScalarStyle::Plain => Kind::String(text.to_owned()),
        _ => scalar::resolve(text).map_err(|why| error(span, why))?,
    };
    Ok(Node { span, kind })
}

/// Applies `<<`: own keys of the map take precedence over merged ones, earlier merges over later ones.
fn merge(mut entries: Vec<Entry>, merged: Vec<Node>) -> Result<Vec<Entry>, ParseError> {
    if merged.is_empty() {
        return Ok(entries);
    }
    let mut keys: HashSet<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    for node in merged {
        let span = node.span;
        let maps = match node.kind {
            Kind::Map(_) => vec![node],
            Kind::List(items) => items,
            _ => return Err(error(span, "`<<` merges a map or a list of maps")),
        };
        for map in maps {
            let Kind::Map(inherited) = map.kind else {
                return Err(error(map.span, "`<<` merges a map or a list of maps"));
            };
            for entry in inherited {
                if keys.insert(entry.key.clone()) {
                    entries.push(entry);
                }
            }
        }
    }
    Ok(entries)
}

fn key_text(key: Node) -> Option<String> {
    match key.kind {
        Kind::String(text) => Some(text),
        Kind::Bool(value) => Some(value.to_string()),
        Kind::Number(number) => Some(number.to_string()),
        Kind::Null | Kind::List(_) | Kind::Map(_) => None,
    }
}

fn error(span: Span, message: &str) -> ParseError {
    ParseError { span, message: message.to_owned() }
}

fn depth(node: &Node) -> usize {
    let below = match &node.kind {
        Kind::List(items) => items.iter().map(depth).max(),
        Kind::Map(entries) => entries.iter().map(|entry| depth(&entry.value)).max(),
        _ => return 0,
    };
    1 + below.unwrap_or(0)
}

/// Subtracts the memory of a copy of a node from a budget.
fn charge(budget: usize, node: &Node, span: Span) -> Result<usize, ParseError> {
    let left = budget.checked_sub(bytes(node));
    left.ok_or_else(|| error(span, "anchors and aliases expand this document by more than 32 MiB"))
}

/// Returns the approximate memory of a copy of a node.
fn bytes(node: &Node) -> usize {
    size_of::<Node>()
        + match &node.kind {
            Kind::List(items) => items.iter().map(bytes).sum(),
            Kind::Map(entries) => {
                entries.iter().map(|entry| size_of::<Entry>() + entry.key.len() + bytes(&entry.value)).sum()
            }
            Kind::String(text) => text.len(),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) => 0,
        }
}

#[cfg(test)]
mod tests;
