//! `x-kubernetes-validations`, compared as sets of rules that must all hold.

use super::cel::Expr;
use super::node::Scene;
use super::{Direction, What};
use crate::structural::{Path, Rule, Schema};

const KEYWORD: &str = "x-kubernetes-validations";

/// Rules at least this alike are one rule that was edited.
const ALIKE: f64 = 0.6;

/// A rule with its meaning.
struct Read<'a> {
    rule: &'a Rule,
    expr: Expr,
    /// When it runs: on updates only if it speaks of `oldSelf`, unless that is optional. Rules that
    /// run at different times say nothing about each other.
    when: (bool, bool),
}

impl Scene<'_> {
    pub(super) fn rules(&mut self) {
        let (old, new) = (read(self.old), read(self.new));
        let mut gone: Vec<_> = old.iter().filter(|rule| !has(&new, rule)).collect();
        for rule in new.iter().filter(|rule| !has(&old, rule)) {
            let (direction, partner) = self.place(rule, &old, &gone);
            let partner = partner.map(|at| gone.remove(at).rule);
            self.tell_rule(direction, partner, Some(rule.rule));
        }
        for rule in gone {
            let direction =
                if all_like(rule, &new).implies(&rule.expr) { Direction::Harmless } else { Direction::Wider };
            self.tell_rule(direction, Some(rule.rule), None);
        }
        // The first rule of the same meaning is the one whose words a client knows.
        let reworded = new.iter().any(|rule| {
            let before = old.iter().find(|old| is_same(old, rule));
            before.is_some_and(|before| words(before.rule) != words(rule.rule))
        });
        if reworded {
            let keyword = KEYWORD.to_owned();
            self.tell(KEYWORD, Direction::Harmless, What::Annotated { keyword });
        }
    }

    /// Which way a new rule moves things, and the rule among those gone that it took the place of.
    fn place(&self, new: &Read<'_>, old: &[Read<'_>], gone: &[&Read<'_>]) -> (Direction, Option<usize>) {
        let find = |wanted: &dyn Fn(&Read<'_>) -> bool| gone.iter().position(|old| old.when == new.when && wanted(old));
        if self.known(new, old).implies(&new.expr) {
            return match find(&|old| old.expr.implies(&new.expr)) {
                Some(at) => (Direction::Wider, Some(at)),
                None => (Direction::Harmless, None),
            };
        }
        if new.expr.holds_without(&self.fresh_fields()) {
            return (Direction::Harmless, None);
        }
        if let Some(at) = find(&|old| new.expr.implies(&old.expr)) {
            return (Direction::Narrower, Some(at));
        }
        match gone.iter().position(|old| is_edit(old.rule, new.rule)) {
            Some(at) => (Direction::Unknown, Some(at)),
            None => (Direction::Narrower, None),
        }
    }

    /// All that old objects are known to satisfy when this rule runs. What is required is there.
    fn known(&self, new: &Read<'_>, old: &[Read<'_>]) -> Expr {
        let required = self.old.required.iter();
        let present = required.map(|name| Expr::read(&format!("has(self.{name})")));
        Expr::all(std::iter::once(all_like(new, old)).chain(present))
    }

    fn tell_rule(&mut self, direction: Direction, old: Option<&Rule>, new: Option<&Rule>) {
        let transition = new.or(old).is_some_and(Rule::is_transition);
        let text = |rule: Option<&Rule>| rule.map(|rule| rule.rule.trim().to_owned());
        let what = What::RuleChanged { old: text(old), new: text(new), transition };
        let spans = (
            old.map_or_else(|| self.old.keyword_span(KEYWORD), |rule| rule.span),
            new.map_or_else(|| self.new.keyword_span(KEYWORD), |rule| rule.span),
        );
        let path: Path = self.at.path();
        self.tell_at(path, spans, direction, what);
    }

    /// Fields below this node that no old object can have, as `a.b`.
    fn fresh_fields(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect_fresh(self.old, self.new, "", &mut found);
        found
    }
}

fn collect_fresh(old: &Schema, new: &Schema, prefix: &str, found: &mut Vec<String>) {
    if old.preserves_unknown() || old.additional.is_some() {
        return;
    }
    for (name, property) in &new.properties {
        match old.properties.get(name) {
            Some(before) => collect_fresh(before, property, &format!("{prefix}{name}."), found),
            None => found.push(format!("{prefix}{name}")),
        }
    }
}

fn read(schema: &Schema) -> Vec<Read<'_>> {
    let when = |rule: &Rule| (rule.is_transition(), rule.optional_old_self == Some(true));
    let rules = schema.rules.iter().map(|rule| Read { rule, expr: Expr::read(&rule.rule), when: when(rule) });
    rules.collect()
}

fn is_same(left: &Read<'_>, right: &Read<'_>) -> bool {
    left.expr == right.expr && left.when == right.when
}

fn has(rules: &[Read<'_>], one: &Read<'_>) -> bool {
    rules.iter().any(|rule| is_same(rule, one))
}

/// All rules that run when this one does, as one.
fn all_like(one: &Read<'_>, rules: &[Read<'_>]) -> Expr {
    let alike = rules.iter().filter(|rule| rule.when == one.when);
    Expr::all(alike.map(|rule| rule.expr.clone()))
}

/// What a client is told when the rule fails.
fn words(rule: &Rule) -> [&Option<String>; 4] {
    [&rule.message, &rule.message_expression, &rule.reason, &rule.field_path]
}

fn is_edit(old: &Rule, new: &Rule) -> bool {
    (old.message.is_some() && old.message == new.message)
        || strsim::normalized_levenshtein(&old.rule, &new.rule) >= ALIKE
}
