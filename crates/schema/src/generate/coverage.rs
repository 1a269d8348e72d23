//! What objects reached: which leaves of a schema were set, to what, and which never.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::generator::Generator;
use super::plan::{Id, Kind, Plan};
use crate::structural::{Path, Step};

/// The values of one leaf that were generated.
#[derive(Debug, Clone, Default, PartialEq)]
struct Leaf {
    default: Option<Value>,
    /// The values of an enum, and the bounds, that are still to be seen.
    wanted: Vec<(String, Value)>,
    seen: BTreeSet<usize>,
    set: bool,
    non_default: bool,
}

/// Collects over objects, whatever their origin: generated, sampled, or read back after conversion.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// In order.
    leaves: Vec<(Path, Leaf)>,
    root: Branch,
    objects: u64,
}

/// The way to leaves, as values are walked along.
#[derive(Debug, Clone, Default, PartialEq)]
struct Branch {
    /// The number of the leaf that is here.
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

    /// Shows the values of an object to its leaves.
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

/// The values of a leaf that were never generated.
#[derive(Debug, Clone, PartialEq)]
pub enum Missing {
    /// It was never set.
    Value,
    /// It was only ever set to its default, or to nothing.
    NonDefault,
    /// It was never set to this value: one of an enum, or a bound.
    Edge {
        /// The keyword that names the value.
        keyword: String,
        /// The value.
        value: Value,
    },
}

/// Something that was never reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The leaf.
    pub path: Path,
    /// The missing part.
    pub missing: Missing,
}

/// More values of an enum are not asked for.
const MOST_VALUES: usize = 64;

impl Generator<'_> {
    /// An empty collection for the leaves of this schema that objects can reach.
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
        // What rules exclude is not asked for.
        let allowed = node.pool.is_empty() || node.pool.contains(&wanted.1);
        if allowed && !leaf.wanted.contains(&wanted) {
            leaf.wanted.push(wanted);
        }
    };
    match &node.kind {
        Kind::Enumeration(values) => values.iter().take(MOST_VALUES).for_each(|value| want("enum", value.clone())),
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
    /// Takes an object into account.
    pub fn observe(&mut self, object: &Value) {
        self.objects += 1;
        self.root.walk(&mut self.leaves, object);
    }

    /// Takes what another collection for the same schema has seen into account.
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

    /// Returns how many objects were observed.
    pub fn objects(&self) -> u64 {
        self.objects
    }

    /// Returns how many leaves there are.
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// Returns how many leaves were set to something else than their default.
    pub fn reached(&self) -> usize {
        self.leaves.iter().filter(|(_, leaf)| leaf.non_default).count()
    }

    /// The share of leaves that were set to something else than their default, in percent.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn percent(&self) -> f64 {
        if self.leaves.is_empty() { 100.0 } else { 100.0 * self.reached() as f64 / self.leaves() as f64 }
    }

    /// Returns whether at least so many percent of the leaves were reached.
    pub fn is_at_least(&self, floor: f64) -> bool {
        self.percent() >= floor
    }

    /// The leaves that were never set to something else than their default.
    pub fn unreached(&self) -> impl Iterator<Item = &Path> {
        self.leaves.iter().filter(|(_, leaf)| !leaf.non_default).map(|(path, _)| path)
    }

    /// Everything that was never seen.
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
        // An enum of one value that is the default has nothing else to be set to.
        let only = self.wanted.len() == 1 && self.default.as_ref() == self.wanted.first().map(|(_, value)| value);
        self.non_default |= !is_default || only;
        if let Some(index) = self.wanted.iter().position(|(_, wanted)| wanted == value) {
            self.seen.insert(index);
        }
    }
}
