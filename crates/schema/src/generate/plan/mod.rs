//! A schema that is prepared for generation: alternatives resolved into variants, bounds intersected, patterns
//! compiled, unsatisfiable parts detected.

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

/// The index of a node.
pub(crate) type Id = usize;

/// The reason for having no value: the unsatisfiable keyword, and its field.
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

/// All nodes; a node refers to its parts by index.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    pub(crate) root: Id,
    /// The node of `metadata.name`, if the schema describes it.
    pub(crate) name: Option<Id>,
    pub(crate) kubernetes: KubeVersion,
}

/// The plan for values at one place.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) path: Path,
    /// The schemas that all apply here; the first one determines the structure.
    pub(crate) schemas: Vec<&'a Schema>,
    pub(crate) kind: Kind,
    /// True if null is allowed here.
    pub(crate) null: bool,
    /// The default, including the defaults inside it.
    pub(crate) default: Option<Value>,
    /// The minimum size of a value as JSON, in bytes.
    pub(crate) bytes: usize,
    /// True if construction alone does not guarantee that the keywords match.
    pub(crate) checked: bool,
    pub(crate) goals: Vec<Goal<'a>>,
    /// Tested values of scalars under rules.
    pub(crate) pool: Vec<Value>,
}

impl Node<'_> {
    /// The direct children, the last first, for a stack.
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
    /// True if anything is allowed under other names.
    pub(crate) free: bool,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// True if it is a Kubernetes object with type and metadata.
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

    /// Returns true if a value, with its defaults, passes the keywords at a node.
    pub(crate) fn admits(&self, id: Id, value: &Value) -> bool {
        let node = self.node(id);
        let mut value = value.clone();
        if let Some(schema) = node.schemas.first() {
            default(schema, &mut value);
        }
        node.schemas.iter().all(|schema| fits(schema, &value, self.kubernetes))
    }

    /// Returns true if a value, with its defaults, passes all rules at a node. Undecidable rules count as passed.
    pub(crate) fn obeys(&self, id: Id, value: &Value, validator: &Validator<'_>) -> bool {
        let failing = validator.failing_rules(&self.node(id).path, value);
        failing.iter().all(|(_, inconclusive)| inconclusive.is_some())
    }

    /// The minimum size of a value in bytes, and the keyword that requires it.
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

    /// Limits the counts of a scale.
    pub(crate) fn scale(&mut self, paths: [&String; 2]) {
        let paths = paths.map(|path| path.split('.').skip(1).fold(Path::root(), |path, name| path.field(name)));
        for node in self.nodes.iter_mut().filter(|node| paths.contains(&node.path)) {
            if let Kind::Whole(whole) = &mut node.kind {
                whole.low = whole.low.max(0);
                whole.high = whole.high.min(i64::from(i32::MAX)).max(whole.low);
            }
        }
    }

    /// Returns true if objects of this plan need no test after construction.
    pub(crate) fn is_certain(&self) -> bool {
        self.nodes.iter().all(|node| !node.checked && node.goals.is_empty())
    }

    /// Returns true if anything has a default.
    pub(crate) fn has_defaults(&self) -> bool {
        self.nodes.iter().any(|node| node.default.is_some())
    }

    /// Returns true if only numbers are tested, each by itself when it is generated: then the whole needs no test.
    pub(crate) fn is_tested_in_parts(&self) -> bool {
        let tested = |node: &Node<'_>| !node.checked || matches!(node.kind, Kind::Number(_));
        self.nodes.iter().all(|node| tested(node) && node.goals.is_empty())
    }

    /// The part of a node at a fixed place: fields, items and map values, through choices.
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
