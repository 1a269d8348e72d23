//! `x-kubernetes-validations`, compared as sets of rules that must all be true.

use kube_cel::cel::common::ast::IdedExpr;

use super::junctor;
use super::node::Scene;
use super::rule_logic::Formula;
use super::{Direction, What};
use crate::structural::{Path, Rule, Schema, parse_rule};

const KEYWORD: &str = "x-kubernetes-validations";

/// Minimum similarity of two rules that count as one edited rule.
const MIN_SIMILARITY: f64 = 0.6;

/// A rule with its tree, if the parser can read it, and its formula.
struct ParsedRule<'a> {
    rule: &'a Rule,
    tree: Option<IdedExpr>,
    formula: Formula,
    /// The time at which it runs: on updates only if it uses `oldSelf`, unless that is optional. Rules that run at
    /// different times are not comparable.
    when: (bool, bool),
}

impl Scene<'_> {
    pub(super) fn rules(&mut self) {
        // Most rules do not change, and parsing one takes longer than all other keywords of a node.
        if self.old.rules.iter().map(content).eq(self.new.rules.iter().map(content)) {
            return;
        }
        let (old, new) = (parse_rules(self.old), parse_rules(self.new));
        let mut gone: Vec<_> = old.iter().filter(|rule| !has(&new, rule)).collect();
        for rule in new.iter().filter(|rule| !has(&old, rule)) {
            let (direction, partner) = self.place(rule, &old, &gone);
            let partner = partner.map(|at| gone.remove(at).rule);
            self.report_rule(direction, partner, Some(rule.rule));
        }
        for rule in gone {
            let direction =
                if all_like(rule, &new).implies(&rule.formula) { Direction::Harmless } else { Direction::Wider };
            self.report_rule(direction, Some(rule.rule), None);
        }
        // Clients know the message of the first rule with the same meaning.
        let reworded = new.iter().any(|rule| {
            let before = old.iter().find(|old| is_same(old, rule));
            before.is_some_and(|before| words(before.rule) != words(rule.rule))
        });
        if reworded {
            let keyword = KEYWORD.to_owned();
            self.report(KEYWORD, Direction::Harmless, What::Annotated { keyword });
        }
    }

    /// Returns the direction of a new rule, and the removed rule that it replaces.
    fn place(
        &self,
        new: &ParsedRule<'_>,
        old: &[ParsedRule<'_>],
        gone: &[&ParsedRule<'_>],
    ) -> (Direction, Option<usize>) {
        let find =
            |wanted: &dyn Fn(&ParsedRule<'_>) -> bool| gone.iter().position(|old| old.when == new.when && wanted(old));
        let partner = find(&|old| old.formula.implies(&new.formula));
        if partner.is_some() || self.is_known(new, old) {
            let is_looser = partner.is_some_and(|at| !self.is_known(gone[at], std::slice::from_ref(new)));
            return (if is_looser { Direction::Wider } else { Direction::Harmless }, partner);
        }
        if let Some(at) = find(&|old| new.formula.implies(&old.formula)) {
            return (Direction::Narrower, Some(at));
        }
        match gone.iter().position(|old| is_edit(old.rule, new.rule)) {
            Some(at) => (Direction::Unknown, Some(at)),
            None => (Direction::Narrower, None),
        }
    }

    /// Returns true if all old objects satisfy a rule, by old rules that run at the same time and by the rest of the
    /// old schema.
    fn is_known(&self, rule: &ParsedRule<'_>, old: &[ParsedRule<'_>]) -> bool {
        let alike = old.iter().filter(|old| old.when == rule.when);
        let Some(tree) = &rule.tree else {
            return all_like(rule, old).implies(&rule.formula);
        };
        let node = self.node();
        let mut facts = node.unaltered(alike.filter_map(|old| old.tree.clone()));
        if rule.when == (false, false) {
            facts.extend(node.unaltered(junctor::trees(self.old).into_iter()));
        }
        node.entails(&facts, tree)
    }

    fn report_rule(&mut self, direction: Direction, old: Option<&Rule>, new: Option<&Rule>) {
        let transition = new.or(old).is_some_and(Rule::is_transition);
        let text = |rule: Option<&Rule>| rule.map(|rule| rule.rule.trim().to_owned());
        let what = What::RuleChanged { old: text(old), new: text(new), transition };
        let spans = (
            old.map_or_else(|| self.old.keyword_span(KEYWORD), |rule| rule.span),
            new.map_or_else(|| self.new.keyword_span(KEYWORD), |rule| rule.span),
        );
        let path: Path = self.at.path();
        self.report_at(path, spans, direction, what);
    }
}

fn parse_rules(schema: &Schema) -> Vec<ParsedRule<'_>> {
    let when = |rule: &Rule| (rule.is_transition(), rule.optional_old_self == Some(true));
    let rules = schema.rules.iter().map(|rule| {
        let tree = parse_rule(&rule.rule);
        let formula = tree.as_ref().map_or_else(|| Formula::unreadable(&rule.rule), Formula::of);
        ParsedRule { rule, formula, tree, when: when(rule) }
    });
    rules.collect()
}

fn is_same(left: &ParsedRule<'_>, right: &ParsedRule<'_>) -> bool {
    left.formula == right.formula && left.when == right.when
}

fn has(rules: &[ParsedRule<'_>], one: &ParsedRule<'_>) -> bool {
    rules.iter().any(|rule| is_same(rule, one))
}

/// All rules that run at the same time as this one, joined.
fn all_like(one: &ParsedRule<'_>, rules: &[ParsedRule<'_>]) -> Formula {
    let alike = rules.iter().filter(|rule| rule.when == one.when);
    Formula::all(alike.map(|rule| rule.formula.clone()))
}

/// Returns the parts of a rule that clients see when it fails.
fn words(rule: &Rule) -> [&Option<String>; 4] {
    [&rule.message, &rule.message_expression, &rule.reason, &rule.field_path]
}

/// All parts of a rule.
fn content(rule: &Rule) -> (&str, [&Option<String>; 4], Option<bool>) {
    (&rule.rule, words(rule), rule.optional_old_self)
}

fn is_edit(old: &Rule, new: &Rule) -> bool {
    (old.message.is_some() && old.message == new.message)
        || strsim::normalized_levenshtein(&old.rule, &new.rule) >= MIN_SIMILARITY
}
