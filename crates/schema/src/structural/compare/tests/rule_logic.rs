//! Rules that mean the same, follow from each other, or neither.

use rstest::rstest;

use super::super::rule_logic::Formula;

#[rstest]
#[case("self.a>1&&self.b", " (self.b) && (self.a > 1)")]
#[case("a || (b || c)", "c||a||b")]
#[case("self == oldSelf", "oldSelf == self")]
#[case("self.a > 1 // why", "1 < self.a")]
#[case("self.x == 'a b'", "self.x == \"a b\"")]
#[case("self.a in ['x', 'y']", "self.a == 'y' || self.a == \"x\"")]
#[case("!(self.a in ['x', 'y'])", "self.a != 'x' && self.a != 'y'")]
#[case("self.a == true", "self.a")]
#[case("size(self.a) > 0", "self.a.size() != 0")]
#[case("self.__namespace__ == 'a'", "self.namespace == 'a'")]
#[case("self.all(x, x > 1)", "self.all(item, item > 1)")]
#[case("self.all(x, self.exists(y, x == y))", "self.all(y, self.exists(x, x == y))")]
#[case("self == 'it\\'s'", "self == \"it's\"")]
#[case("self == '''a'''", "self == 'a'")]
#[case("self.x == r'a\\d'", "self.x == 'a\\\\d'")]
#[case("self.all(x, (x.a || x.b))", "self.all( x,x.b || x.a )")]
#[case("((self)).a == (1)", "self.a == 1")]
#[case("!(a && b)", "!b || !a")]
#[case("!(a || !b)", "b && !a")]
#[case("!(a == b)", "b != a")]
#[case("!(c ? a : b)", "c ? !a : !b")]
#[case("size(self.x) == 0", "0 == self.x.size()")]
#[case("a && true || false", "a")]
#[case("a || true", "true")]
#[case("(a && b) == c", "c == (b && a)")]
#[case("a ? b && c : d", "a ? (c && b) : d")]
#[case("self.exists_one(x, x == 1)", "self.existsOne(x, 1 == x)")]
fn same_meaning(#[case] left: &str, #[case] right: &str) {
    assert_eq!(Formula::read(left), Formula::read(right));
}

#[rstest]
#[case("self.x == 'a  b'", "self.x == 'a b'")]
#[case("a - (b - c)", "a - b - c")]
#[case("a - b", "b - a")]
#[case("a + b", "b + a")]
#[case("!(a && b)", "!a && b")]
#[case("!(a < b)", "b <= a")]
#[case("a ? b : c || d", "(a ? b : c) || d")]
#[case("(a ? b : c) == d", "(a && b || !a && c) == d")]
#[case("(a < b) == c", "a < (b == c)")]
#[case("x in y", "xiny")]
#[case("x in [a, b]", "x in [a]")]
#[case("self.a < 1", "self.a <= 1")]
#[case("self.a == 1", "self.a == 1.0")]
#[case("self.a == 1", "self.a == '1'")]
#[case("self.a == 1", "self.a == 1u")]
#[case("self.a.b()", "a(self.b)")]
#[case("has(self.a)", "self.a")]
#[case("self.?a.b", "self.a.b")]
#[case("self.all(x, x)", "self.exists(x, x)")]
#[case("self.filter(x, x)", "self.map(x, x)")]
#[case("[a, ?b]", "[?a, b]")]
#[case("{a: b}", "{b: a}")]
#[case("self.a == 1 && self.a == 1.0", "self.a == 1")]
#[case("self.all(x, x == y)", "self.all(y, y == y)")]
#[case("self.matches('a||b')", "self.matches('b||a')")]
#[case("!!a", "!a")]
#[case("- -a > 1", "-a > 1")]
#[case("self == '''a''b'''", "self == 'ab'")]
#[case(r#"self == '\"'"#, r#"self == '\\"'"#)]
fn other_meaning(#[case] left: &str, #[case] right: &str) {
    assert_ne!(Formula::read(left), Formula::read(right));
}

#[rstest]
#[case("a", "a || b")]
#[case("a && b", "a")]
#[case("a && b", "b || c")]
#[case("size(self) <= 5", "size(self) <= 10")]
#[case("self.n >= 3", "self.n > 2")]
#[case("self.n < 5", "self.n <= 5")]
#[case("self.n >= -3", "self.n >= -5")]
#[case("self.n <= 1.5", "self.n <= 2")]
#[case("self.n < self.m", "self.n <= self.m")]
#[case("self.n <= 9007199254740992", "self.n <= 9007199254740996")]
#[case("a || b", "c || b || a")]
#[case("(a || b) && c", "a || b")]
#[case("!(a || b)", "!a")]
#[case("has(self.a) ? b && c : d", "has(self.a) ? b : d")]
#[case("has(self.a) ? b : true", "!has(self.a) || b")]
#[case("(a && !b) || (!a && b)", "!(a && b)")]
#[case("false", "a")]
#[case("self in ['a', 'b']", "self in ['a', 'b', 'c']")]
#[case("self == 'a'", "self != 'b'")]
#[case("self in [1, 2]", "self < 3")]
#[case("self > 0", "self != 0")]
#[case("self.all(x, x in ['a'])", "self.all(k, k in ['a', 'b'])")]
#[case("self.exists(x, x == 'a' && x.y)", "self.exists(x, x == 'a')")]
#[case("(a || b) && c", "(a && c) || (b && c) || d")]
#[case("has(self.a) && !has(self.b) || !has(self.a) && has(self.b)", "!(has(self.a) && has(self.b))")]
fn follows_one_way(#[case] strong: &str, #[case] weak: &str) {
    let (strong, weak) = (Formula::read(strong), Formula::read(weak));
    assert!(strong.implies(&weak));
    assert!(!weak.implies(&strong));
}

#[rstest]
#[case("self.n <= 9007199254740992", "self.n <= 9007199254740993")]
#[case("self.n <= inf", "self.n <= nan")]
#[case("a", "!a")]
#[case("self == 1", "self != 1.0")]
#[case("self.all(x, x > 1)", "self.exists(x, x > 1)")]
#[case("self.a == 'x'", "self.b == 'x'")]
fn follows_neither_way(#[case] left: &str, #[case] right: &str) {
    let (left, right) = (Formula::read(left), Formula::read(right));
    assert!(!left.implies(&right) && !right.implies(&left));
}

#[test]
fn rules_that_cannot_be_read_equal_only_themselves() {
    for rule in ["", "(", ")", "a ||", "'", "\"\\", "((a)", "a]b", "r'", "''' x", "1.", "."] {
        let formula = Formula::read(rule);
        assert_eq!(formula, Formula::Opaque(rule.to_owned()));
        assert!(formula.implies(&formula) && !formula.implies(&Formula::read("a")));
    }
    assert_eq!(Formula::read(" a || "), Formula::read("a ||"));
}

/// Without caching decisions this would take forever.
#[test]
fn deep_rules_are_compared_quickly() {
    let tower = |last: &str| {
        let ladder: String = (0..40).map(|step| format!("a{step} && (b{step} || (")).collect();
        Formula::read(&format!("{ladder}{last}{}", "))".repeat(40)))
    };
    assert!(!matches!(tower("x"), Formula::Opaque(_)));
    assert!(!tower("x").implies(&tower("y")));
    let choices = |last: &str| {
        let chain: String = (0..40).map(|step| format!("a{step} ? b{step} : ")).collect();
        Formula::read(&format!("{chain}{last}"))
    };
    assert!(!matches!(choices("x"), Formula::Opaque(_)));
    assert!(!choices("x").implies(&choices("y")));
}
