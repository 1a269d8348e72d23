//! Values that satisfy their rules, and whole objects that a server admits.

use crate::document::pointer;
use serde_json::Value;

use super::generator::Scale;
use super::make::{Maker, Pin, below};
use super::plan::{Id, Kind};
use super::random::Random;
use super::solve::{Repair, Seg};
use crate::structural::{Outcome, Request, Step, default};

/// The maximum number of repairs of a value.
const ROUNDS: usize = 8;

/// The maximum number of changes that one repair may try.
const STEPS: usize = 400;

impl Maker<'_> {
    /// Repairs a value until it passes the rules and keywords of its node. Writes out the defaults inside it, because
    /// rules see them.
    pub(crate) fn settle(&self, id: Id, value: &mut Value, random: &mut Random, pins: &[Pin<'_>]) -> bool {
        let node = self.plan.node(id);
        for round in 0..ROUNDS {
            self.fill(id, Some(value));
            let failing = self.validator.failing_rules(&node.path, value);
            let mut held = true;
            if round > 0 && !random.burn() {
                return false;
            }
            for (rule, inconclusive) in failing {
                let goal = node.goals.iter().find(|goal| std::ptr::eq(goal.rule, rule));
                // A violation is often obvious even if the engine cannot decide.
                if inconclusive.is_some() && !goal.is_some_and(|goal| goal.plainly_fails(value)) {
                    continue;
                }
                held = false;
                if let Some(expr) = goal.and_then(|goal| goal.expr.as_ref()) {
                    let mut repair = Repair { maker: self, random, node: id, pins, steps: STEPS };
                    repair.rule(expr, value);
                }
            }
            if held {
                return (round == 0 && !node.checked) || self.plan.admits(id, value);
            }
        }
        false
    }

    /// A whole object that our own validator admits.
    pub(crate) fn object_of(&self, random: &mut Random, budget: usize, pins: &[Pin<'_>]) -> Option<Value> {
        random.refuel();
        let mut object = self.make(self.plan.root, random, budget, pins)?;
        if self.certain {
            return Some(object);
        }
        if self.tested_in_parts {
            if self.plan.has_defaults() {
                self.strip(self.plan.root, &mut object, random, pins);
            }
            return Some(object);
        }
        self.finish(&mut object, random, pins).then_some(object)
    }

    /// Repairs an object as a whole: a repair of one part can break another part.
    pub(crate) fn finish(&self, object: &mut Value, random: &mut Random, pins: &[Pin<'_>]) -> bool {
        for round in 0..ROUNDS {
            let faults = self.faults(object);
            if faults.is_empty() {
                self.strip(self.plan.root, object, random, pins);
                return true;
            }
            default(self.schema, object);
            self.settle_below(self.plan.root, object, random, pins, 0);
            if round > 1 {
                for pointer in faults {
                    self.give_up(&pointer, object, random, pins);
                }
            }
        }
        false
    }

    /// The pointers to values that a server would refuse: on creation, and with its status.
    pub(crate) fn faults(&self, object: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        for status_subresource in [false, true] {
            if status_subresource && !(self.status_subresource && self.status_is_missed()) {
                continue;
            }
            match self.judge(object, status_subresource).outcome {
                Outcome::Admitted => {}
                Outcome::Refused(violations) => {
                    faults.extend(violations.into_iter().map(|violation| violation.pointer));
                }
                Outcome::Malformed(_) => faults.push(String::new()),
            }
        }
        faults
    }

    /// Returns true if an object can be valid with its status and invalid without it: only constraints on the whole
    /// object depend on it.
    fn status_is_missed(&self) -> bool {
        let root = self.schema;
        !root.rules.is_empty()
            || root.required.iter().any(|name| name == "status")
            || root.min_properties.is_some()
            || root.enumeration.is_some()
            || root.junctors().next().is_some()
    }

    /// Returns the predicted response of a server to the creation of an object.
    pub(crate) fn judge(&self, object: &Value, status_subresource: bool) -> crate::structural::Admission {
        self.validator.admit(&self.request(object, status_subresource))
    }

    /// A request to create an object.
    pub(crate) fn request<'r>(&'r self, object: &'r Value, status_subresource: bool) -> Request<'r> {
        let (group, version) = self.api_version.split_once('/').unwrap_or(("", &self.api_version));
        Request {
            object,
            old: None,
            group,
            version,
            kind: &self.kind,
            namespaced: self.namespace.is_some(),
            status_subresource,
            scale: self.scale.as_ref().map(Scale::paths),
        }
    }

    /// Repairs every part that has rules, parts before the whole.
    fn settle_below(&self, id: Id, value: &mut Value, random: &mut Random, pins: &[Pin<'_>], depth: usize) {
        if depth > 64 {
            return;
        }
        match value {
            Value::Object(map) => {
                for (name, value) in map.iter_mut() {
                    if let Some(child) = self.plan.child(id, &Step::Field(name.clone())) {
                        let pins = below(pins, |step| {
                            matches!(step, Step::Field(pinned) if pinned == name) || *step == Step::Value
                        });
                        self.settle_below(child, value, random, &pins, depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                let Some(child) = self.plan.child(id, &Step::Item) else { return };
                for (index, value) in items.iter_mut().enumerate() {
                    let pins = if index == 0 { below(pins, |step| *step == Step::Item) } else { Vec::new() };
                    self.settle_below(child, value, random, &pins, depth + 1);
                }
            }
            Value::Null => return,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        let node = self.plan.node(id);
        if !node.pool.is_empty() {
            if pins.is_empty()
                && !self.plan.obeys(id, value, &self.validator)
                && let Some(other) = random.pick(&node.pool)
            {
                *value = other.clone();
            }
        } else if !node.goals.is_empty() && !matches!(node.kind, Kind::Impossible(_)) {
            self.settle(id, value, random, pins);
        }
    }

    /// Removes the nearest optional part around a fault.
    fn give_up(&self, pointer: &str, object: &mut Value, random: &mut Random, pins: &[Pin<'_>]) {
        let mut place: Vec<Seg> = Vec::new();
        let mut at = &*object;
        for token in pointer.split('/').skip(1) {
            let name = pointer::unescape(token);
            let seg = match at {
                Value::Array(_) => Seg::Item(name.parse().unwrap_or_default()),
                _ => Seg::Field(name.into_owned()),
            };
            let next = match &seg {
                Seg::Field(name) => at.get(name),
                Seg::Item(index) => at.get(index),
            };
            let Some(next) = next else { break };
            at = next;
            place.push(seg);
        }
        let mut repair = Repair { maker: self, random, node: self.plan.root, pins, steps: STEPS };
        while !place.is_empty() {
            if repair.take_out(&place, object) {
                return;
            }
            place.pop();
        }
    }

    /// Sometimes removes values that the server would default to the same.
    fn strip(&self, id: Id, value: &mut Value, random: &mut Random, pins: &[Pin<'_>]) {
        match value {
            Value::Object(map) => {
                let node = self.plan.node(id);
                map.retain(|name, value| {
                    let Some(child) = self.plan.child(id, &Step::Field(name.clone())) else { return true };
                    let inner = below(pins, |step| matches!(step, Step::Field(pinned) if pinned == name));
                    let stated = node.schemas.iter().any(|schema| schema.properties.contains_key(name));
                    if stated
                        && inner.is_empty()
                        && self.plan.node(child).default.as_ref() == Some(value)
                        && random.chance(1, 2)
                    {
                        return false;
                    }
                    self.strip(child, value, random, &inner);
                    true
                });
            }
            Value::Array(items) => {
                let Some(child) = self.plan.child(id, &Step::Item) else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    let pins = if index == 0 { below(pins, |step| *step == Step::Item) } else { Vec::new() };
                    self.strip(child, item, random, &pins);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
