//! Sets of strings that patterns and lengths describe, and inclusion between them. Decided by running their automata
//! together until every reachable combination of states was visited.

use std::collections::HashSet;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::escape;

use crate::structural::{Pattern, Schema};

/// Maximum number of combinations of states.
const MAX_STATES: usize = 20_000;

/// Maximum memory of one automaton.
const MAX_MEMORY: usize = 8 << 20;

/// Maximum length that is turned into automata.
const MAX_LENGTH: i64 = 512;

/// Strings with all of these properties, each a pattern in the syntax of our own engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Texts(Vec<String>);

impl Texts {
    /// Every string.
    pub(super) fn all() -> Self {
        Self(Vec::new())
    }

    /// The strings that match a pattern. `None` if it does not compile.
    pub(super) fn matching(pattern: &str) -> Option<Self> {
        Pattern::new(pattern).translated().map(|pattern| Self(vec![pattern]))
    }

    /// Strings of a length. `None` if that is too long to decide.
    pub(super) fn of_length(least: Option<i64>, most: Option<i64>) -> Option<Self> {
        let least = least.unwrap_or_default().max(0);
        if least == 0 && most.is_none() {
            return Some(Self::all());
        }
        let most = match most {
            Some(most) if most < least || most > MAX_LENGTH => return None,
            Some(most) => most.to_string(),
            None => String::new(),
        };
        (least <= MAX_LENGTH).then(|| Self(vec![format!("(?s)\\A.{{{least},{most}}}\\z")]))
    }

    /// One of these strings.
    pub(super) fn one_of<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        let words: Vec<_> = values.into_iter().map(escape).collect();
        // An empty alternation matches everything, but no string is in an empty set.
        let words = if words.is_empty() { "[^\\s\\S]".to_owned() } else { words.join("|") };
        Self(vec![format!("\\A(?:{words})\\z")])
    }

    /// The strings that a schema allows, or more, by its pattern, its lengths, and some of its formats.
    pub(super) fn of(schema: &Schema) -> Self {
        let mut texts = Self::all();
        texts.extend(schema.pattern.as_ref().and_then(|pattern| Self::matching(&pattern.text)));
        let bounded = Self::of_length(schema.min_length, schema.max_length);
        texts.extend(bounded.or_else(|| Self::of_length(schema.min_length, None)));
        let format = schema.format.as_deref().map(|name| name.replace('-', ""));
        texts.0.extend(format.and_then(|name| Some(FORMATS.iter().find(|(known, _)| *known == name)?.1.to_owned())));
        texts
    }

    fn extend(&mut self, more: Option<Self>) {
        self.0.extend(more.into_iter().flat_map(|more| more.0));
    }

    /// Returns true if each of these strings is one of the others. `None` if that is too expensive.
    pub(super) fn are_among(&self, others: &Self) -> Option<bool> {
        others.0.iter().try_fold(true, |all, other| {
            let included = self.0.contains(other) || is_included(&self.0, other)?;
            Some(all && included)
        })
    }
}

/// Formats with a fixed form, by their names without dashes: servers of every release refuse other strings.
const FORMATS: [(&str, &str); 2] = [
    ("date", "\\A[0-9]{4}-[0-9]{2}-[0-9]{2}\\z"),
    ("uuid", "(?i)\\A[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\\z"),
];

/// One automaton.
struct Automaton {
    dfa: DFA,
    cache: Cache,
}

/// The state of an automaton. A match is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    Matched,
    At(LazyStateID),
}

impl Automaton {
    fn new(pattern: &str) -> Option<Self> {
        // States must keep their numbers, so the cache is never cleared.
        let config = Config::new()
            .match_kind(MatchKind::All)
            .cache_capacity(MAX_MEMORY)
            .minimum_cache_clear_count(Some(0))
            .unicode_word_boundary(false);
        let nfa = thompson::Config::new().nfa_size_limit(Some(MAX_MEMORY));
        let dfa = DFA::builder().configure(config).thompson(nfa).build(pattern).ok()?;
        let cache = dfa.create_cache();
        Some(Self { dfa, cache })
    }

    fn start(&mut self) -> Option<State> {
        let config = start::Config::new().anchored(Anchored::No);
        self.dfa.start_state(&mut self.cache, &config).ok().map(State::At)
    }

    fn step(&mut self, state: State, byte: u8) -> Option<State> {
        let State::At(id) = state else { return Some(State::Matched) };
        let next = self.dfa.next_state(&mut self.cache, id, byte).ok()?;
        if next.is_quit() { None } else { Some(arrived(next)) }
    }

    /// Returns true if a string that ends here matches.
    fn accepts(&mut self, state: State) -> Option<bool> {
        let State::At(id) = state else { return Some(true) };
        let end = self.dfa.next_eoi_state(&mut self.cache, id).ok()?;
        if end.is_quit() { None } else { Some(end.is_match()) }
    }
}

fn arrived(id: LazyStateID) -> State {
    if id.is_match() { State::Matched } else { State::At(id) }
}

/// Returns true if every string with all of some properties has another one. Strings are valid UTF-8.
fn is_included(all: &[String], other: &str) -> Option<bool> {
    let patterns = all.iter().map(String::as_str).chain(["(?s)\\A.*\\z", other]);
    let mut automata = patterns.map(Automaton::new).collect::<Option<Vec<_>>>()?;
    let bytes = representatives(&automata);
    let first = automata.iter_mut().map(Automaton::start).collect::<Option<Vec<_>>>()?;
    let mut seen = HashSet::from([first.clone()]);
    let mut waiting = vec![first];
    while let Some(states) = waiting.pop() {
        let mut accepted = Vec::with_capacity(states.len());
        for (automaton, state) in automata.iter_mut().zip(&states) {
            accepted.push(automaton.accepts(*state)?);
        }
        let (is_other, rest) = accepted.split_last()?;
        if !is_other && rest.iter().all(|accepts| *accepts) {
            return Some(false);
        }
        for byte in &bytes {
            let steps = automata.iter_mut().zip(&states).map(|(automaton, state)| automaton.step(*state, *byte));
            let next = steps.collect::<Option<Vec<_>>>()?;
            // No continuation can be a counterexample.
            let is_over = next.last() == Some(&State::Matched)
                || next.iter().rev().skip(1).any(|state| matches!(state, State::At(id) if id.is_dead()));
            if is_over || seen.contains(&next) {
                continue;
            }
            if seen.len() >= MAX_STATES {
                return None;
            }
            seen.insert(next.clone());
            waiting.push(next);
        }
    }
    Some(true)
}

/// One byte of each class that some automaton distinguishes.
fn representatives(automata: &[Automaton]) -> Vec<u8> {
    let mut kinds = HashSet::new();
    let kind = |byte: u8| automata.iter().map(|automaton| automaton.dfa.byte_classes().get(byte)).collect::<Vec<_>>();
    (0..=u8::MAX).filter(|byte| kinds.insert(kind(*byte))).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("^a$", "^[ab]$", Some(true), Some(false))]
    #[case("^(a|b)$", "^[ab]$", Some(true), Some(true))]
    #[case("^a", "a", Some(true), Some(false))]
    #[case("a$", "^a$", Some(false), Some(true))]
    #[case("^a*$", "^(aa)*$", Some(false), Some(true))]
    #[case("^[a-z]{1,63}$", "^[a-z]+$", Some(true), Some(false))]
    #[case(r"^\d+$", "^[0-9]+$", Some(true), Some(true))]
    #[case("^.*$", "", Some(true), Some(false))]
    #[case("(?s)^.*$", "", Some(true), Some(true))]
    #[case("^$|^a$", "^a?$", Some(true), Some(true))]
    #[case("^[^/]+$", "^[^/]{1,}$", Some(true), Some(true))]
    #[case("(?i)^abc$", "^[aA][bB][cC]$", Some(true), Some(true))]
    #[case(r"^\Qa.b\E$", r"^a\.b$", Some(true), Some(true))]
    #[case(
        "(^([A-Za-z][A-Za-z0-9_,:]*[A-Za-z0-9_])?$)",
        "^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$",
        Some(true),
        Some(false)
    )]
    #[case(r"\bfoo\b", "foo", Some(true), Some(false))]
    #[case("^(a|b)*a(a|b){14}$", "^(b|a)*a(b|a){14}$", Some(true), Some(true))]
    #[case("^(ab|ba)*ab(ab|ba){14}$", "^(ba|ab)*ab(ba|ab){14}$", None, None)]
    fn inclusion_is_decided_both_ways(
        #[case] left: &str,
        #[case] right: &str,
        #[case] forth: Option<bool>,
        #[case] back: Option<bool>,
    ) {
        let texts = |pattern: &str| Texts::matching(pattern).unwrap();
        assert_eq!(texts(left).are_among(&texts(right)), forth);
        assert_eq!(texts(right).are_among(&texts(left)), back);
    }

    #[test]
    fn lengths_and_words_are_texts_too() {
        let pattern = Texts::matching("^[a-é]{2,5}$").unwrap();
        assert_eq!(pattern.are_among(&Texts::of_length(Some(2), Some(5)).unwrap()), Some(true));
        assert_eq!(pattern.are_among(&Texts::of_length(None, Some(4)).unwrap()), Some(false));
        assert_eq!(Texts::one_of(["ab", "c.d"]).are_among(&pattern), Some(false));
        assert_eq!(Texts::one_of([]).are_among(&pattern), Some(true));
        assert_eq!(Texts::all().are_among(&Texts::of_length(Some(1), None).unwrap()), Some(false));
        assert_eq!(Texts::of_length(None, Some(100_000)), None);
    }

    #[test]
    fn a_pattern_that_does_not_compile_describes_nothing() {
        assert_eq!(Texts::matching("a(?=b)"), None);
    }
}
