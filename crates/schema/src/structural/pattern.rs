//! `pattern` in the meaning of the API server, which is Go's: ASCII classes, unanchored search.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use regex::{Regex, RegexBuilder};

/// A pattern as written, and what it compiles to.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The pattern as written.
    pub text: String,
    compiled: Compiled,
}

/// The same few patterns stand in thousands of places (every quantity has one), so each is
/// compiled once for the process.
static COMPILED: LazyLock<Mutex<HashMap<String, Compiled>>> = LazyLock::new(Mutex::default);

/// The expression, or why there is none.
type Compiled = Arc<Result<Regex, String>>;

/// Go's limit on the size of a compiled pattern is of this order.
const SIZE_LIMIT: usize = 10 << 20;

/// What Go takes as the count of a repetition.
const MOST_REPETITIONS: u64 = 1000;

impl Pattern {
    /// Compiles a pattern. A pattern that does not compile is kept, with the reason.
    pub fn new(text: &str) -> Self {
        let mut cache = COMPILED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let compiled = cache.entry(text.to_owned()).or_insert_with(|| Arc::new(compile(text)));
        Self { text: text.to_owned(), compiled: Arc::clone(compiled) }
    }

    /// The expression, or why there is none.
    pub fn regex(&self) -> Result<&Regex, &str> {
        self.compiled.as_ref().as_ref().map_err(String::as_str)
    }

    /// The pattern in the syntax of our own engine, with the meaning that it has on a server.
    pub(crate) fn translated(&self) -> String {
        translate(&self.text)
    }

    /// Whether the text matches anywhere. A pattern that does not compile matches nothing.
    pub fn matches(&self, text: &str) -> bool {
        self.regex().is_ok_and(|regex| regex.is_match(text))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

fn compile(text: &str) -> Result<Regex, String> {
    if let Some(count) = repetitions(text).find(|count| *count > MOST_REPETITIONS) {
        return Err(format!("a repetition of {count} is more than {MOST_REPETITIONS}"));
    }
    RegexBuilder::new(&translate(text)).size_limit(SIZE_LIMIT).build().map_err(|error| {
        let text = error.to_string();
        text.lines().last().unwrap_or(&text).trim_start_matches("error: ").to_owned()
    })
}

/// Rewrites what Go and Rust read differently: Perl classes are ASCII in Go, a brace that starts no
/// repetition is a literal, `[` and doubled operators inside a class are literals, `\Q…\E` quotes.
fn translate(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.char_indices().peekable();
    let mut class: Option<usize> = None;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, 'Q')) if class.is_none() => {
                    let rest = &text[at + 2..];
                    let end = rest.find("\\E").unwrap_or(rest.len());
                    out.push_str(&regex::escape(&rest[..end]));
                    while chars.peek().is_some_and(|(next, _)| *next < at + 2 + end + 2) {
                        chars.next();
                    }
                }
                // The braces of \p{Greek} and \x{1F600} belong to the escape.
                Some((_, 'p' | 'P' | 'x')) if text[at + 2..].starts_with('{') => {
                    let end = text[at..].find('}').map_or(text.len(), |end| at + end + 1);
                    out.push_str(&text[at..end]);
                    while chars.peek().is_some_and(|(next, _)| *next < end) {
                        chars.next();
                    }
                }
                Some((_, escape)) => out.push_str(&ascii_escape(escape, class.is_some())),
                None => out.push('\\'),
            },
            '[' if class.is_none() => {
                out.push('[');
                if chars.peek().is_some_and(|(_, next)| *next == '^') {
                    out.push('^');
                    chars.next();
                }
                // A bracket that comes first is a member of the class.
                if chars.peek().is_some_and(|(_, next)| *next == ']') {
                    out.push_str("\\]");
                    chars.next();
                }
                class = Some(at);
            }
            '[' => {
                // A POSIX class such as [:alpha:] is copied whole, any other bracket is itself.
                let rest = &text[at..];
                match (rest.starts_with("[:"), rest.find(":]")) {
                    (true, Some(end)) => {
                        out.push_str(&rest[..end + 2]);
                        while chars.peek().is_some_and(|(next, _)| *next < at + end + 2) {
                            chars.next();
                        }
                    }
                    _ => out.push_str("\\["),
                }
            }
            ']' if class.is_some() => {
                class = None;
                out.push(']');
            }
            '&' | '~' if class.is_some() => {
                out.push('\\');
                out.push(c);
            }
            '-' if class.is_some() && chars.peek().is_some_and(|(_, next)| *next == '-') => out.push_str("\\-"),
            '{' if class.is_none() && !starts_repetition(&text[at..]) => out.push_str("\\{"),
            '}' if class.is_none() && !ends_repetition(&text[..at]) => out.push_str("\\}"),
            c => out.push(c),
        }
    }
    out
}

fn ascii_escape(escape: char, in_class: bool) -> String {
    match (escape, in_class) {
        ('d', false) => "[0-9]".into(),
        ('w', false) => "[0-9A-Za-z_]".into(),
        ('s', false) => "[\\t\\n\\f\\r ]".into(),
        ('d', true) => "0-9".into(),
        ('w', true) => "0-9A-Za-z_".into(),
        ('s', true) => "\\t\\n\\f\\r ".into(),
        ('D', _) => "[^0-9]".into(),
        ('W', _) => "[^0-9A-Za-z_]".into(),
        ('S', _) => "[^\\t\\n\\f\\r ]".into(),
        ('b', false) => "(?-u:\\b)".into(),
        ('B', false) => "(?-u:\\B)".into(),
        (other, _) => format!("\\{other}"),
    }
}

/// The counts of all repetitions in a pattern.
fn repetitions(text: &str) -> impl Iterator<Item = u64> {
    let starts = text.match_indices('{').map(|(at, _)| at);
    let real = starts.filter(|at| starts_repetition(&text[*at..]) && !text[..*at].ends_with('\\'));
    real.flat_map(|at| {
        let inner = text[at + 1..].split('}').next().unwrap_or_default();
        inner.split(',').filter_map(|count| count.parse().ok())
    })
}

fn starts_repetition(rest: &str) -> bool {
    let Some(end) = rest.find('}') else {
        return false;
    };
    let inner = &rest[1..end];
    let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
    !low.is_empty() && low.bytes().all(|b| b.is_ascii_digit()) && high.bytes().all(|b| b.is_ascii_digit())
}

fn ends_repetition(before: &str) -> bool {
    before.rfind('{').is_some_and(|at| {
        let escaped = before[..at].bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
        !escaped && starts_repetition(&format!("{}}}", &before[at..]))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r"^\d+$", "12", true)]
    #[case(r"^\d+$", "१२", false)]
    #[case(r"^\w$", "é", false)]
    #[case(r"^[\w-]+$", "a-b", true)]
    #[case(r"^[^\s]+$", "a b", false)]
    #[case(r"^\S+$", "ab", true)]
    #[case(r"^[[]$", "[", true)]
    #[case(r"^[]a]+$", "]a", true)]
    #[case(r"^[[:alpha:]]+$", "ab", true)]
    #[case(r"^[a&&b]+$", "&", true)]
    #[case(r"^{a}$", "{a}", true)]
    #[case(r"^a{,2}$", "a{,2}", true)]
    #[case(r"^a{1,2}$", "aa", true)]
    #[case(r"^\Qa.b\E$", "a.b", true)]
    #[case(r"^\Qa.b\E$", "axb", false)]
    #[case(r"^\p{Lu}$", "É", true)]
    #[case(r"^\x{263a}$", "☺", true)]
    #[case("b", "abc", true)]
    #[case(r"^(?i)abc$", "ABC", true)]
    #[case(r"^a$", "a\n", false)]
    fn means_what_go_means(#[case] pattern: &str, #[case] text: &str, #[case] expected: bool) {
        let pattern = Pattern::new(pattern);
        pattern.regex().unwrap();
        assert_eq!(pattern.matches(text), expected);
    }

    #[test]
    fn a_bad_pattern_says_why() {
        assert!(Pattern::new("a(?=b)").regex().unwrap_err().contains("look-around"));
    }
}
