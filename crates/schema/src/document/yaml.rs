//! Parser events into node trees: documents, anchors, merge keys, duplicate keys.

use std::collections::HashMap;

use base64::Engine as _;
use granit_parser::{Event, Parser, ScalarStyle, Tag};

use super::source::offset;
use super::{Entry, Kind, Node, Source, SourceId, Sources, Span, json, scalar};

/// Text that is not a YAML or JSON document.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Where reading stopped.
    pub span: Span,
    /// What is wrong there.
    pub message: String,
}

/// Nodes that aliases may add to a document, so that a few lines cannot grow into gigabytes.
const ALIAS_BUDGET: usize = 1_000_000;
/// How deep collections may nest, those that aliases bring included. Whatever walks a document
/// recurses, and a few lines of aliases could otherwise exhaust any stack.
const DEPTH_LIMIT: usize = 255;
const TOO_DEEP: &str = "collections nest deeper than 255 levels here";

/// Parses every document of a source. Empty documents are left out.
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

/// A collection whose end has not been seen yet.
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
                self.anchor(anchor, &node);
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
                    self.anchor(anchor, &node);
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
                let size = count(node);
                let node = node.clone();
                self.budget = match self.budget.checked_sub(size) {
                    Some(left) => left,
                    None => {
                        return Err(error(span, "aliases expand this document beyond all bounds"));
                    }
                };
                self.push(node)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn anchor(&mut self, anchor: usize, node: &Node) {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
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
        // A block collection ends with its last child; the parser's end mark lies on the next token.
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

/// Applies `<<`: what the map states itself wins over what it merges, earlier merges over later.
fn merge(mut entries: Vec<Entry>, merged: Vec<Node>) -> Result<Vec<Entry>, ParseError> {
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
                if !entries.iter().any(|own| own.key == entry.key) {
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

fn count(node: &Node) -> usize {
    1 + match &node.kind {
        Kind::List(items) => items.iter().map(count).sum(),
        Kind::Map(entries) => entries.iter().map(|entry| count(&entry.value)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Result<Vec<Value>, String> {
        let mut sources = Sources::default();
        let id = sources.add("test.yaml", text);
        let documents = parse(&sources, id).map_err(|error| format!("{}: {error}", sources.place(error.span)))?;
        Ok(documents.iter().map(Node::to_value).collect())
    }

    #[rstest]
    #[case("a: [1, {b: c}]\n", json!([{"a": [1, {"b": "c"}]}]))]
    #[case("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n", json!([{"a": 1}, {"b": 2}]))]
    #[case("a: &x {p: 1}\nb: *x\nc: {<<: *x, q: 2}\nd: {p: 3, <<: *x}\n",
           json!([{"a": {"p": 1}, "b": {"p": 1}, "c": {"p": 1, "q": 2}, "d": {"p": 3}}]))]
    #[case("\"<<\": 1\n", json!([{"<<": 1}]))]
    #[case("a: \"yes\"\nb: 'no'\nc: |\n  on\n", json!([{"a": "yes", "b": "no", "c": "on\n"}]))]
    #[case("1: a\ntrue: b\n", json!([{"1": "a", "true": "b"}]))]
    #[case("a: !!str 1\nb: !!binary aGk=\n", json!([{"a": "1", "b": "hi"}]))]
    #[case("{\"a\": \"\\u00e9\\ud83d\\ude00\\/\", \"b\":\t[1e2, -0, null]}", json!([{"a": "é😀/", "b": [100, 0, null]}]))]
    #[case("a:\r\n  - b\r\n  - c\r\n", json!([{"a": ["b", "c"]}]))]
    fn reads(#[case] text: &str, #[case] expected: Value) {
        assert_eq!(Value::Array(read(text).unwrap()), expected);
    }

    #[rstest]
    #[case("a: 1\nb: 2\na: 3\n", "test.yaml:3:1: duplicate key \"a\"; the first one is on line 1")]
    #[case("a: .inf\n", "test.yaml:1:4: JSON has no number for infinity or not-a-number")]
    #[case("? [a]\n: b\n", "test.yaml:1:3: a key must be a string, a number or a boolean")]
    fn refuses_with_the_place(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(text).unwrap_err(), expected);
    }

    #[rstest]
    #[case::nested(r#"{"a": {"b": [1, -2.5, 1e2, true, false, null, "x", {}, []]}, "c": ""}"#)]
    #[case::spaces("\n { \"a\"\t:\r\n [ 1 , 2 ] , \"é\" : { } }\n\n")]
    #[case::escapes(r#"{"a": "q\"\\\/\n\u00e9\ud83d\ude00", "k\"ey": "{\"x\": [1]}", "<<": {"a": 1}}"#)]
    #[case::many_keys(r#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1}"#)]
    fn both_readers_agree_on_json(#[case] text: &str) {
        let mut sources = Sources::default();
        let id = sources.add("a.json", text);
        let by_json = json::read(text, id, DEPTH_LIMIT).unwrap();
        let mut builder = Builder::new(id, sources.get(id));
        builder.read().unwrap();
        assert_eq!(builder.documents, [by_json]);
    }

    #[rstest]
    #[case::twice(r#"{"a": 1, "a": 2}"#)]
    #[case::plain_key("{a: 1}")]
    #[case::plain_value(r#"{"a": b}"#)]
    #[case::trailing(r#"{"a": 1,}"#)]
    #[case::two_documents("{\"a\": 1}\n---\nb: 1\n")]
    #[case::open(r#"{"a": "b"#)]
    #[case::end_in_escape("{\"a\\")]
    #[case::break_in_text("{\"a\": \"b\nc\"}")]
    #[case::list("[1]")]
    fn what_is_not_plain_json_is_left_to_the_yaml_reader(#[case] text: &str) {
        let mut sources = Sources::default();
        let id = sources.add("a.json", text);
        assert!(json::read(text, id, DEPTH_LIMIT).is_none());
        let deep = format!("{}{}", "{\"a\":".repeat(300), "}".repeat(300));
        assert!(json::read(&deep, id, DEPTH_LIMIT).is_none());
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            text.push_str(&format!("a{level}: &a{level} [{}]\n", below.trim_end_matches(", ")));
        }
        assert!(read(&text).unwrap_err().contains("beyond all bounds"));
    }

    #[test]
    fn depth_that_aliases_bring_is_bounded() {
        let mut text = "a0: &a0 x\n".to_owned();
        for level in 1..90 {
            let (open, close) = ("[".repeat(250), "]".repeat(250));
            text.push_str(&format!("a{level}: &a{level} {open}*a{}{close}\n", level - 1));
        }
        assert_eq!(read(&text).unwrap_err(), "test.yaml:3:259: collections nest deeper than 255 levels here");
    }

    #[test]
    fn spans_cover_what_was_written() {
        let mut sources = Sources::default();
        let text = "spec:\n  names: {kind: A}\n  list:\n  - one\n  - two\nnext: 1\n";
        let id = sources.add("test.yaml", text);
        let document = &parse(&sources, id).unwrap()[0];
        let slice = |keys: &[&str]| sources.slice(document.at(keys).unwrap().span);
        assert_eq!(slice(&["spec", "names"]), "{kind: A}");
        assert_eq!(slice(&["spec", "list"]), "one\n  - two");
        assert_eq!(slice(&["next"]), "1");
        assert_eq!(sources.slice(document.entry("spec").unwrap().key_span), "spec");
    }
}
