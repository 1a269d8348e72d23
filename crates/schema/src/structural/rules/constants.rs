//! Constants in rules that a server looks at when it compiles them: patterns, durations and times.

use kube_cel::cel::common::ast::{Expr, IdedExpr, LiteralValue};

use super::super::compare::children;
use super::super::format::{date_time_for_rules, go_duration};
use super::super::{Pattern, Rule, Schema};
use super::program::step;
use super::rewrite::parse;

/// Returns what is wrong with the constants of an expression. An expression that our parser cannot read has none.
pub fn constant_faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if let Ok(Ok(tree)) = super::program::guarded(|| parse(text)) {
        collect(&tree, &mut faults);
    }
    faults
}

fn collect(node: &IdedExpr, faults: &mut Vec<String>) {
    if let Expr::Call(call) = &node.expr {
        let mut operands = call.target.iter().map(|target| &**target).chain(&call.args);
        let (first, second) = (operands.next().and_then(literal), operands.next().and_then(literal));
        faults.extend(match (call.func_name.as_str(), first, second) {
            ("matches" | "find" | "findAll", _, Some(pattern)) => {
                Pattern::new(pattern).fault().map(|why| format!("the pattern {pattern:?} does not compile: {why}"))
            }
            ("duration", Some(text), None) if go_duration(text).is_none() => {
                Some(format!("{text:?} is not a duration"))
            }
            ("timestamp", Some(text), None) if date_time_for_rules(text).is_none() => {
                Some(format!("{text:?} is not a time as of RFC 3339"))
            }
            _ => None,
        });
    }
    for child in children(node) {
        collect(child, faults);
    }
}

fn literal(node: &IdedExpr) -> Option<&str> {
    match &node.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

impl Rule {
    /// Returns whether `fieldPath` leads from a schema to a field that it describes. Servers refuse any other path, also
    /// one to metadata, apiVersion and kind of the whole object, and one through a list.
    pub fn finds_field(&self, schema: &Schema, is_root: bool) -> bool {
        let Some(path) = self.field_path.as_deref().filter(|path| !path.is_empty()) else { return true };
        let mut node = Some(schema);
        let mut rest = path;
        let mut depth = 0;
        while !rest.is_empty() {
            let Some((name, next)) = step(rest) else { return false };
            let is_meta = is_root && depth == 0 && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
            let known = node.and_then(|node| node.properties.get(&name).or_else(|| node.values()));
            // An empty name is only a key between quotes.
            if is_meta || known.is_none() || name.is_empty() && !rest.starts_with('[') {
                return false;
            }
            (node, rest, depth) = (known, next, depth + 1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("self.matches('[')", 1)]
    #[case("self.all(x, x.matches('a**') || x.find('(a') == '')", 2)]
    #[case("matches(self, '[')", 1)]
    #[case("self.matches('^a$') && self.matches('a' + '[')", 0)]
    #[case("duration('1x') > duration('1s')", 1)]
    #[case("timestamp('x') > timestamp('2020-01-01T00:00:00Z')", 1)]
    #[case("size(self.findAll('[', 1)) == 0", 1)]
    fn constants_are_read(#[case] rule: &str, #[case] faults: usize) {
        assert_eq!(constant_faults(rule).len(), faults, "{:?}", constant_faults(rule));
    }
}
