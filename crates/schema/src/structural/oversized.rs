//! Expressions that are too large to be read, and stacks that are large enough for the others.

/// Operators, brackets and steps of an expression that we read. The longest rules in the wild have some
/// two hundred.
const LIMIT: usize = 400;

/// Returns whether an expression is larger than what can be read on any stack: whatever parses, rewrites or
/// evaluates it recurses on each operator, bracket and step.
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

/// The stack that the largest expression below the limit needs in an unoptimised build, with a margin. Only what is used of it
/// takes memory.
const STACK: usize = 64 << 20;

/// Runs what parses an expression on a stack that is large enough for it, whichever thread calls.
pub(crate) fn with_large_stack<T>(parse: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK / 2, STACK, parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn towers_are_oversized_and_rules_are_not() {
        let rule = "self.all(x, !has(x.port) || (x.port > 0 && x.port < 65536)) && self.name == 'a'";
        assert!(!is_oversized(rule) && !is_oversized(&[rule; 20].join(" && ")));
        for piece in ["(", "[", "!", "1+", "a.", "true ? true : ", "a && "] {
            assert!(is_oversized(&piece.repeat(500)), "{piece}");
        }
    }
}
