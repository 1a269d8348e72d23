//! Errors in inputs.

use std::fmt;

use crdproof_schema::document::{DecodeError, ParseError, Place, Sources, Span};

/// The kind of an input error; the command line turns it into an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The input is wrong: a flag, a file, a key.
    Wrong,
    /// There is nothing to test.
    Nothing,
    /// The machine cannot provide the input: no such command, a command that fails.
    Environment,
}

/// An input that cannot be used.
#[derive(Debug, Clone)]
pub struct InputError {
    /// The kind of error.
    pub trouble: Trouble,
    /// The location, if it is known.
    pub place: Option<Place>,
    /// The line at that location.
    pub line: Option<String>,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl InputError {
    /// An error without a location.
    pub fn new(trouble: Trouble, message: impl Into<String>) -> Self {
        Self { trouble, place: None, line: None, message: message.into(), help: None }
    }

    /// An error at a location in a text.
    pub fn at(sources: &Sources, span: Span, message: impl Into<String>) -> Self {
        let place = sources.place(span);
        let line = sources.get(span.source).line(place.line).to_owned();
        Self { place: Some(place), line: Some(line), ..Self::new(Trouble::Wrong, message) }
    }

    /// Adds a remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn parse(sources: &Sources, error: &ParseError) -> Self {
        Self::at(sources, error.span, &error.message).help("check the indentation and the quotes around this place")
    }

    pub(super) fn decode(sources: &Sources, document: Span, error: DecodeError) -> Self {
        let wrong = Self::at(sources, error.span.unwrap_or(document), error.message);
        Self { help: error.help, ..wrong }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}
