//! Expressions that are too large to parse, and stacks that are large enough for others.

/// Maximum number of operators, brackets and steps of an expression. The longest known rules have about two hundred.
const LIMIT: usize = 400;

/// Returns true if an expression is too large for any stack: parsing, rewriting and evaluating recurse on each
/// operator, bracket and step.
pub(crate) fn is_oversized(expression: &str) -> bool {
    let mut in_operator = false;
    let mut seen = 0;
    for byte in expression.bytes() {
        // Brackets and signs nest one by one; `&&` and `==` are one operator each.
        let nests = matches!(byte, b'(' | b'[' | b'{' | b'.' | b'!' | b'-' | b'?' | b',');
        let operator = matches!(byte, b'+' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'&' | b'|' | b':');
        seen += usize::from(nests || operator && !in_operator);
        in_operator = operator;
    }
    seen > LIMIT
}

/// The stack that the largest expression below the limit needs in an unoptimised build, with a margin. Only the used
/// part takes memory.
const STACK: usize = 64 << 20;

/// Runs a function that parses an expression on a large stack, on any thread.
pub(crate) fn with_large_stack<T>(parse: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK / 2, STACK, parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_expressions_are_oversized_and_rules_are_not() {
        let rule = "self.all(x, !has(x.port) || (x.port > 0 && x.port < 65536)) && self.name == 'a'";
        assert!(!is_oversized(rule) && !is_oversized(&[rule; 20].join(" && ")));
        for piece in ["(", "[", "!", "1+", "a.", "true ? true : ", "a && "] {
            assert!(is_oversized(&piece.repeat(500)), "{piece}");
        }
    }
}
