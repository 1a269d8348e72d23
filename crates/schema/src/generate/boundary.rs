//! The boundary cases of a schema, one by one.

use serde_json::{Value, json};

use super::case::Meant;
use super::generator::Generator;
use super::make::{Pin, Want};
use super::plan::{Id, Kind, Text, UNUSUAL};
use super::random::Random;
use crate::structural::Path;

/// One boundary case at one node.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) path: Path,
    pub(super) kind: EdgeKind,
}

#[derive(Debug, Clone)]
pub(super) enum EdgeKind {
    Present,
    Absent,
    Exactly(&'static str, Value),
    /// A string of exactly this length.
    Length(&'static str, Id, usize),
    /// A list, or a map, with exactly this many entries.
    Items(&'static str, Id, usize),
}

/// Maximum number of values of an enum that are tried one by one.
const MAX_VALUES: usize = 64;

impl Generator<'_> {
    /// Every boundary case, in the order of the schema.
    pub(super) fn all_edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut open = vec![self.maker.plan.root];
        while let Some(id) = open.pop() {
            let node = self.maker.plan.node(id);
            if !node.path.is_root() {
                let first = seen.insert(node.path.clone());
                self.edges_of(id, first, seen.len(), &mut edges);
            }
            open.extend(node.children());
        }
        edges
    }

    fn edges_of(&self, id: Id, first: bool, number: usize, edges: &mut Vec<Edge>) {
        let node = self.maker.plan.node(id);
        let mut add = |kind: EdgeKind| edges.push(Edge { path: node.path.clone(), kind });
        if matches!(node.kind, Kind::Impossible(_)) {
            return;
        }
        if first {
            add(EdgeKind::Present);
            add(EdgeKind::Absent);
            if node.null {
                add(EdgeKind::Exactly("null", Value::Null));
            }
        }
        let exactly = |name: &'static str, value: Value| EdgeKind::Exactly(name, value);
        match &node.kind {
            Kind::Boolean => {
                add(exactly("false", false.into()));
                add(exactly("true", true.into()));
            }
            Kind::Enumeration(values) => {
                values.iter().take(MAX_VALUES).for_each(|value| add(exactly("enum", value.clone())));
            }
            Kind::Whole(whole) => {
                for edge in whole.edges() {
                    let name = match edge {
                        edge if edge == whole.low => "minimum",
                        edge if edge == whole.high => "maximum",
                        _ => "integer",
                    };
                    add(exactly(name, edge.into()));
                }
            }
            Kind::Number(floating) => {
                let fitting = floating.edges().into_iter().filter(|value| self.maker.plan.admits(id, value));
                fitting.for_each(|value| add(exactly("number", value)));
            }
            Kind::Text(text) => self.text_edges(id, text, number, &mut add),
            Kind::List(list) => {
                if list.least == 0 {
                    add(exactly("empty", json!([])));
                }
                for (name, count) in [("minItems", list.least), ("minItems", list.least + 1), ("maxItems", list.most)] {
                    if (1..=self.options.longest_list).contains(&count) && count <= list.most && list.items.is_some() {
                        add(EdgeKind::Items(name, id, count));
                    }
                }
            }
            Kind::Object(object) => {
                let empty = json!({});
                if !object.embedded && self.maker.plan.admits(id, &empty) {
                    add(exactly("empty", empty));
                }
                if object.values.is_some() && object.most <= self.options.longest_list {
                    add(EdgeKind::Items("maxProperties", id, object.most));
                }
            }
            Kind::Free => {
                for value in [json!({"a": [1, {"b": null}]}), json!([]), json!("text"), json!(1.5)] {
                    if self.maker.plan.admits(id, &value) {
                        add(exactly("free", value));
                    }
                }
            }
            Kind::Choice(_) | Kind::Impossible(_) => {}
        }
    }

    fn text_edges(&self, id: Id, text: &Text, number: usize, add: &mut dyn FnMut(EdgeKind)) {
        if text.admits("") {
            add(EdgeKind::Exactly("empty", "".into()));
        }
        let longest = self.options.longest_text;
        let most = text.most.unwrap_or(64);
        let mut lengths = vec![("minLength", text.least), ("minLength", text.least + 1)];
        lengths.extend([("maxLength", most.saturating_sub(1)), ("maxLength", most)]);
        lengths.retain(|(_, length)| (1..=longest).contains(length) && (text.least..=most).contains(length));
        lengths.dedup_by_key(|(_, length)| *length);
        for (name, length) in lengths {
            add(EdgeKind::Length(name, id, length));
        }
        // One unusual string for each field; a schema with some strings gets all of them.
        let unusual = UNUSUAL[number % UNUSUAL.len()];
        if text.admits(unusual) {
            add(EdgeKind::Exactly("unicode", unusual.into()));
        }
    }

    pub(super) fn boundary(&self, random: &mut Random, index: usize) -> Option<(Value, Option<Meant>)> {
        let Some(index) = index.checked_sub(1) else {
            return Some((self.minimal(random)?, Some(Self::meant(&Path::root(), "required"))));
        };
        if index < self.batches() {
            let paths = self.batch(index);
            return Some((self.together(random, paths)?, Some(Self::meant(paths.first()?, "properties"))));
        }
        let edge = self.edges.get(index - self.batches())?;
        let path = &edge.path;
        let (name, want) = match &edge.kind {
            EdgeKind::Present => ("present", Want::Present),
            EdgeKind::Absent => ("absent", Want::Absent),
            EdgeKind::Exactly(name, value) => (*name, Want::Exactly(value)),
            EdgeKind::Length(name, id, length) => {
                let Kind::Text(text) = &self.maker.plan.node(*id).kind else { return None };
                let value: Value = text.of_length(random, *length)?.into();
                let object = self.pinned(random, path, Want::Exactly(&value))?;
                return Some((object, Some(Self::meant(path, name))));
            }
            EdgeKind::Items(name, id, count) => {
                let value = self.maker.make_sized(*id, random, *count)?;
                let object = self.pinned(random, path, Want::Exactly(&value))?;
                return Some((object, Some(Self::meant(path, name))));
            }
        };
        Some((self.pinned(random, path, want)?, Some(Self::meant(path, name))))
    }

    pub(super) fn pinned(&self, random: &mut Random, path: &Path, want: Want<'_>) -> Option<Value> {
        let pin = Pin { steps: path.steps(), want };
        // An absent part shows most if everything around it is present.
        let parts = if want == Want::Absent { 40 } else { 0 };
        let object = self.maker.object_of(random, parts, &[pin])?;
        // If the engine cannot decide about a boundary case, a server may refuse it.
        let certain = self.maker.certain || !self.maker.validator.has_rules();
        let decided = certain || self.judge(&object).inconclusive.is_empty();
        decided.then_some(object)
    }

    /// An object with all these leaves, or with as many of them as are possible together.
    fn together(&self, random: &mut Random, paths: &[Path]) -> Option<Value> {
        let mut paths: Vec<&Path> = paths.iter().collect();
        while !paths.is_empty() {
            let pins: Vec<Pin<'_>> =
                paths.iter().map(|path| Pin { steps: path.steps(), want: Want::Present }).collect();
            if let Some(object) = self.maker.object_of(random, 0, &pins) {
                return Some(object);
            }
            // Rules and alternatives exclude some of them: any half may work.
            random.shuffle(&mut paths);
            paths.truncate(paths.len() / 2);
            paths.sort();
        }
        self.minimal(random)
    }
}
