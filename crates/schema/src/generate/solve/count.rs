//! Repairs of comparisons: numbers, sizes, and counts of conditions.

use serde_json::Value;

use super::evaluate::{Bound, Scope, at, compare, evaluate, place, range, truth};
use super::read::{Expr, Quantifier, Relation, Seg};
use super::repair::Repair;

impl Repair<'_, '_> {
    /// Changes one side of a comparison, or the other.
    pub(super) fn relate(
        &mut self,
        relation: Relation,
        left: &Expr,
        right: &Expr,
        root: &mut Value,
        scope: &mut Scope,
    ) -> bool {
        let turned = turned(relation);
        if let Some(conditions) = conditions(left)
            && let Some(wanted) = evaluate(right, root, scope).and_then(|value| value.as_i64())
        {
            return self.conditions(&conditions, relation, wanted, root, scope);
        }
        if is_condition(left) || is_condition(right) {
            return self.agree(relation, left, right, root, scope);
        }
        let first = self.random.chance(1, 2);
        [first, !first].into_iter().any(|leftwards| {
            let (relation, side, other) = if leftwards { (relation, left, right) } else { (turned, right, left) };
            self.attempt(root, |me, root| me.side(relation, side, other, root, scope))
        })
    }

    /// Makes two conditions agree, or disagree.
    fn agree(&mut self, relation: Relation, left: &Expr, right: &Expr, root: &mut Value, scope: &mut Scope) -> bool {
        let same = match relation {
            Relation::Equal => true,
            Relation::Unequal => false,
            _ => return false,
        };
        let first = self.random.chance(1, 2);
        [first, !first].into_iter().any(|leftwards| {
            let (side, other) = if leftwards { (left, right) } else { (right, left) };
            let Some(other) = truth(other, root, scope) else { return false };
            self.attempt(root, |me, root| me.want(side, root, scope, other == same))
        })
    }

    /// Changes one side to satisfy a relation to the other.
    fn side(&mut self, relation: Relation, side: &Expr, other: &Expr, root: &mut Value, scope: &mut Scope) -> bool {
        match side {
            Expr::Part(name, steps) => {
                let Some(at_place) = place(scope, name, steps) else { return false };
                if evaluate(other, root, scope).is_none()
                    && let Expr::Part(name, steps) = other
                    && let Some(other) = place(scope, name, steps)
                {
                    self.ensure(&other, root);
                }
                let Some(bound) = evaluate(other, root, scope) else { return false };
                self.number_or_value(relation, &at_place, &bound, root)
            }
            Expr::Else(value, otherwise) => {
                let (Some(bound), Expr::Part(name, steps)) = (evaluate(other, root, scope), &**value) else {
                    return false;
                };
                let Some(at_place) = place(scope, name, steps) else { return false };
                let absent = evaluate(otherwise, root, scope).and_then(|value| compare(relation, &value, &bound));
                if absent == Some(true) && self.remove(&at_place, root) {
                    return true;
                }
                self.number_or_value(relation, &at_place, &bound, root)
            }
            Expr::Call(name, args) if name == "size" => {
                let wanted = evaluate(other, root, scope).and_then(|value| value.as_i64());
                match (args.as_slice(), wanted) {
                    ([Expr::Part(name, steps)], Some(wanted)) => {
                        let Some(at_place) = place(scope, name, steps) else { return false };
                        self.resize(relation, &at_place, wanted, root)
                    }
                    ([Expr::Quantified(Quantifier::Filter, over, variable, body)], Some(wanted)) => {
                        self.count(over, variable, body, relation, wanted, root, scope)
                    }
                    ([Expr::Else(value, _)], Some(wanted)) => match &**value {
                        Expr::Part(name, steps) => {
                            let Some(at_place) = place(scope, name, steps) else { return false };
                            if compare(relation, &0.into(), &wanted.into()) == Some(true)
                                && self.remove(&at_place, root)
                            {
                                return true;
                            }
                            self.resize(relation, &at_place, wanted, root)
                        }
                        _ => false,
                    },
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn number_or_value(&mut self, relation: Relation, at_place: &[Seg], bound: &Value, root: &mut Value) -> bool {
        if relation == Relation::Unequal {
            let differs = |root: &Value| at(root, at_place) != Some(bound);
            return (0..6).any(|_| self.renew(at_place, root) && differs(root)) || self.remove(at_place, root);
        }
        let near: Vec<Value> = match (relation, bound.as_i64(), bound.as_f64()) {
            (Relation::Equal, ..) => vec![bound.clone()],
            (Relation::AtMost, Some(bound), _) => {
                vec![bound.saturating_sub(self.random.between(0, 3)).into(), bound.into(), 0.into()]
            }
            (Relation::Less, Some(bound), _) => {
                vec![bound.saturating_sub(self.random.between(1, 3)).into(), bound.saturating_sub(1).into(), 0.into()]
            }
            (Relation::AtLeast, Some(bound), _) => {
                vec![bound.saturating_add(self.random.between(0, 3)).into(), bound.into()]
            }
            (Relation::Greater, Some(bound), _) => {
                vec![bound.saturating_add(self.random.between(1, 3)).into(), bound.saturating_add(1).into()]
            }
            (Relation::Less | Relation::AtMost, None, Some(bound)) => vec![(bound - 1.0).into(), bound.into()],
            (Relation::Greater | Relation::AtLeast, None, Some(bound)) => vec![(bound + 1.0).into(), bound.into()],
            _ => Vec::new(),
        };
        let mut near = near.into_iter().filter(|value| compare(relation, value, bound) == Some(true));
        near.any(|value| self.set(at_place, value, root))
    }

    /// Resizes a list, a map or a string.
    fn resize(&mut self, relation: Relation, at_place: &[Seg], wanted: i64, root: &mut Value) -> bool {
        let holds = |size: usize| {
            i64::try_from(size).is_ok_and(|size| compare(relation, &size.into(), &wanted.into()) == Some(true))
        };
        if at(root, at_place).is_none() && !self.ensure(at_place, root) {
            return false;
        }
        for _ in 0..64 {
            let Some(value) = at(root, at_place) else { return false };
            let size = match value {
                Value::Array(items) => items.len(),
                Value::Object(map) => map.len(),
                Value::String(text) => text.chars().count(),
                _ => return false,
            };
            if holds(size) {
                return true;
            }
            let grow = (size..=size + 300).any(holds);
            match value {
                Value::Array(_) if grow => {
                    let item: Vec<Seg> = at_place.iter().cloned().chain([Seg::Item(size)]).collect();
                    if !self.ensure(&item, root) {
                        return false;
                    }
                }
                Value::Array(_) => {
                    let item: Vec<Seg> = at_place.iter().cloned().chain([Seg::Item(size - 1)]).collect();
                    if !self.remove(&item, root) {
                        return false;
                    }
                }
                Value::Object(map) => {
                    let key = if grow {
                        super::super::format::word(self.random)
                    } else {
                        let keys: Vec<&String> = map.keys().collect();
                        self.random.pick(&keys).map(|key| (*key).clone()).unwrap_or_default()
                    };
                    let entry: Vec<Seg> = at_place.iter().cloned().chain([Seg::Field(key)]).collect();
                    if !(if grow { self.ensure(&entry, root) } else { self.remove(&entry, root) }) {
                        return false;
                    }
                }
                Value::String(_) => {
                    let length = (0..=4096).find(|length| holds(*length) && (*length > 0 || wanted == 0));
                    return length.is_some_and(|length| self.text_of_length(at_place, length, root));
                }
                _ => return false,
            }
        }
        false
    }

    fn text_of_length(&mut self, at_place: &[Seg], length: usize, root: &mut Value) -> bool {
        if length == 0 {
            return self.set(at_place, "".into(), root);
        }
        if (0..4).any(|_| {
            self.renew(at_place, root)
                && at(root, at_place).and_then(Value::as_str).is_some_and(|text| text.chars().count() == length)
        }) {
            return true;
        }
        self.set(at_place, "x".repeat(length).into(), root)
    }

    /// Makes this many parts of a list pass a test.
    #[expect(clippy::too_many_arguments, reason = "the parts of a quantified expression")]
    pub(super) fn count(
        &mut self,
        over: &Expr,
        variable: &str,
        body: &Expr,
        relation: Relation,
        wanted: i64,
        root: &mut Value,
        scope: &mut Scope,
    ) -> bool {
        if let Expr::List(conditions) = over {
            // `[has(self.a), has(self.b)].filter(x, x)`: the items are the conditions.
            let conditions: Vec<&Expr> = conditions.iter().collect();
            return self.conditions(&conditions, relation, wanted, root, scope);
        }
        for _ in 0..12 {
            let Some(parts) = range(over, root, scope) else { return false };
            let mut passing = Vec::new();
            let mut failing = Vec::new();
            for part in parts {
                scope.push((variable.to_owned(), part.clone()));
                let holds = truth(body, root, scope);
                scope.pop();
                if holds == Some(true) { passing.push(part) } else { failing.push(part) }
            }
            let count = i64::try_from(passing.len()).unwrap_or(i64::MAX);
            if compare(relation, &count.into(), &wanted.into()) == Some(true) {
                return true;
            }
            let grow = compare(relation, &(count + 1).into(), &wanted.into()) == Some(true)
                || matches!(relation, Relation::AtLeast | Relation::Greater)
                || relation == Relation::Equal && count < wanted;
            let changed = if grow {
                self.raise(over, variable, body, &failing, root, scope)
            } else {
                self.lower(variable, body, &passing, root, scope)
            };
            if !changed {
                return false;
            }
        }
        false
    }

    /// Makes one more part pass, a new one if no other does.
    fn raise(
        &mut self,
        over: &Expr,
        variable: &str,
        body: &Expr,
        failing: &[Bound],
        root: &mut Value,
        scope: &mut Scope,
    ) -> bool {
        let mut candidates: Vec<Bound> = failing.to_vec();
        self.random.shuffle(&mut candidates);
        if let Expr::Part(name, steps) = over
            && let Some(mut at_place) = place(scope, name, steps)
            && let Some(Value::Array(items)) = at(root, &at_place)
        {
            at_place.push(Seg::Item(items.len()));
            candidates.insert(candidates.len().min(2), Bound::Place(at_place));
        }
        candidates.into_iter().any(|part| {
            let Bound::Place(at_place) = &part else { return false };
            self.attempt(root, |me, root| {
                if !me.ensure(at_place, root) {
                    return false;
                }
                scope.push((variable.to_owned(), part.clone()));
                let done = me.want(body, root, scope, true) && truth(body, root, scope) == Some(true);
                scope.pop();
                done
            })
        })
    }

    /// Makes one part fail, or removes it.
    fn lower(&mut self, variable: &str, body: &Expr, passing: &[Bound], root: &mut Value, scope: &mut Scope) -> bool {
        passing.iter().rev().any(|part| {
            let Bound::Place(at_place) = part else { return false };
            if self.remove(at_place, root) {
                return true;
            }
            self.attempt(root, |me, root| {
                scope.push((variable.to_owned(), part.clone()));
                let done = me.want(body, root, scope, false);
                scope.pop();
                done
            })
        })
    }

    /// Makes this many of several conditions true.
    fn conditions(
        &mut self,
        conditions: &[&Expr],
        relation: Relation,
        wanted: i64,
        root: &mut Value,
        scope: &mut Scope,
    ) -> bool {
        let mut order = conditions.to_vec();
        self.random.shuffle(&mut order);
        for _ in 0..=2 * order.len() {
            let holding = order.iter().filter(|condition| truth(condition, root, scope) == Some(true)).count();
            let count = i64::try_from(holding).unwrap_or(i64::MAX);
            if compare(relation, &count.into(), &wanted.into()) == Some(true) {
                return true;
            }
            let grow = match relation {
                Relation::AtLeast | Relation::Greater => true,
                Relation::AtMost | Relation::Less => false,
                Relation::Equal | Relation::Unequal => count < wanted,
            };
            let changed = order.iter().any(|condition| {
                truth(condition, root, scope) == Some(!grow)
                    && self.attempt(root, |me, root| me.want(condition, root, scope, grow))
            });
            if !changed {
                return false;
            }
        }
        false
    }
}

/// Reads `(has(a) ? 1 : 0) + (has(b) ? 1 : 0)`, or the size of a filtered list of conditions.
fn conditions(expr: &Expr) -> Option<Vec<&Expr>> {
    match expr {
        Expr::If(test, then, otherwise) => {
            let counts = **then == Expr::Constant(1.into()) && **otherwise == Expr::Constant(0.into());
            counts.then(|| vec![&**test])
        }
        Expr::Call(name, args) if name == "_+_" => match args.as_slice() {
            [left, right] => {
                let mut all = conditions(left)?;
                all.extend(conditions(right)?);
                Some(all)
            }
            _ => None,
        },
        _ => None,
    }
}

fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Has(..) | Expr::Not(_) | Expr::And(_) | Expr::Or(_) | Expr::In(..) | Expr::Compare(..) => true,
        Expr::Quantified(kind, ..) => !matches!(kind, Quantifier::Filter | Quantifier::Map),
        _ => false,
    }
}

fn turned(relation: Relation) -> Relation {
    match relation {
        Relation::Equal => Relation::Equal,
        Relation::Unequal => Relation::Unequal,
        Relation::Less => Relation::Greater,
        Relation::AtMost => Relation::AtLeast,
        Relation::Greater => Relation::Less,
        Relation::AtLeast => Relation::AtMost,
    }
}
