//! Facts about old objects: the rules and combined schemas of the old state.

use std::collections::BTreeSet;

use kube_cel::cel::common::ast::IdedExpr;

use super::junctor;
use super::known;
use super::node::Scene;
use super::presence::{Node, World};
use super::rule_logic::Formula;
use super::trees::{descend, visit_paths};
use crate::structural::{Rule, parse_rule};

impl Scene<'_> {
    /// Returns true if every old value satisfies a formula, by the old constraints on it and on its parent.
    pub(super) fn follows(&self, goal: &Formula) -> bool {
        let node = self.node();
        let mut facts: Vec<Formula> = node.facts().iter().map(Formula::of).collect();
        if let Some((above, name)) = self.above {
            facts.extend(above.facts().iter().map(|fact| Formula::of(&descend(fact, name))));
        }
        let world = World::default();
        !facts.is_empty() && Formula::entail(&facts, goal, &|literal| known::follows(node, &world, literal))
    }
}

impl Node<'_> {
    /// The rules and combined schemas of the old state that are true of old objects when a server validates them by the
    /// new one, as trees. Excludes rules about updates.
    pub(super) fn facts(&self) -> Vec<IdedExpr> {
        if self.old.rules.is_empty() && self.old.junctors().next().is_none() {
            return Vec::new();
        }
        let is_state = |rule: &&Rule| !rule.is_transition();
        let rules = self.old.rules.iter().filter(is_state).filter_map(|rule| parse_rule(&rule.rule));
        self.unaltered(rules.chain(junctor::trees(self.old)))
    }

    /// Keeps the trees that do not mention fields whose value differs under the new schema.
    pub(super) fn unaltered(&self, trees: impl Iterator<Item = IdedExpr>) -> Vec<IdedExpr> {
        let (fields, any) = self.altered();
        let is_unaltered = |tree: &IdedExpr| {
            let mut unaltered = true;
            visit_paths(tree, &mut |path| {
                unaltered &= path.first().map_or(!any, |field| !fields.contains(field.as_str()));
            });
            unaltered
        };
        trees.filter(is_unaltered).collect()
    }

    /// Returns true if a rule is true of every old object that satisfies these facts.
    pub(super) fn entails(&self, facts: &[IdedExpr], goal: &IdedExpr) -> bool {
        let about = fields(goal);
        // Unrelated facts cannot help to decide the rule.
        let is_related = |fact: &&IdedExpr| {
            let fields = fields(fact);
            about.is_empty() || fields.is_empty() || !fields.is_disjoint(&about)
        };
        let facts: Vec<_> = facts.iter().filter(is_related).collect();
        self.worlds([goal]).iter().all(|world| {
            let facts: Vec<_> = facts.iter().map(|fact| Formula::of(&world.apply(fact))).collect();
            let goal = Formula::of(&world.apply(goal));
            Formula::entail(&facts, &goal, &|literal| known::follows(*self, world, literal))
        })
    }
}

/// The first steps of all paths of a rule; an empty one for `self` as a whole.
fn fields(tree: &IdedExpr) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    visit_paths(tree, &mut |path| fields.extend([path.into_iter().next().unwrap_or_default()]));
    fields
}
