//! Setting, creating and removing parts of a value, as its schema and its pins allow.

use serde_json::Value;

use super::super::make::Want;
use super::super::plan::Id;
use super::evaluate::at;
use super::read::Seg;
use super::repair::Repair;
use crate::structural::Step;

impl Repair<'_, '_> {
    /// The node of a part.
    pub(super) fn node_at(&self, place: &[Seg]) -> Option<Id> {
        place.iter().try_fold(self.node, |node, step| {
            let step = match step {
                Seg::Field(name) => Step::Field(name.clone()),
                Seg::Item(_) => Step::Item,
            };
            self.maker.plan.child(node, &step)
        })
    }

    fn is_pinned(&self, place: &[Seg]) -> bool {
        let kept = self.pins.iter().filter(|pin| pin.want != Want::Absent);
        kept.into_iter().any(|pin| pin.steps.len() >= place.len() && leads(pin.steps, place))
    }

    /// Returns true if a part is pinned to its value, or to being absent.
    fn is_settled(&self, place: &[Seg]) -> bool {
        let firm = self.pins.iter().filter(|pin| pin.want != Want::Present);
        firm.into_iter().any(|pin| pin.steps.len() <= place.len() && leads(pin.steps, place))
    }

    pub(super) fn fits(&self, place: &[Seg], value: &Value) -> bool {
        if place.is_empty() {
            return self.maker.plan.admits(self.node, value);
        }
        if let Some(node) = self.node_at(place) {
            return self.maker.plan.admits(node, value);
        }
        // Metadata has no separate node.
        let valid = value.as_str().is_some_and(crate::kubernetes::is_dns_subdomain_1123);
        self.is_name(place) && valid && self.maker.plan.name.is_none_or(|node| self.maker.plan.admits(node, value))
    }

    /// Sets a value if its schema admits it.
    pub(super) fn set(&mut self, place: &[Seg], value: Value, root: &mut Value) -> bool {
        if self.is_settled(place) || !self.fits(place, &value) {
            return false;
        }
        if at(root, place).is_none() && !self.ensure(place, root) {
            return false;
        }
        match at_mut(root, place) {
            Some(slot) => {
                *slot = value;
                true
            }
            None => false,
        }
    }

    /// Creates a part, with its parents.
    pub(super) fn ensure(&mut self, place: &[Seg], root: &mut Value) -> bool {
        for end in 1..=place.len() {
            let part = &place[..end];
            if at(root, part).is_some_and(|value| !value.is_null() || end == place.len()) {
                continue;
            }
            if self.is_settled(part) {
                return false;
            }
            let Some(node) = self.node_at(part) else { return false };
            let Some(made) = self.maker.make(node, self.random, 0, &[]) else { return false };
            let parent = at_mut(root, &part[..end - 1]);
            match (parent, &part[end - 1]) {
                (Some(Value::Object(map)), Seg::Field(name)) => drop(map.insert(name.clone(), made)),
                (Some(Value::Array(items)), Seg::Item(index)) if items.len() == *index => items.push(made),
                _ => return false,
            }
            if let Some(Value::Object(_)) = at(root, part) {
                self.maker.fill(node, at_mut(root, part));
            }
        }
        true
    }

    /// Removes a part, unless it must stay or would come back.
    pub(crate) fn take_out(&mut self, place: &[Seg], root: &mut Value) -> bool {
        at(root, place).is_some() && self.remove(place, root)
    }

    pub(super) fn remove(&mut self, place: &[Seg], root: &mut Value) -> bool {
        if at(root, place).is_none() {
            return true;
        }
        if self.is_pinned(place) {
            return false;
        }
        let Some((last, parent)) = place.split_last() else { return false };
        let Some(node) = self.node_at(parent) else { return false };
        match (last, at_mut(root, parent)) {
            (Seg::Field(name), Some(Value::Object(map))) => {
                let stays = self.maker.must_stay(node, name);
                if !stays {
                    map.remove(name);
                }
                !stays
            }
            (Seg::Item(index), Some(Value::Array(items))) => {
                if items.len() > self.maker.least_items(node) {
                    items.remove(*index);
                    return true;
                }
                false
            }
            _ => false,
        }
    }

    /// Generates a new value for a part.
    pub(super) fn renew(&mut self, place: &[Seg], root: &mut Value) -> bool {
        let Some(node) = self.node_at(place) else { return false };
        let budget = usize::try_from(self.random.below(8)).unwrap_or_default();
        let Some(made) = self.maker.make(node, self.random, budget, &[]) else { return false };
        self.set(place, made, root)
    }
}

/// Returns true if a path and a place agree, up to the end of the shorter one.
fn leads(path: &[Step], place: &[Seg]) -> bool {
    path.iter().zip(place).all(|(step, seg)| match (step, seg) {
        (Step::Field(pinned), Seg::Field(name)) => pinned == name,
        (Step::Value, Seg::Field(_)) => true,
        (Step::Item, Seg::Item(index)) => *index == 0,
        _ => false,
    })
}

pub(super) fn at_mut<'v>(value: &'v mut Value, steps: &[Seg]) -> Option<&'v mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Seg::Field(name) => value.get_mut(name),
        Seg::Item(index) => value.get_mut(index),
    })
}
