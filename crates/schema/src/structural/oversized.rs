//! Expressions that are too large to be read.

/// Operators, brackets and steps of an expression that we read. The longest rules in the wild have some
/// two hundred.
const LIMIT: usize = 400;

/// Whether an expression is larger than what can be read on any stack: whatever parses, rewrites or
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
