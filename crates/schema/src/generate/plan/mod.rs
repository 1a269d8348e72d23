//! A schema made ready to generate from: junctors resolved into variants, bounds intersected, patterns
//! compiled, what cannot be satisfied found out.

mod compile;
mod conjunction;
mod number;
mod parts;
mod text;

use serde_json::Value;

use super::solve::Goal;
use crate::kubernetes::KubeVersion;
use crate::structural::{Path, Schema, Validator, default, fits};

pub(crate) use compile::compile;
pub(crate) use number::{Floating, Whole};
pub(crate) use text::{Habit, Text, UNUSUAL};

/// The number of a node.
pub(crate) type Id = usize;

/// Why there is no value: the keyword that leaves none, at the field that it stands at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: no value satisfies `{keyword}`: {why}")]
pub struct Unsatisfiable {
    /// The field.
    pub path: Path,
    /// The keyword.
    pub keyword: String,
    /// Its problem.
    pub why: String,
}

/// All nodes; a node's parts are named by their numbers.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    pub(crate) root: Id,
    /// The node of `metadata.name`, where the schema says something about it.
    pub(crate) name: Option<Id>,
    pub(crate) kubernetes: KubeVersion,
}

/// The plan for values at one place.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) path: Path,
    /// The schemas that all apply here; the first one gives the structure.
    pub(crate) schemas: Vec<&'a Schema>,
    pub(crate) kind: Kind,
    /// Whether null is a value here.
    pub(crate) null: bool,
    /// What the server fills in, with the defaults inside it.
    pub(crate) default: Option<Value>,
    /// The fewest bytes that a value has as JSON.
    pub(crate) bytes: usize,
    /// Whether construction alone does not guarantee that the keywords hold.
    pub(crate) checked: bool,
    pub(crate) goals: Vec<Goal<'a>>,
    /// Scalars under rules: values that were tested.
    pub(crate) pool: Vec<Value>,
}

impl Node<'_> {
    /// The nodes right below, the last first, as a stack wants them.
    pub(crate) fn children(&self) -> Vec<Id> {
        match &self.kind {
            Kind::Object(object) => {
                object.values.into_iter().chain(object.fields.iter().rev().map(|field| field.node)).collect()
            }
            Kind::List(list) => list.items.into_iter().collect(),
            Kind::Choice(options) => options.iter().rev().copied().collect(),
            _ => Vec::new(),
        }
    }
}

/// The recipe of a value.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Any JSON.
    Free,
    Boolean,
    Whole(Whole),
    Number(Floating),
    Text(Box<Text>),
    Enumeration(Vec<Value>),
    List(List),
    Object(Object),
    /// One of several nodes for the same place.
    Choice(Vec<Id>),
    Impossible(Unsatisfiable),
}

/// A list.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) items: Option<Id>,
    pub(crate) least: usize,
    pub(crate) most: usize,
    pub(crate) topology: Topology,
}

/// The identity of items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Topology {
    Atomic,
    Set,
    Map(Vec<String>),
}

/// An object or a map.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) fields: Vec<Field>,
    /// The values under other names.
    pub(crate) values: Option<Id>,
    /// Whether anything may stand under other names.
    pub(crate) free: bool,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Whether it is a Kubernetes object with type and metadata.
    pub(crate) embedded: bool,
}

/// A named part of an object.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) node: Id,
    pub(crate) required: bool,
}

impl Object {
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl<'a> Plan<'a> {
    pub(crate) fn node(&self, id: Id) -> &Node<'a> {
        &self.nodes[id]
    }

    /// Returns what the keywords at a node say about a value, after the defaults inside it are filled in.
    pub(crate) fn admits(&self, id: Id, value: &Value) -> bool {
        let node = self.node(id);
        let mut value = value.clone();
        if let Some(schema) = node.schemas.first() {
            default(schema, &mut value);
        }
        node.schemas.iter().all(|schema| fits(schema, &value, self.kubernetes))
    }

    /// Returns whether all rules that are stated at a node hold for a value with its defaults. Those that
    /// cannot be decided count as holding.
    pub(crate) fn obeys(&self, id: Id, value: &Value, validator: &Validator<'_>) -> bool {
        let failing = validator.failing_rules(&self.node(id).path, value);
        failing.iter().all(|(_, inconclusive)| inconclusive.is_some())
    }

    /// The fewest bytes of a value, and the keyword that asks for them.
    pub(super) fn least_bytes(&self, id: Id) -> (usize, &'static str) {
        let bytes = |id: &Id| self.nodes[*id].bytes;
        match &self.nodes[id].kind {
            Kind::Text(text) => (text.least.saturating_add(2), "minLength"),
            Kind::List(list) => {
                let item = list.items.as_ref().map_or(1, bytes).saturating_add(1);
                (list.least.saturating_mul(item).saturating_add(2), "minItems")
            }
            Kind::Object(object) => {
                let required = object.fields.iter().filter(|field| field.required);
                let entry = object.values.as_ref().map_or(1, bytes).saturating_add(4);
                let fields = required.fold(2_usize, |sum, field| {
                    sum.saturating_add(field.name.len() + 4).saturating_add(bytes(&field.node))
                });
                let entries = object.least.saturating_sub(object.fields.len()).saturating_mul(entry);
                (fields.saturating_add(entries), if entries > fields { "minProperties" } else { "required" })
            }
            Kind::Choice(options) => (options.iter().map(bytes).min().unwrap_or(1), "anyOf"),
            Kind::Free
            | Kind::Boolean
            | Kind::Whole(_)
            | Kind::Number(_)
            | Kind::Enumeration(_)
            | Kind::Impossible(_) => (1, "type"),
        }
    }

    /// Narrows the counts that a scale holds.
    pub(crate) fn scale(&mut self, paths: [&String; 2]) {
        let paths = paths.map(|path| path.split('.').skip(1).fold(Path::root(), |path, name| path.field(name)));
        for node in self.nodes.iter_mut().filter(|node| paths.contains(&node.path)) {
            if let Kind::Whole(whole) = &mut node.kind {
                whole.low = whole.low.max(0);
                whole.high = whole.high.min(i64::from(i32::MAX)).max(whole.low);
            }
        }
    }

    /// Returns whether no object of this plan needs to be tested after its construction.
    pub(crate) fn is_certain(&self) -> bool {
        self.nodes.iter().all(|node| !node.checked && node.goals.is_empty())
    }

    /// Returns whether anything has a default.
    pub(crate) fn has_defaults(&self) -> bool {
        self.nodes.iter().any(|node| node.default.is_some())
    }

    /// Returns whether only numbers are tested, each by itself when it is made: then the whole needs no test of its
    /// own.
    pub(crate) fn is_tested_in_parts(&self) -> bool {
        let tested = |node: &Node<'_>| !node.checked || matches!(node.kind, Kind::Number(_));
        self.nodes.iter().all(|node| tested(node) && node.goals.is_empty())
    }

    /// The parts of a node that have a fixed place: fields, items and map values, seen through choices.
    pub(crate) fn child(&self, id: Id, step: &crate::structural::Step) -> Option<Id> {
        use crate::structural::Step;
        match (&self.node(id).kind, step) {
            (Kind::Object(object), Step::Field(name)) => object.field(name).map(|field| field.node).or(object.values),
            (Kind::Object(object), Step::Value) => object.values,
            (Kind::List(list), Step::Item) => list.items,
            (Kind::Choice(options), step) => options.iter().find_map(|option| self.child(*option, step)),
            _ => None,
        }
    }
}
