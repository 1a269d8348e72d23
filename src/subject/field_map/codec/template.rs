//! A string in one version, its parts in the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::super::model::{Part, PartType};
use super::super::path::kind;
use super::{Said, Side, brief};
use crdproof_schema::structural::Pattern;

/// A string that consists of named parts.
#[derive(Debug)]
pub(in crate::subject::field_map) struct Template {
    /// The side that has the whole string.
    whole: Side,
    pieces: Vec<Piece>,
    types: BTreeMap<String, PartType>,
    /// Matches from the left, each part as long as possible, and as short as possible. If the results differ, the
    /// string is ambiguous.
    greedy: Pattern,
    lazy: Pattern,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Part(String),
}

/// A defect of a template.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::subject::field_map) enum Fault {
    /// The template itself.
    Template(String),
    /// The part of this name.
    Part(String, String),
    /// The pattern of the part of this name.
    Pattern(String, String),
}

impl Template {
    pub(in crate::subject::field_map) fn new(
        text: &str,
        whole: Side,
        parts: &BTreeMap<String, Part>,
    ) -> Result<Self, Fault> {
        let pieces = pieces(text).map_err(Fault::Template)?;
        let names: Vec<&String> = pieces.iter().filter_map(Piece::name).collect();
        if let Some(missing) = names.iter().find(|name| !parts.contains_key(**name)) {
            return Err(Fault::Template(format!("the template has a part {missing:?} that is not described")));
        }
        if let Some(unused) = parts.keys().find(|name| !names.contains(name)) {
            return Err(Fault::Part(unused.clone(), format!("the template has no part {unused:?}")));
        }
        for (name, part) in parts {
            if let Some(pattern) = &part.pattern {
                let fault = |why: &str| Fault::Pattern(name.clone(), format!("the pattern does not compile: {why}"));
                Pattern::new(pattern).regex().map_err(fault)?;
            }
        }
        unambiguous(&pieces, parts)?;
        let expression = expression(&pieces, parts);
        let greedy = Pattern::new(&format!("^{expression}$"));
        let lazy = Pattern::new(&format!("(?U)^{expression}$"));
        for pattern in [&greedy, &lazy] {
            pattern.regex().map_err(|why| Fault::Template(format!("the parts do not fit together: {why}")))?;
        }
        let types = parts.iter().map(|(name, part)| (name.clone(), part.ty)).collect();
        Ok(Self { whole, pieces, types, greedy, lazy })
    }

    pub(super) fn say(&self, from: Side, value: &Value) -> Said {
        if from == self.whole { self.split(value) } else { self.join(value) }
    }

    fn split(&self, value: &Value) -> Said {
        let Value::String(text) = value else {
            return Said::not_quite(None, format!("a text is expected, and there is {}", kind(value)));
        };
        let Some(read) = self.read(&self.greedy, text) else {
            return Said::not_quite(None, format!("{} does not have the form {}", brief(value), self.form()));
        };
        if self.read(&self.lazy, text).as_ref() != Some(&read) {
            return Said::not_quite(None, format!("{} can be split in more than one way", brief(value)));
        }
        match self.write(&read) {
            Ok(back) if back == *text => Said::exactly(Value::Object(read)),
            Ok(back) => Said::respelled(Some(Value::Object(read)), format!("{text:?} would come back as {back:?}")),
            Err(why) => Said::not_quite(None, why),
        }
    }

    fn join(&self, value: &Value) -> Said {
        let Value::Object(parts) = value else {
            return Said::not_quite(None, "these are not parts");
        };
        let text = match self.write(parts) {
            Ok(text) => text,
            Err(why) => return Said::not_quite(None, why),
        };
        let again = self.split(&Value::String(text.clone()));
        if again.gap.is_none() && again.value.as_ref() == Some(value) {
            return Said::exactly(Value::String(text));
        }
        Said::not_quite(None, format!("{text:?} would not be split into the same parts"))
    }

    fn read(&self, pattern: &Pattern, text: &str) -> Option<Map<String, Value>> {
        let captures = pattern.regex().ok()?.captures(text)?;
        let parts = self.types.iter().map(|(name, ty)| {
            let part = captures.name(name)?.as_str();
            Some((
                name.clone(),
                match ty {
                    PartType::String => Value::String(part.to_owned()),
                    PartType::Integer => part.parse::<i64>().ok()?.into(),
                    PartType::Boolean => part.parse::<bool>().ok()?.into(),
                },
            ))
        });
        parts.collect()
    }

    fn write(&self, parts: &Map<String, Value>) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Part(name) => {
                    let value = parts.get(name).ok_or_else(|| format!("the part {name} is missing"))?;
                    match (self.types.get(name), value) {
                        (Some(PartType::String), Value::String(part)) => text.push_str(part),
                        (Some(PartType::Integer), Value::Number(_)) | (Some(PartType::Boolean), Value::Bool(_)) => {
                            let _ = write!(text, "{value}");
                        }
                        _ => return Err(format!("the part {name} is {}", kind(value))),
                    }
                }
            }
        }
        Ok(text)
    }

    fn form(&self) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => text.replace('{', "{{").replace('}', "}}"),
            Piece::Part(name) => format!("{{{name}}}"),
        });
        pieces.collect()
    }
}

impl Piece {
    fn name(&self) -> Option<&String> {
        match self {
            Self::Part(name) => Some(name),
            Self::Literal(_) => None,
        }
    }
}

/// Reads a template; `{{` and `}}` are braces.
fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut literal = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.next_if_eq(&c).is_some() => literal.push(c),
            '{' => {
                let mut name = String::new();
                let mut closed = false;
                for c in chars.by_ref() {
                    if c == '}' {
                        closed = true;
                        break;
                    }
                    name.push(c);
                }
                let valid = closed
                    && name.starts_with(|c: char| c.is_ascii_alphabetic())
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if !valid {
                    return Err(format!("{{{name} names no part; a part is {{, letters and digits, }}"));
                }
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                if pieces.iter().any(|piece| piece.name() == Some(&name)) {
                    return Err(format!("the part {name:?} stands twice in the template"));
                }
                pieces.push(Piece::Part(name));
            }
            '}' => return Err("a brace closes nothing; write }} for a brace".to_owned()),
            c => literal.push(c),
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    if pieces.iter().all(|piece| piece.name().is_none()) {
        return Err("the template has no part".to_owned());
    }
    Ok(pieces)
}

/// Checks that two parts have a separator between them, which one of them cannot contain.
fn unambiguous(pieces: &[Piece], parts: &BTreeMap<String, Part>) -> Result<(), Fault> {
    for pair in pieces.windows(2) {
        if let [Piece::Part(left), Piece::Part(right)] = pair {
            return Err(Fault::Template(format!("nothing separates the parts {left} and {right}")));
        }
    }
    for three in pieces.windows(3) {
        if let [Piece::Part(left), Piece::Literal(between), Piece::Part(right)] = three
            && holds(left, pieces, parts, between)
            && holds(right, pieces, parts, between)
        {
            let why =
                format!("{left} and {right} can both hold {between:?}, so a text can be split in more than one way");
            return Err(Fault::Template(why));
        }
    }
    Ok(())
}

/// Returns true if a part can contain this text, as far as a few trials show. Splitting a string finds the other cases.
fn holds(name: &str, pieces: &[Piece], parts: &BTreeMap<String, Part>, text: &str) -> bool {
    let pattern = Pattern::new(&format!("^(?:{})$", pattern(name, pieces, parts)));
    let conversion_runs = ["", "a", "1", "-", "a.b", "::"];
    conversion_runs.iter().any(|around| pattern.matches(&format!("{around}{text}{around}")))
}

fn pattern(name: &str, pieces: &[Piece], parts: &BTreeMap<String, Part>) -> String {
    match parts.get(name) {
        Some(Part { pattern: Some(pattern), .. }) => pattern.clone(),
        Some(Part { ty: PartType::Integer, .. }) => "-?[0-9]+".to_owned(),
        Some(Part { ty: PartType::Boolean, .. }) => "true|false".to_owned(),
        Some(Part { ty: PartType::String, .. }) | None => {
            let at = pieces.iter().position(|piece| piece.name().is_some_and(|own| own == name));
            match at.and_then(|at| pieces.get(at + 1)) {
                // A part ends where the next separator begins.
                Some(Piece::Literal(next)) => next
                    .chars()
                    .next()
                    .map_or_else(|| "(?s:.+)".to_owned(), |c| format!("[^\\x{{{:x}}}]+", u32::from(c))),
                Some(Piece::Part(_)) | None => "(?s:.+)".to_owned(),
            }
        }
    }
}

fn expression(pieces: &[Piece], parts: &BTreeMap<String, Part>) -> String {
    let pieces = pieces.iter().map(|piece| match piece {
        Piece::Literal(text) => regex::escape(text),
        Piece::Part(name) => format!("(?P<{name}>{})", pattern(name, pieces, parts)),
    });
    pieces.collect()
}
