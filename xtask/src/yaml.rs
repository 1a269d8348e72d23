//! Reads YAML as JSON values, and refuses what YAML 1.1 and YAML 1.2 read differently.
//!
//! Kubernetes reads YAML 1.1, most other tools read YAML 1.2. A test case must mean the same to both.

use std::sync::LazyLock;

use anyhow::{Context as _, anyhow, bail};
use granit_parser::{Event, Parser, ScalarStyle, Span};
use regex::Regex;
use serde_json::{Map, Number, Value};

/// Parses a file with one document. Anchors, aliases and tags are not supported.
pub(crate) fn parse(text: &str) -> anyhow::Result<Value> {
    let mut reader = Reader { events: Parser::new_from_str(text) };
    let mut document = None;
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentEnd, _) => {}
            (Event::DocumentStart(..), span) if document.is_some() => bail!("line {}: second document", line(span)),
            (Event::DocumentStart(..), _) => {
                let (event, span) = reader.next()?;
                document = Some(reader.node(event, span)?);
            }
            (Event::StreamEnd, _) => return document.context("the file is empty"),
            (event, span) => bail!("line {}: unexpected {event:?}", line(span)),
        }
    }
}

fn line(span: Span) -> usize {
    span.start.line()
}

struct Reader<E> {
    events: E,
}

impl<'a, E, F> Reader<E>
where
    E: Iterator<Item = Result<(Event<'a>, Span), F>>,
    F: std::error::Error + Send + Sync + 'static,
{
    fn next(&mut self) -> anyhow::Result<(Event<'a>, Span)> {
        Ok(self.events.next().context("the file ends too early")??)
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> anyhow::Result<Value> {
        match event {
            Event::Scalar(text, style, 0, None) => scalar(&text, style, span),
            Event::SequenceStart(_, 0, None) => self.sequence(),
            Event::MappingStart(_, 0, None) => self.mapping(),
            _ => bail!("line {}: anchors, aliases and tags are not supported", line(span)),
        }
    }

    fn sequence(&mut self) -> anyhow::Result<Value> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::Array(items)),
                (event, span) => items.push(self.node(event, span)?),
            }
        }
    }

    fn mapping(&mut self) -> anyhow::Result<Value> {
        let mut entries = Map::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Value::Object(entries));
            }
            let Value::String(key) = self.node(event, span)? else {
                bail!("line {}: the key is not a string; quote it", line(span));
            };
            let (event, value_span) = self.next()?;
            let value = self.node(event, value_span)?;
            if entries.insert(key.clone(), value).is_some() {
                bail!("line {}: duplicate key {key:?}", line(span));
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Null,
    Bool,
    Int,
    Float,
    String,
    /// A type that only YAML 1.1 has: timestamps, merge keys and default values.
    OnlyInYaml11,
}

/// Patterns of plain scalars, each with its kind. What matches none is a string.
struct Schema(Vec<(Kind, Regex)>);

impl Schema {
    fn new(patterns: &[(Kind, &str)]) -> Self {
        let compile = |(kind, pattern): &(Kind, &str)| {
            (*kind, Regex::new(&format!("^(?:{pattern})$")).expect("the pattern is valid"))
        };
        Self(patterns.iter().map(compile).collect())
    }

    fn kind(&self, text: &str) -> Kind {
        self.0.iter().find(|(_, pattern)| pattern.is_match(text)).map_or(Kind::String, |(kind, _)| *kind)
    }
}

static YAML_11: LazyLock<Schema> = LazyLock::new(|| {
    Schema::new(&[
        (Kind::Null, "|~|null|Null|NULL"),
        (Kind::Bool, "[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE"),
        (Kind::Int, "[-+]?(?:0b[01_]+|0[0-7_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])*)"),
        (Kind::Float, r"(?:[-+]?[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?"),
        (Kind::Float, r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*"),
        (Kind::Float, r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"),
        (Kind::OnlyInYaml11, "<<|="),
        (
            Kind::OnlyInYaml11,
            r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)?",
        ),
    ])
});

static YAML_12: LazyLock<Schema> = LazyLock::new(|| {
    Schema::new(&[
        (Kind::Null, "|~|null|Null|NULL"),
        (Kind::Bool, "true|True|TRUE|false|False|FALSE"),
        (Kind::Int, "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"),
        (Kind::Float, r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"),
        (Kind::Float, r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"),
    ])
});

fn scalar(text: &str, style: ScalarStyle, span: Span) -> anyhow::Result<Value> {
    if style != ScalarStyle::Plain {
        return Ok(Value::String(text.to_owned()));
    }
    let kind = YAML_12.kind(text);
    // 017 is an integer in both, but 15 in one and 17 in the other.
    let digits = text.trim_start_matches(['-', '+']);
    let octal = kind == Kind::Int && digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0x");
    if octal || kind != YAML_11.kind(text) {
        bail!("line {}: YAML 1.1 and YAML 1.2 read {text:?} differently; quote it", line(span));
    }
    let number = match kind {
        Kind::Null => return Ok(Value::Null),
        Kind::Bool => return Ok(Value::Bool(text.eq_ignore_ascii_case("true"))),
        Kind::String | Kind::OnlyInYaml11 => return Ok(Value::String(text.to_owned())),
        Kind::Int => int(text),
        Kind::Float => text.parse().ok().and_then(Number::from_f64),
    };
    number.map(Value::Number).ok_or_else(|| anyhow!("line {}: JSON has no number {text}", line(span)))
}

/// Reads an integer. One that needs more than 64 bits becomes the nearest float, as in an API server.
fn int(text: &str) -> Option<Number> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    text.parse::<u64>().map_or_else(|_| text.parse().ok().and_then(Number::from_f64), |number| Some(number.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_scalars_have_their_types() {
        let text = "{e: , t: true, i: -3, h: 0x1F, big: 9223372036854775808, f: 1.0e+2, z: -0.0, s: a b, q: \"1\"}";
        let expected = json!({"e": null, "t": true, "i": -3, "h": 31, "big": 9_223_372_036_854_775_808_u64, "f": 100.0,
            "z": -0.0, "s": "a b", "q": "1"});
        assert_eq!(parse(text).unwrap(), expected);
        assert_eq!(parse("1.0").unwrap().to_string(), "1.0");
        assert_eq!(parse("-0.0").unwrap().to_string(), "-0.0");
    }

    #[test]
    fn ambiguous_scalars_are_refused_with_their_line() {
        for text in ["yes", "Off", "n", "017", "-08", "1_000", "1e3", "0o17", "-.5", "12:30", "2026-11-17", "=", "-0x1"]
        {
            let error = parse(&format!("ok: 1\nvalue: {text}\n")).unwrap_err().to_string();
            assert!(error.starts_with("line 2: YAML 1.1 and YAML 1.2 read"), "{text}: {error}");
            assert_eq!(parse(&format!("'{text}'")).unwrap(), json!(text));
        }
        assert!(parse("yes: 1").is_err());
    }

    #[test]
    fn structures_that_json_does_not_have_are_refused() {
        for text in ["[&a 1, *a]", "!!str 1", "{a: 1, a: 2}", "{1: 2}", ".inf", "a: 1\n---\nb: 2", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
