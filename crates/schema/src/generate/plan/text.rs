//! Strings: lengths, patterns and formats together.

use super::super::format;
use super::super::pattern::Sampler;
use super::super::random::Random;
use crate::structural::Pattern;

/// A predicate that recognises texts of a format.
type Test = fn(&str) -> bool;

/// The constraints of a string.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    /// The minimum number of characters.
    pub(crate) least: usize,
    /// The maximum number of characters, if there is a bound.
    pub(crate) most: Option<usize>,
    /// The patterns that it must match.
    pub(crate) patterns: Vec<Pattern>,
    /// The formats that it must have, with their tests.
    pub(crate) formats: Vec<(String, Test)>,
    /// The usual content, guessed by the name.
    pub(crate) habit: Habit,
    pub(super) samplers: Vec<Sampler>,
    /// Tested strings, for when no new one is found.
    pub(super) pool: Vec<String>,
}

/// The likely content of a string that the schema does not describe.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Habit {
    /// Anything.
    #[default]
    Words,
    /// `30s`.
    Durations,
    /// `1Gi`.
    Quantities,
}

/// Longer strings are generated only if a schema requires them.
const USUAL: usize = 12;

/// The number of attempts at a string before a known one is used.
const TRIES: usize = 12;

impl Text {
    /// Compiles the patterns and tests some strings. `None` if none was found.
    pub(crate) fn prepare(mut self) -> Option<Self> {
        self.samplers = self.patterns.iter().map(Sampler::new).collect::<Option<_>>()?;
        if !self.is_plain() {
            let mut random = Random::of(0, 0, 0);
            for round in 0..64 {
                let length = self.length(&mut random, round);
                if let Some(text) = self.attempt(&mut random, length)
                    && !self.pool.contains(&text)
                {
                    self.pool.push(text);
                }
                if self.pool.len() == 8 || round > 24 && !self.pool.is_empty() {
                    break;
                }
            }
            if self.pool.is_empty() {
                return None;
            }
        }
        Some(self)
    }

    fn is_plain(&self) -> bool {
        self.patterns.is_empty() && self.formats.is_empty()
    }

    /// A string of about the usual length.
    pub(crate) fn sample(&self, random: &mut Random) -> String {
        if self.is_plain() {
            return self.plain(random);
        }
        for round in 0..TRIES {
            let length = self.length(random, round);
            if let Some(text) = self.attempt(random, length) {
                return text;
            }
        }
        random.pick(&self.pool).cloned().unwrap_or_default()
    }

    /// A string of exactly this length, if one is found.
    pub(crate) fn of_length(&self, random: &mut Random, length: usize) -> Option<String> {
        if self.is_plain() {
            let text = self.plain(random);
            return Some(fit(text, length, length));
        }
        let exact = |text: &String| text.chars().count() == length;
        (0..TRIES).find_map(|_| self.attempt(random, length).filter(exact))
    }

    /// Strings of exactly this length that satisfy everything else.
    pub(crate) fn of_length_only(&self, random: &mut Random, length: usize) -> Vec<String> {
        let free = Self { least: length, most: Some(length), ..self.clone() };
        (0..TRIES).filter_map(|_| free.of_length(random, length)).take(1).collect()
    }

    /// Returns true if a string satisfies all constraints.
    pub(crate) fn admits(&self, text: &str) -> bool {
        let length = text.chars().count();
        length >= self.least
            && self.most.is_none_or(|most| length <= most)
            && self.patterns.iter().all(|pattern| pattern.matches(text))
            && self.formats.iter().all(|(_, test)| test(text))
    }

    fn plain(&self, random: &mut Random) -> String {
        let text = match self.habit {
            Habit::Durations if random.chance(1, 2) => format::duration(random),
            Habit::Quantities if random.chance(1, 2) => format::quantity(random),
            _ if random.chance(1, 32) => UNUSUAL[random.index(UNUSUAL.len())].to_owned(),
            _ => format::word(random),
        };
        fit(text, self.least, self.most.unwrap_or(usize::MAX))
    }

    fn length(&self, random: &mut Random, round: usize) -> usize {
        let (shortest, longest) = self.samplers.first().map_or((0, None), Sampler::lengths);
        let low = self.least.max(shortest);
        let most = self.most.unwrap_or(usize::MAX).min(longest.unwrap_or(usize::MAX));
        // Some patterns need more characters than their shortest match.
        let usual = low.saturating_add(USUAL + round * 4);
        random.length(low, most.min(usual).max(low))
    }

    fn attempt(&self, random: &mut Random, length: usize) -> Option<String> {
        let kinds = self.samplers.len() + self.formats.len();
        let kind = random.index(kinds);
        let text = match self.samplers.get(kind) {
            Some(_) if self.patterns[kind].text.contains("KMGTPE") && random.chance(1, 2) => format::quantity(random),
            Some(sampler) => sampler.sample(random, length),
            None => format::sample(&self.formats[kind - self.samplers.len()].0, random, length)?,
        };
        self.admits(&text).then_some(text)
    }
}

/// Strings that break careless code: several scripts and planes, spaces, quotes, and texts that look like another type.
pub(crate) const UNUSUAL: [&str; 12] =
    ["true", "null", "0", "1e3", " a ", "ä", "日本", "e\u{301}", "𝔘", "🦀", "a\"b\\c", "line\nbreak"];

/// Shortens or extends a string to this range of lengths.
fn fit(mut text: String, least: usize, most: usize) -> String {
    let length = text.chars().count();
    if length > most {
        text = text.chars().take(most).collect();
    }
    text.push_str(&"x".repeat(least.saturating_sub(length.min(most))));
    text
}
