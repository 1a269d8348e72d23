//! One compiled map, which converts objects between two versions.

use std::borrow::Cow;

use serde_json::Value;

use super::codec::Side;
use super::operator::{Operator, Write};
use super::path::{Emptied, FieldPath};
use super::stash::take_annotation;
use super::{Refusal, difference};
use crdproof_schema::structural::{self, Schema};

/// A compiled map.
#[derive(Debug)]
pub(super) struct Mapping<'a> {
    pub(super) between: [&'a str; 2],
    pub(super) schemas: [Option<&'a Schema>; 2],
    pub(super) operators: Vec<Operator>,
    pub(super) defaults: Vec<Set>,
    pub(super) differences: Vec<WholeStash>,
}

/// A value for a field that is missing.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) side: Side,
    pub(super) path: FieldPath,
    pub(super) value: Value,
}

/// An annotation for everything that converting back would not restore.
#[derive(Debug)]
pub(super) struct WholeStash {
    pub(super) from: Side,
    pub(super) annotation: String,
}

impl Mapping<'_> {
    /// The side where a conversion between these versions starts.
    pub(super) fn start(&self, from: &str, to: &str) -> Option<Side> {
        let between = |side: &Side| self.between[side.index()] == from && self.between[side.other().index()] == to;
        Side::BOTH.into_iter().find(between)
    }

    /// Converts an object of one side to the other, and prunes it.
    pub(super) fn convert(&self, object: &Value, from: Side) -> Result<Value, Refusal> {
        let mut source = Cow::Borrowed(object);
        let mut stashed = Vec::new();
        for whole in self.differences.iter().filter(|whole| whole.from != from) {
            stashed.extend(take_annotation(source.to_mut(), &whole.annotation));
        }
        let mut converted = self.translate(&source, from)?;
        for stashed in &stashed {
            difference::restore(stashed, &mut converted);
            self.prune(from.other(), &mut converted);
        }
        for whole in self.differences.iter().filter(|whole| whole.from == from) {
            let back = self.translate(&converted, from.other())?;
            if let Some(stash) = difference::difference_between(&self.without_losses(&source, from), &back) {
                let path = FieldPath::annotation(&whole.annotation);
                let put = path.put(&mut converted, &[], Value::String(stash.to_string()));
                put.map_err(|why| Refusal::new(path.to_string(), why))?;
            }
        }
        Ok(converted)
    }

    /// Removes the fields that are declared as lost, which are not stashed.
    fn without_losses(&self, source: &Value, from: Side) -> Value {
        let mut object = source.clone();
        for operator in &self.operators {
            if let Operator::Lost { side, path } = operator
                && *side == from
            {
                path.take(&mut object, Emptied::Stay);
            }
        }
        object
    }

    /// Performs the steps from taking to pruning.
    fn translate(&self, source: &Value, from: Side) -> Result<Value, Refusal> {
        let to = from.other();
        let mut object = source.clone();
        for default in self.defaults.iter().filter(|default| default.side == from) {
            default.path.visit_parents(&mut object, &mut |parent, name| {
                if parent.get(name) == Some(&default.value) {
                    parent.remove(name);
                }
            });
        }
        let mut operators: Vec<&Operator> = self.operators.iter().collect();
        operators.sort_by_key(|operator| std::cmp::Reverse(operator.depth(from)));
        let mut writes = Vec::new();
        for operator in operators {
            writes.extend(operator.take(from, source, &mut object)?);
        }
        writes.sort_by_key(Write::rank);
        for write in writes {
            write.carry_out(&mut object)?;
        }
        self.set(to, &mut object);
        self.prune(to, &mut object);
        Ok(object)
    }

    fn prune(&self, side: Side, object: &mut Value) {
        if let Some(schema) = self.schemas[side.index()] {
            structural::prune(schema, object);
        }
    }

    /// Sets constants, and then defaults, in existing objects.
    fn set(&self, to: Side, object: &mut Value) {
        for operator in &self.operators {
            if let Operator::Constant { side, path, value } = operator
                && *side == to
            {
                path.visit_parents(object, &mut |parent, name| {
                    parent.insert(name.to_owned(), value.clone());
                });
            }
        }
        for default in self.defaults.iter().filter(|default| default.side == to) {
            default.path.visit_parents(object, &mut |parent, name| {
                parent.entry(name.to_owned()).or_insert_with(|| default.value.clone());
            });
        }
    }
}
