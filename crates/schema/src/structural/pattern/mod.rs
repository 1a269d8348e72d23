//! `pattern` with the meaning of the API server, which is Go's: patterns that Go's `regexp` refuses do not compile
//! here, and others match the same strings.

mod class;
mod machine;
mod parse;
mod syntax;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::Hir;

use machine::Machine;

/// A pattern, and its compiled form.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The pattern.
    pub text: String,
    compiled: Outcome,
}

/// A compiled pattern, or the error.
type Outcome = Arc<Result<Compiled, String>>;

/// Cache: the same few patterns occur in thousands of places (every quantity has one), so each is compiled once. A
/// process that reads CRDs for as long as it runs meets ever new ones, so the cache is bounded.
static COMPILED: LazyLock<Mutex<HashMap<String, Outcome>>> = LazyLock::new(Mutex::default);

/// A pattern that Go accepts.
#[derive(Debug)]
struct Compiled {
    tree: Hir,
    engine: Engine,
}

/// The engine of a pattern.
#[derive(Debug)]
enum Engine {
    Regex(Regex),
    /// For patterns that are too large or too deep for the first engine, which expands classes to bytes.
    Machine(Machine),
}

/// The maximum number of cached patterns.
const MAX_COMPILED: usize = 500;

/// Larger automata are run by the machine, which needs no memory per byte of a class.
const SIZE_LIMIT: usize = 10 << 20;

impl Pattern {
    /// Compiles a pattern. A pattern that does not compile is kept, with the error.
    pub fn new(text: &str) -> Self {
        let mut cache = COMPILED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if cache.len() >= MAX_COMPILED && !cache.contains_key(text) {
            cache.clear();
        }
        let compiled = cache.entry(text.to_owned()).or_insert_with(|| Arc::new(compile(text)));
        Self { text: text.to_owned(), compiled: Arc::clone(compiled) }
    }

    /// Returns the reason why Go, and so every API server, refuses the pattern.
    pub fn fault(&self) -> Option<&str> {
        self.compiled.as_ref().as_ref().err().map(String::as_str)
    }

    /// Returns the expression, for captures, or the error.
    pub fn regex(&self) -> Result<&Regex, &str> {
        match self.compiled.as_ref() {
            Ok(Compiled { engine: Engine::Regex(regex), .. }) => Ok(regex),
            Ok(Compiled { engine: Engine::Machine(_), .. }) => Err("it is too large"),
            Err(why) => Err(why),
        }
    }

    /// The pattern as a tree.
    pub(crate) fn tree(&self) -> Option<&Hir> {
        self.compiled.as_ref().as_ref().ok().map(|compiled| &compiled.tree)
    }

    /// The pattern in the syntax of our own engine, with its meaning on a server. `None` if it does not compile.
    pub(crate) fn translated(&self) -> Option<String> {
        self.tree().map(Hir::to_string)
    }

    /// Returns true if the text matches anywhere. A pattern that does not compile matches nothing.
    pub fn matches(&self, text: &str) -> bool {
        match self.compiled.as_ref() {
            Ok(Compiled { engine: Engine::Regex(regex), .. }) => regex.is_match(text),
            Ok(Compiled { engine: Engine::Machine(machine), .. }) => machine.find(text, 0).is_some(),
            Err(_) => false,
        }
    }

    /// Returns all matches that do not overlap, or the error.
    pub(crate) fn find_all<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, &str> {
        match self.compiled.as_ref() {
            Ok(Compiled { engine: Engine::Regex(regex), .. }) => {
                Ok(regex.find_iter(text).map(|found| found.as_str()).collect())
            }
            Ok(Compiled { engine: Engine::Machine(machine), .. }) => Ok(machine.find_all(text)),
            Err(why) => Err(why),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

fn compile(text: &str) -> Result<Compiled, String> {
    let tree = parse::parse(text)?;
    let engine = match RegexBuilder::new(&tree.to_string()).size_limit(SIZE_LIMIT).build() {
        Ok(regex) => Engine::Regex(regex),
        // The tree is valid, so only its size or depth can be wrong.
        Err(_) => Engine::Machine(Machine::new(&tree)),
    };
    Ok(Compiled { tree, engine })
}

#[cfg(test)]
mod tests;
