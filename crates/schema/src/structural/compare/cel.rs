//! Just enough of CEL to say that two rules mean the same, or that one follows from the other.
//!
//! A rule becomes a tree of `||` and `&&` over atoms that are only compared as text. Spaces,
//! comments, quotes, order and needless parentheses do not count. What this cannot see through it
//! calls different, never the same.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use super::super::is_oversized;
use super::lex::{is_word, tokens};

/// A rule by its logical structure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Expr {
    Or(BTreeSet<Expr>),
    And(BTreeSet<Expr>),
    /// `left < right`, or `<=`. Greater-than is turned around.
    Less {
        left: String,
        right: String,
        or_equal: bool,
    },
    Atom(String),
}

impl Expr {
    /// Reads a rule.
    pub(super) fn read(rule: &str) -> Self {
        if is_oversized(rule) {
            return Self::Atom(rule.to_owned());
        }
        parse(&tokens(rule))
    }

    /// All of these.
    pub(super) fn all(rules: impl IntoIterator<Item = Self>) -> Self {
        Self::And(rules.into_iter().collect())
    }

    /// Whether the other rule holds wherever this one does. False where it cannot be told.
    pub(super) fn implies(&self, other: &Self) -> bool {
        if self == other || *other == Self::Atom("true".into()) {
            return true;
        }
        match (self, other) {
            (_, Self::And(parts)) => parts.iter().all(|part| self.implies(part)),
            (Self::Or(parts), _) => parts.iter().all(|part| part.implies(other)),
            (Self::And(parts), Self::Or(options)) => {
                parts.iter().any(|part| part.implies(other)) || options.iter().any(|option| self.implies(option))
            }
            (Self::And(parts), _) => parts.iter().any(|part| part.implies(other)),
            (_, Self::Or(options)) => options.iter().any(|option| self.implies(option)),
            (Self::Less { .. }, Self::Less { .. }) => self.implies_less(other),
            _ => false,
        }
    }

    /// `x <= 5` implies `x <= 9`, and the same for numbers on the left.
    fn implies_less(&self, other: &Self) -> bool {
        let (
            Self::Less { left, right, or_equal },
            Self::Less { left: other_left, right: other_right, or_equal: other_or_equal },
        ) = (self, other)
        else {
            return false;
        };
        let number = |text: &str| text.parse::<f64>().ok();
        let strict_enough =
            |low: f64, high: f64| low < high || ((low - high).abs() < f64::EPSILON && (!or_equal || *other_or_equal));
        match (number(left), number(right)) {
            (None, Some(bound)) if left == other_left => {
                number(other_right).is_some_and(|other| strict_enough(bound, other))
            }
            (Some(bound), None) if right == other_right => {
                number(other_left).is_some_and(|other| strict_enough(other, bound))
            }
            _ => false,
        }
    }

    /// Whether the rule cannot fail on an object that has none of these fields.
    pub(super) fn holds_without(&self, fields: &[String]) -> bool {
        match self {
            Self::Or(parts) => parts.iter().any(|part| part.holds_without(fields)),
            Self::And(parts) => parts.iter().all(|part| part.holds_without(fields)),
            Self::Less { .. } => false,
            Self::Atom(text) => fields.iter().any(|field| {
                let missing = text.strip_prefix(&format!("!has(self.{field}"));
                let guarded = text.strip_prefix(&format!("has(self.{field})?"));
                missing == Some(")") || guarded.is_some_and(|rest| rest.ends_with(":true"))
            }),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |expr: &Self| match expr {
            Self::Or(_) | Self::And(_) => format!("({expr})"),
            Self::Less { .. } | Self::Atom(_) => expr.to_string(),
        };
        let join = |parts: &BTreeSet<Self>, operator: &str| parts.iter().map(part).collect::<Vec<_>>().join(operator);
        match self {
            Self::Or(parts) => f.write_str(&join(parts, "||")),
            Self::And(parts) => f.write_str(&join(parts, "&&")),
            Self::Less { left, right, or_equal } => write!(f, "{left}{}{right}", if *or_equal { "<=" } else { "<" }),
            Self::Atom(text) => f.write_str(text),
        }
    }
}

fn parse(tokens: &[String]) -> Expr {
    let tokens = unwrap(tokens);
    if split(tokens, &["?"]).len() > 1 {
        return Expr::Atom(render(tokens));
    }
    for operator in ["||", "&&"] {
        let parts = split(tokens, &[operator]);
        if parts.len() == 1 {
            continue;
        }
        let mut flat = BTreeSet::new();
        for part in parts {
            match (operator, parse(part)) {
                ("||", Expr::Or(inner)) | ("&&", Expr::And(inner)) => flat.extend(inner),
                (_, expr) => drop(flat.insert(expr)),
            }
        }
        // What is said twice is said once.
        return match (flat.len(), operator) {
            (1, _) => flat.pop_first().unwrap_or(Expr::Atom(String::new())),
            (_, "||") => Expr::Or(flat),
            _ => Expr::And(flat),
        };
    }
    relation(tokens)
}

fn relation(tokens: &[String]) -> Expr {
    let operators = ["==", "!=", "<", "<=", ">", ">="];
    let parts = split(tokens, &operators);
    let [left, right] = parts.as_slice() else {
        return Expr::Atom(render(tokens));
    };
    let operator = &tokens[left.len()];
    let (left, right) = (parse(left).to_string(), parse(right).to_string());
    let less = |left, right, or_equal| Expr::Less { left, right, or_equal };
    match operator.as_str() {
        "<" => less(left, right, false),
        "<=" => less(left, right, true),
        ">" => less(right, left, false),
        ">=" => less(right, left, true),
        equality if left <= right => Expr::Atom(format!("{left}{equality}{right}")),
        equality => Expr::Atom(format!("{right}{equality}{left}")),
    }
}

/// Tokens without parentheses around the whole.
fn unwrap(mut tokens: &[String]) -> &[String] {
    while let [first, inner @ .., _] = tokens
        && first == "("
        && closing(tokens, 0) == tokens.len() - 1
    {
        tokens = inner;
    }
    tokens
}

/// The parts between operators that stand outside all brackets.
fn split<'a>(tokens: &'a [String], operators: &[&str]) -> Vec<&'a [String]> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < tokens.len() {
        let token = tokens[at].as_str();
        // `a.?b` selects an optional field; its question mark asks nothing.
        let selects = token == "?" && at > 0 && tokens[at - 1] == ".";
        if opens(token) {
            at = closing(tokens, at);
        } else if operators.contains(&token) && !selects {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
        at += 1;
    }
    parts.push(&tokens[start..]);
    parts
}

/// Tokens as text, everything in brackets normalised on its own.
fn render(tokens: &[String]) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        if opens(token) {
            let end = closing(tokens, at);
            let inner = &tokens[(at + 1).min(end)..end];
            let parts = split(inner, &[","]);
            let shown: Vec<_> = parts.iter().map(|part| parse(part).to_string()).collect();
            let groups = token == "(" && (at == 0 || !ends_operand(&tokens[at - 1]));
            if groups && parts.len() == 1 && is_primary(inner) {
                text.push_str(&shown.join(","));
            } else {
                let close = tokens.get(end).map_or("", String::as_str);
                let _ = write!(text, "{token}{}{close}", shown.join(","));
            }
            at = end;
        } else {
            // Two words in a row, as in `x in y`, must not grow together.
            if text.ends_with(is_word) && token.starts_with(is_word) {
                text.push(' ');
            }
            text.push_str(token);
        }
        at += 1;
    }
    text
}

fn is_primary(tokens: &[String]) -> bool {
    let tokens = unwrap(tokens);
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at].as_str();
        if opens(token) {
            at = closing(tokens, at);
        } else if token != "." && (!ends_operand(token) || token == "in") {
            return false;
        }
        at += 1;
    }
    true
}

fn ends_operand(token: &str) -> bool {
    token != "in" && token.ends_with(|c| is_word(c) || matches!(c, '"' | '\'' | ')' | ']'))
}

fn opens(token: &str) -> bool {
    matches!(token, "(" | "[" | "{")
}

/// The index of the bracket that closes the one here; the end where none does.
fn closing(tokens: &[String], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("self.a>1&&self.b", " (self.b) && (self.a > 1)")]
    #[case("a || (b || c)", "c||a||b")]
    #[case("self == oldSelf", "oldSelf == self")]
    #[case("self.a > 1 // why", "1 < self.a")]
    #[case("self.x == 'a b'", "self.x == \"a b\"")]
    #[case("self.all(x, (x.a || x.b))", "self.all( x,x.b || x.a )")]
    #[case("((self)).a == (1)", "self.a == 1")]
    fn same_meaning(#[case] left: &str, #[case] right: &str) {
        assert_eq!(Expr::read(left), Expr::read(right));
    }

    #[rstest]
    #[case("self.x == 'a  b'", "self.x == 'a b'")]
    #[case("a - (b - c)", "a - b - c")]
    #[case("!(a && b)", "!a && b")]
    #[case("a ? b : c || d", "(a ? b : c) || d")]
    #[case("x in y", "xiny")]
    #[case("self.a < 1", "self.a <= 1")]
    #[case("self.matches('a||b')", "self.matches('b||a')")]
    fn other_meaning(#[case] left: &str, #[case] right: &str) {
        assert_ne!(Expr::read(left), Expr::read(right));
    }

    #[rstest]
    #[case("a", "a || b")]
    #[case("a && b", "a")]
    #[case("a && b", "b || c")]
    #[case("size(self) <= 5", "size(self) <= 10")]
    #[case("self.n >= 3", "self.n > 2")]
    #[case("self.n < 5", "self.n <= 5")]
    #[case("a || b", "c || b || a")]
    #[case("(a || b) && c", "a || b")]
    fn follows_one_way(#[case] strong: &str, #[case] weak: &str) {
        let (strong, weak) = (Expr::read(strong), Expr::read(weak));
        assert!(strong.implies(&weak));
        assert!(!weak.implies(&strong));
    }

    #[test]
    fn guards_of_absent_fields_hold() {
        let holds = |rule: &str| Expr::read(rule).holds_without(&["tls".to_owned()]);
        assert!(holds("!has(self.tls) || self.tls.size() > 1"));
        assert!(holds("has(self.tls) ? self.x : true"));
        assert!(!holds("!has(self.tlsMode) || self.x"));
        assert!(!holds("has(self.tls)"));
    }

    #[test]
    fn broken_rules_do_not_panic() {
        for rule in ["", "(", ")", "a ||", "'", "\"\\", "((a)", "a]b", "r'", "''' x", "1.", "."] {
            let expr = Expr::read(rule);
            assert_eq!(expr, Expr::read(rule));
        }
    }
}
