//! Coverage: the leaves of a schema that objects set, and those that they never set.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::generator::Generator;
use super::plan::{Id, Kind, Plan};
use crate::structural::{Path, Step};

/// The observed values of one leaf.
#[derive(Debug, Clone, Default, PartialEq)]
struct Leaf {
    default: Option<Value>,
    /// The values of an enum, and the bounds, that were not observed yet.
    wanted: Vec<(String, Value)>,
    seen: BTreeSet<usize>,
    set: bool,
    non_default: bool,
}

/// Collects values of objects of any origin: generated, sampled, or converted.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// The leaves, in order.
    leaves: Vec<(Path, Leaf)>,
    root: Branch,
    objects: u64,
}

/// A tree of paths to leaves.
#[derive(Debug, Clone, Default, PartialEq)]
struct Branch {
    /// The index of the leaf at this place.
    leaf: Option<usize>,
    fields: BTreeMap<String, Branch>,
    values: Option<Box<Branch>>,
    items: Option<Box<Branch>>,
}

impl Branch {
    fn grow(&mut self, steps: &[Step], leaf: usize) {
        let Some((step, rest)) = steps.split_first() else {
            self.leaf = Some(leaf);
            return;
        };
        let next = match step {
            Step::Field(name) => self.fields.entry(name.clone()).or_default(),
            Step::Value => self.values.get_or_insert_default(),
            Step::Item => self.items.get_or_insert_default(),
        };
        next.grow(rest, leaf);
    }

    /// Records the values of an object.
    fn walk(&self, leaves: &mut [(Path, Leaf)], value: &Value) {
        if let Some((_, leaf)) = self.leaf.and_then(|leaf| leaves.get_mut(leaf)) {
            leaf.take(value);
            return;
        }
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    if let Some(next) = self.fields.get(name).or(self.values.as_deref()) {
                        next.walk(leaves, value);
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.items.iter().for_each(|next| next.walk(leaves, item));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// The values of a leaf that were never observed.
#[derive(Debug, Clone, PartialEq)]
pub enum Missing {
    /// It was never set.
    Value,
    /// It was only set to its default, or to an empty value.
    NonDefault,
    /// It was never set to this value: one of an enum, or a bound.
    Edge {
        /// The keyword that names the value.
        keyword: String,
        /// The value.
        value: Value,
    },
}

/// A leaf or value that was never observed.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The leaf.
    pub path: Path,
    /// The missing part.
    pub missing: Missing,
}

/// Maximum number of values of an enum that are tracked.
const MAX_VALUES: usize = 64;

impl Generator<'_> {
    /// An empty collection for the reachable leaves of this schema.
    pub fn coverage(&self) -> Coverage {
        let mut leaves: BTreeMap<Path, Leaf> = self.leaves.iter().map(|path| (path.clone(), Leaf::default())).collect();
        let mut open = vec![self.maker.plan.root];
        while let Some(id) = open.pop() {
            describe(&self.maker.plan, id, &mut leaves, &mut open);
        }
        let mut root = Branch::default();
        leaves.keys().enumerate().for_each(|(number, path)| root.grow(path.steps(), number));
        Coverage { leaves: leaves.into_iter().collect(), root, objects: 0 }
    }
}

fn describe(plan: &Plan<'_>, id: Id, leaves: &mut BTreeMap<Path, Leaf>, open: &mut Vec<Id>) {
    let node = plan.node(id);
    match &node.kind {
        Kind::Object(object) => {
            open.extend(object.fields.iter().map(|field| field.node));
            open.extend(object.values);
        }
        Kind::List(list) => open.extend(list.items),
        Kind::Choice(options) => open.extend(options),
        _ => {}
    }
    let Some(leaf) = leaves.get_mut(&node.path) else { return };
    leaf.default = leaf.default.take().or_else(|| node.default.clone());
    let mut want = |keyword: &str, value: Value| {
        let wanted = (keyword.to_owned(), value);
        // Skip values that rules exclude.
        let allowed = node.pool.is_empty() || node.pool.contains(&wanted.1);
        if allowed && !leaf.wanted.contains(&wanted) {
            leaf.wanted.push(wanted);
        }
    };
    match &node.kind {
        Kind::Enumeration(values) => values.iter().take(MAX_VALUES).for_each(|value| want("enum", value.clone())),
        Kind::Boolean => [true, false].into_iter().for_each(|value| want("boolean", value.into())),
        Kind::Whole(whole) => {
            let bounds = [("minimum", whole.low, whole.stated.0), ("maximum", whole.high, whole.stated.1)];
            for (keyword, bound, stated) in bounds {
                if stated && let Some(bound) = whole.near(bound) {
                    want(keyword, bound.into());
                }
            }
        }
        _ => {}
    }
}

impl Coverage {
    /// Records an object.
    pub fn observe(&mut self, object: &Value) {
        self.objects += 1;
        self.root.walk(&mut self.leaves, object);
    }

    /// Adds the observations of another collection for the same schema.
    pub fn merge(&mut self, other: &Self) {
        self.objects += other.objects;
        for (path, theirs) in &other.leaves {
            if let Ok(number) = self.leaves.binary_search_by(|(own, _)| own.cmp(path)) {
                let leaf = &mut self.leaves[number].1;
                leaf.set |= theirs.set;
                leaf.non_default |= theirs.non_default;
                leaf.seen.extend(&theirs.seen);
            }
        }
    }

    /// Returns the number of observed objects.
    pub fn objects(&self) -> u64 {
        self.objects
    }

    /// Returns the number of leaves.
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// Returns the number of leaves that were set to something else than their default.
    pub fn reached(&self) -> usize {
        self.leaves.iter().filter(|(_, leaf)| leaf.non_default).count()
    }

    /// The share of leaves that were set to something else than their default, in percent.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn percent(&self) -> f64 {
        if self.leaves.is_empty() { 100.0 } else { 100.0 * self.reached() as f64 / self.leaves() as f64 }
    }

    /// Returns true if at least this percentage of the leaves was reached.
    pub fn is_at_least(&self, floor: f64) -> bool {
        self.percent() >= floor
    }

    /// The leaves that were never set to something else than their default.
    pub fn unreached(&self) -> impl Iterator<Item = &Path> {
        self.leaves.iter().filter(|(_, leaf)| !leaf.non_default).map(|(path, _)| path)
    }

    /// Everything that was never observed.
    pub fn gaps(&self) -> Vec<Gap> {
        let mut gaps = Vec::new();
        for (path, leaf) in &self.leaves {
            let mut add = |missing: Missing| gaps.push(Gap { path: path.clone(), missing });
            if !leaf.set {
                add(Missing::Value);
                continue;
            }
            if !leaf.non_default {
                add(Missing::NonDefault);
            }
            for (index, (keyword, value)) in leaf.wanted.iter().enumerate() {
                if !leaf.seen.contains(&index) {
                    add(Missing::Edge { keyword: keyword.clone(), value: value.clone() });
                }
            }
        }
        gaps
    }
}

impl Leaf {
    fn take(&mut self, value: &Value) {
        self.set = true;
        let is_default = match &self.default {
            Some(default) => default == value,
            None => value.is_null(),
        };
        // An enum whose only value is the default has no other value.
        let only = self.wanted.len() == 1 && self.default.as_ref() == self.wanted.first().map(|(_, value)| value);
        self.non_default |= !is_default || only;
        if let Some(index) = self.wanted.iter().position(|(_, wanted)| wanted == value) {
            self.seen.insert(index);
        }
    }
}
