//! Changing a value until it satisfies a rule.

use serde_json::Value;

use super::super::make::{Maker, Pin};
use super::super::plan::{Id, Kind};
use super::super::random::Random;
use super::evaluate::{Bound, Scope, evaluate, place, range, truth};
use super::place::at_mut;
use super::read::{Expr, Quantifier, Relation, Seg};

/// A repair of one value.
pub(crate) struct Repair<'r, 'a> {
    pub(crate) maker: &'r Maker<'a>,
    pub(crate) random: &'r mut Random,
    /// The node of the value.
    pub(crate) node: Id,
    /// Parts that must stay, as paths from the value.
    pub(crate) pins: &'r [Pin<'r>],
    /// The number of changes that may still be tried.
    pub(crate) steps: usize,
}

impl Repair<'_, '_> {
    /// Changes the value until it most likely satisfies the rule. The engine decides if it does.
    pub(crate) fn rule(&mut self, expr: &Expr, root: &mut Value) -> bool {
        self.want(expr, root, &mut Vec::new(), true)
    }

    /// Changes the value until it most likely violates the rule.
    pub(crate) fn violate(&mut self, expr: &Expr, root: &mut Value) -> bool {
        self.want(expr, root, &mut Vec::new(), false)
    }

    pub(super) fn want(&mut self, expr: &Expr, root: &mut Value, scope: &mut Scope, goal: bool) -> bool {
        if truth(expr, root, scope) == Some(goal) {
            return true;
        }
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        match (expr, goal) {
            (Expr::Constant(value), _) => value.as_bool() == Some(goal),
            (Expr::Not(inner), _) => self.want(inner, root, scope, !goal),
            (Expr::And(parts), true) | (Expr::Or(parts), false) => self.every(parts, root, scope, goal),
            (Expr::And(parts), false) | (Expr::Or(parts), true) => self.some(parts, root, scope, goal),
            (Expr::If(test, then, otherwise), _) => self.choose(test, then, otherwise, root, scope, goal),
            (Expr::Has(name, steps), true) => place(scope, name, steps).is_some_and(|place| self.ensure(&place, root)),
            (Expr::Has(name, steps), false) => place(scope, name, steps).is_some_and(|place| self.remove(&place, root)),
            (Expr::Part(name, steps), _) => match place(scope, name, steps) {
                Some(place) => self.set(&place, goal.into(), root) || !goal && self.remove(&place, root),
                None => false,
            },
            (Expr::Compare(relation, left, right), _) => {
                let relation = if goal { *relation } else { negated(*relation) };
                self.relate(relation, left, right, root, scope) || self.stir(expr, root, scope, goal)
            }
            (Expr::In(item, list), _) => {
                self.member(item, list, root, scope, goal) || self.stir(expr, root, scope, goal)
            }
            (Expr::Quantified(kind, over, variable, body), _) => {
                self.quantify(*kind, over, variable, body, root, scope, goal) || self.stir(expr, root, scope, goal)
            }
            (Expr::Call(..) | Expr::Else(..) | Expr::List(_), _) => self.stir(expr, root, scope, goal),
        }
    }

    /// Tries a change, and reverts it if it fails.
    pub(super) fn attempt(&mut self, root: &mut Value, change: impl FnOnce(&mut Self, &mut Value) -> bool) -> bool {
        let before = root.clone();
        let done = change(self, root);
        if !done {
            *root = before;
        }
        done
    }

    fn every(&mut self, parts: &[Expr], root: &mut Value, scope: &mut Scope, goal: bool) -> bool {
        let mut done = true;
        for part in parts {
            done &= self.want(part, root, scope, goal);
        }
        // A later part can undo an earlier one.
        done && (parts.iter().all(|part| truth(part, root, scope) != Some(!goal))
            || parts.iter().all(|part| self.want(part, root, scope, goal)))
    }

    fn some(&mut self, parts: &[Expr], root: &mut Value, scope: &mut Scope, goal: bool) -> bool {
        let mut order: Vec<&Expr> = parts.iter().collect();
        self.random.shuffle(&mut order);
        order.into_iter().any(|part| self.attempt(root, |me, root| me.want(part, root, scope, goal)))
    }

    fn choose(
        &mut self,
        test: &Expr,
        then: &Expr,
        otherwise: &Expr,
        root: &mut Value,
        scope: &mut Scope,
        goal: bool,
    ) -> bool {
        let now = truth(test, root, scope).unwrap_or(true);
        let keep = self.random.chance(3, 4);
        [now == keep, now != keep].into_iter().any(|way| {
            let branch = if way { then } else { otherwise };
            self.attempt(root, |me, root| {
                me.want(test, root, scope, way)
                    && me.want(branch, root, scope, goal)
                    && (truth(test, root, scope) != Some(!way) || me.want(test, root, scope, way))
            })
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a quantified expression")]
    fn quantify(
        &mut self,
        kind: Quantifier,
        over: &Expr,
        variable: &str,
        body: &Expr,
        root: &mut Value,
        scope: &mut Scope,
        goal: bool,
    ) -> bool {
        if range(over, root, scope).is_none()
            && let Expr::Part(name, steps) = over
            && let Some(place) = place(scope, name, steps)
        {
            self.ensure(&place, root);
        }
        let (relation, wanted) = match (kind, goal) {
            (Quantifier::All, true) | (Quantifier::Exists, false) => {
                return self.each(over, variable, body, root, scope, kind == Quantifier::All);
            }
            (Quantifier::Exists, true) => (Relation::AtLeast, 1),
            (Quantifier::All, false) => {
                let not = Expr::Not(Box::new(body.clone()));
                return self.count(over, variable, &not, Relation::AtLeast, 1, root, scope);
            }
            (Quantifier::One, true) => (Relation::Equal, 1),
            (Quantifier::One, false) => (Relation::Unequal, 1),
            (Quantifier::Filter | Quantifier::Map, _) => return false,
        };
        self.count(over, variable, body, relation, wanted, root, scope)
    }

    /// Makes every part pass a test, or fail it; removes parts that cannot.
    fn each(
        &mut self,
        over: &Expr,
        variable: &str,
        body: &Expr,
        root: &mut Value,
        scope: &mut Scope,
        goal: bool,
    ) -> bool {
        let Some(parts) = range(over, root, scope) else { return false };
        let mut taken_out = 0;
        for part in parts {
            let part = match part {
                Bound::Place(mut place) => {
                    if let Some(Seg::Item(index)) = place.last_mut() {
                        *index -= taken_out;
                    }
                    Bound::Place(place)
                }
                Bound::Value(_) => part,
            };
            scope.push((variable.to_owned(), part.clone()));
            let done = self.attempt(root, |me, root| me.want(body, root, scope, goal))
                && truth(body, root, scope) != Some(!goal);
            scope.pop();
            if done {
                continue;
            }
            match (part, over) {
                (Bound::Place(place), _) if self.remove(&place, root) => taken_out += 1,
                (Bound::Value(Value::String(key)), Expr::Part(name, steps)) => {
                    let Some(mut place) = place(scope, name, steps) else { return false };
                    place.push(Seg::Field(key));
                    if !self.rename(&place, variable, body, root, scope, goal) && !self.remove(&place, root) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Changes the key of a map entry to one that passes the test.
    fn rename(
        &mut self,
        at_key: &[Seg],
        variable: &str,
        body: &Expr,
        root: &mut Value,
        scope: &mut Scope,
        goal: bool,
    ) -> bool {
        let Some((Seg::Field(old), parent)) = at_key.split_last() else { return false };
        let (mut plain, mut patterns) = (Vec::new(), Vec::new());
        body.texts(&mut plain, &mut patterns);
        let candidates = super::pool::texts(&plain, &patterns, self.random);
        for candidate in candidates {
            scope.push((variable.to_owned(), Bound::Value(candidate.clone().into())));
            let holds = truth(body, root, scope);
            scope.pop();
            if holds == Some(goal)
                && let Some(Value::Object(map)) = at_mut(root, parent)
                && !map.contains_key(&candidate)
                && let Some(value) = map.remove(old)
            {
                map.insert(candidate, value);
                return true;
            }
        }
        false
    }

    fn member(&mut self, item: &Expr, list: &Expr, root: &mut Value, scope: &mut Scope, goal: bool) -> bool {
        if let (Expr::Part(name, steps), Some(Value::Array(mut allowed))) = (item, evaluate(list, root, scope))
            && let Some(place) = place(scope, name, steps)
            && goal
        {
            self.random.shuffle(&mut allowed);
            return allowed.into_iter().any(|value| self.set(&place, value, root));
        }
        let (Expr::Part(name, steps), Some(wanted)) = (list, evaluate(item, root, scope)) else { return false };
        let Some(mut place) = place(scope, name, steps) else { return false };
        if goal && !self.ensure(&place, root) {
            return false;
        }
        match (at_mut(root, &place), goal) {
            (Some(Value::Array(items)), true) => {
                items.push(wanted);
                let list = Value::Array(items.clone());
                self.fits(&place, &list)
            }
            (Some(Value::Array(items)), false) => {
                items.retain(|item| *item != wanted);
                true
            }
            (Some(Value::Object(_)), _) => {
                let Value::String(key) = wanted else { return false };
                place.push(Seg::Field(key));
                if goal { self.ensure(&place, root) } else { self.remove(&place, root) }
            }
            _ => false,
        }
    }

    /// Tries other values for the parts that the rule reads, until it passes or cannot be decided.
    fn stir(&mut self, expr: &Expr, root: &mut Value, scope: &mut Scope, goal: bool) -> bool {
        let mut found = Vec::new();
        expr.places(&mut found);
        let mut places: Vec<Vec<Seg>> = found.iter().filter_map(|(name, steps)| place(scope, name, steps)).collect();
        places.retain(|place| !place.is_empty() || is_scalar(root));
        places.dedup();
        if places.is_empty() {
            return false;
        }
        let (mut plain, mut patterns) = (Vec::new(), Vec::new());
        expr.texts(&mut plain, &mut patterns);
        let mut texts = super::pool::texts(&plain, &patterns, self.random);
        for round in 0..24 {
            let at_place = &places[self.random.index(places.len())];
            let takes_text = self.node_at(at_place).is_some_and(|node| self.takes_text(node)) || self.is_name(at_place);
            let changed = match round % 4 {
                3 => self.attempt(root, |me, root| me.remove(at_place, root)),
                _ if takes_text && !texts.is_empty() => {
                    let text = texts.swap_remove(self.random.index(texts.len()));
                    self.attempt(root, |me, root| me.set(at_place, text.into(), root))
                }
                _ => self.attempt(root, |me, root| me.renew(at_place, root)),
            };
            // The engine decides about undecidable rules, and a refusal comes back here.
            let told = truth(expr, root, scope);
            if changed && (told == Some(goal) || told.is_none() && self.random.chance(1, 3)) {
                return true;
            }
        }
        false
    }

    pub(super) fn is_name(&self, place: &[Seg]) -> bool {
        self.maker.plan.root == self.node
            && matches!(place, [Seg::Field(first), Seg::Field(last)] if first == "metadata" && last == "name")
    }

    fn takes_text(&self, node: Id) -> bool {
        match &self.maker.plan.node(node).kind {
            Kind::Text(_) => true,
            Kind::Choice(options) => options.iter().any(|option| self.takes_text(*option)),
            _ => false,
        }
    }
}

pub(super) fn negated(relation: Relation) -> Relation {
    match relation {
        Relation::Equal => Relation::Unequal,
        Relation::Unequal => Relation::Equal,
        Relation::Less => Relation::AtLeast,
        Relation::AtMost => Relation::Greater,
        Relation::Greater => Relation::AtMost,
        Relation::AtLeast => Relation::Less,
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}
