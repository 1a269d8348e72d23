//! Generates values from a plan.

use serde_json::{Map, Value, json};

use super::format;
use super::generator::Scale;
use super::plan::{Id, Kind, List, Node, Object, Plan, Topology};
use super::random::Random;
use super::solve::pool;
use crate::kubernetes::is_dns_subdomain_1123;
use crate::structural::{Schema, Step, Validator, default};

/// A plan, and everything that is needed to follow it.
#[derive(Debug)]
pub(crate) struct Maker<'a> {
    pub(crate) plan: Plan<'a>,
    pub(crate) schema: &'a Schema,
    pub(crate) validator: Validator<'a>,
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) namespace: Option<String>,
    pub(crate) status_subresource: bool,
    pub(crate) scale: Option<Scale>,
    pub(crate) certain: bool,
    pub(crate) tested_in_parts: bool,
}

/// A part of the value with a demand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pin<'p> {
    pub(crate) steps: &'p [Step],
    pub(crate) want: Want<'p>,
}

/// The demands on a part of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Want<'p> {
    Present,
    Absent,
    Exactly(&'p Value),
}

/// The number of attempts at a value that rules or alternatives refuse.
const TRIES: usize = 16;

/// Usual length of lists and maps, unless the schema requires more.
const USUAL_ITEMS: usize = 3;

impl Maker<'_> {
    /// A value that passes the keywords and the rules of its node, with about this many optional parts.
    pub(crate) fn make(&self, id: Id, random: &mut Random, budget: usize, pins: &[Pin<'_>]) -> Option<Value> {
        let node = self.plan.node(id);
        for pin in pins.iter().filter(|pin| pin.steps.is_empty()) {
            match pin.want {
                Want::Exactly(value) => return Some(value.clone()),
                Want::Absent => return None,
                Want::Present => {}
            }
        }
        if node.null
            && pins.is_empty()
            && (budget > 0 && random.chance(1, 16) || matches!(node.kind, Kind::Impossible(_)))
        {
            return Some(Value::Null);
        }
        if !node.pool.is_empty() {
            return self.pooled(id, random);
        }
        if node.goals.is_empty() && !node.checked {
            return self.build(id, random, budget, pins);
        }
        for attempt in 0..TRIES {
            if !random.burn() {
                return None;
            }
            let mut value = self.build(id, random, budget >> (attempt / 3), pins)?;
            if node.goals.is_empty() && self.plan.admits(id, &value)
                || !node.goals.is_empty() && self.settle(id, &mut value, random, pins)
            {
                return Some(value);
            }
        }
        None
    }

    /// A scalar under rules: one that was tested, or a new one that passes.
    fn pooled(&self, id: Id, random: &mut Random) -> Option<Value> {
        if random.chance(1, 4)
            && let Some(value) = pool::scalar(&self.plan, id, random)
            && self.plan.admits(id, &value)
            && self.validator.failing_rules(&self.plan.node(id).path, &value).is_empty()
        {
            return Some(value);
        }
        random.pick(&self.plan.node(id).pool).cloned()
    }

    fn build(&self, id: Id, random: &mut Random, budget: usize, pins: &[Pin<'_>]) -> Option<Value> {
        match &self.plan.node(id).kind {
            Kind::Object(object) => self.object(self.plan.node(id), object, random, budget, pins),
            Kind::List(list) => self.list(list, random, budget, pins),
            Kind::Choice(options) => {
                let mut order = options.clone();
                random.shuffle(&mut order);
                order.into_iter().find_map(|option| self.build(option, random, budget, pins))
            }
            Kind::Free => Some(free(random, if budget > 0 { 2 } else { 0 })),
            Kind::Boolean | Kind::Whole(_) | Kind::Number(_) | Kind::Text(_) | Kind::Enumeration(_) => {
                pool::scalar(&self.plan, id, random)
            }
            Kind::Impossible(_) => None,
        }
    }

    fn object(
        &self,
        node: &Node<'_>,
        object: &Object,
        random: &mut Random,
        budget: usize,
        pins: &[Pin<'_>],
    ) -> Option<Value> {
        let mut map = Map::new();
        if object.embedded {
            self.resource(node.path.is_root(), random, budget, &mut map)?;
        }
        let meta = map.len();
        let optional = object.fields.iter().filter(|field| !field.required).count();
        let chosen = random.length(0, optional.min(budget));
        let required = object.fields.len() - optional;
        let share = budget.saturating_sub(chosen) / (chosen + required.min(8)).max(1);
        for field in &object.fields {
            let inner = below(pins, |step| matches!(step, Step::Field(name) if *name == field.name));
            let has_default = self.plan.node(field.node).default.is_some();
            let must = field.required && !(has_default && budget > 0);
            let asked = inner.iter().any(|pin| pin.want != Want::Absent || !pin.steps.is_empty());
            let forbidden = inner.iter().any(|pin| pin.steps.is_empty() && pin.want == Want::Absent);
            match (forbidden, field.required && !has_default) {
                (true, true) => return None,
                (true, false) => continue,
                (false, _) => {}
            }
            let wanted = asked
                || must
                || (chosen > 0 && random.below(optional as u64) < chosen as u64 && map.len() < object.most)
                || field.required && random.chance(3, 4);
            if !wanted {
                continue;
            }
            match self.make(field.node, random, share, &inner) {
                Some(value) => drop(map.insert(field.name.clone(), value)),
                None if asked || must => return None,
                None => {}
            }
        }
        self.entries(object, random, budget, pins, meta, &mut map)?;
        if map.len() < object.least {
            for field in &object.fields {
                if map.len() < object.least && !map.contains_key(&field.name) {
                    map.extend(self.make(field.node, random, 0, &[]).map(|value| (field.name.clone(), value)));
                }
            }
        }
        (map.len() >= object.least && map.len() <= object.most).then_some(Value::Object(map))
    }

    /// The entries of a map, and values of unknown names.
    fn entries(
        &self,
        object: &Object,
        random: &mut Random,
        budget: usize,
        pins: &[Pin<'_>],
        meta: usize,
        map: &mut Map<String, Value>,
    ) -> Option<()> {
        let missing = object.least.saturating_sub(map.len());
        let room = object.most.saturating_sub(map.len());
        if let Some(values) = object.values {
            let inner = below(pins, |step| matches!(step, Step::Value));
            let asked = inner.iter().any(|pin| pin.want != Want::Absent);
            let least = missing.max(usize::from(asked));
            let count = random.length(least, budget.min(USUAL_ITEMS).max(least).min(room));
            let share = budget.saturating_sub(count) / count.max(1);
            for index in 0..count {
                let pins = if index == 0 { &inner[..] } else { &[] };
                match self.make(values, random, share, pins) {
                    Some(value) => {
                        let mut key = format::word(random);
                        if map.contains_key(&key) {
                            key = format!("{key}{index}");
                        }
                        map.insert(key, value);
                    }
                    None if asked && index == 0 => return None,
                    None => {}
                }
            }
        } else if object.free {
            let asked = pins.iter().any(|pin| pin.steps.is_empty() && pin.want == Want::Present);
            let empty = usize::from(asked && map.len() == meta && object.fields.is_empty());
            let least = missing.max(empty);
            let count = random.length(least, budget.min(2).max(least).min(room));
            for index in 0..count {
                map.insert(format!("extra{index}"), free(random, 1));
            }
        }
        Some(())
    }

    fn list(&self, list: &List, random: &mut Random, budget: usize, pins: &[Pin<'_>]) -> Option<Value> {
        let inner = below(pins, |step| matches!(step, Step::Item));
        let asked = inner.iter().any(|pin| pin.want != Want::Absent)
            || pins.iter().any(|pin| pin.steps.is_empty() && pin.want == Want::Present);
        let Some(items) = list.items else {
            return (list.least == 0 && !asked).then(|| Value::Array(Vec::new()));
        };
        let least = list.least.max(usize::from(asked));
        let usual = if budget > 0 { (least + 1).max(USUAL_ITEMS) } else { least };
        let count = random.length(least, usual.min(list.most).max(least));
        let share = budget.saturating_sub(count) / count.max(1);
        let mut made: Vec<Value> = Vec::with_capacity(count);
        for index in 0..count {
            let pins = if index == 0 { &inner[..] } else { &[] };
            let item = (0..8).find_map(|_| {
                let item = self.make(items, random, share, pins)?;
                self.is_new(list, items, &item, &made).then_some(item)
            });
            match item {
                Some(item) => made.push(item),
                None => break,
            }
        }
        (made.len() >= least).then_some(Value::Array(made))
    }

    /// A list or a map with exactly this many entries.
    pub(crate) fn make_sized(&self, id: Id, random: &mut Random, count: usize) -> Option<Value> {
        match &self.plan.node(id).kind {
            Kind::List(list) => {
                let exact = List { least: count, most: count, topology: list.topology.clone(), ..*list };
                self.list(&exact, random, 0, &[])
            }
            Kind::Object(object) => {
                let values = object.values?;
                let mut map = Map::new();
                for field in object.fields.iter().filter(|field| field.required) {
                    map.insert(field.name.clone(), self.make(field.node, random, 0, &[])?);
                }
                for index in map.len()..count {
                    map.insert(format!("key{index}"), self.make(values, random, 0, &[])?);
                }
                Some(map.into())
            }
            _ => None,
        }
    }

    /// Returns true if an item is allowed next to the others.
    fn is_new(&self, list: &List, items: Id, item: &Value, others: &[Value]) -> bool {
        match &list.topology {
            Topology::Atomic => true,
            Topology::Set => !others.contains(item),
            Topology::Map(keys) => {
                let default = |name: &String| {
                    let child = self.plan.child(items, &Step::Field(name.clone()))?;
                    self.plan.node(child).default.as_ref()
                };
                let same = |other: &Value, name: &String| {
                    let [own, theirs] = [item, other].map(|item| item.get(name).filter(|value| !value.is_null()));
                    own.or_else(|| default(name)) == theirs.or_else(|| default(name))
                };
                !others.iter().any(|other| keys.iter().all(|name| same(other, name)))
            }
        }
    }

    /// Type and metadata of an object, or of one within another.
    fn resource(&self, is_root: bool, random: &mut Random, budget: usize, map: &mut Map<String, Value>) -> Option<()> {
        if !is_root {
            map.insert("apiVersion".to_owned(), "v1".into());
            map.insert("kind".to_owned(), "ConfigMap".into());
            map.insert("metadata".to_owned(), json!({"name": format::word(random)}));
            return Some(());
        }
        let mut metadata = Map::new();
        metadata.insert("name".to_owned(), self.name(random)?.into());
        if let Some(namespace) = &self.namespace {
            metadata.insert("namespace".to_owned(), namespace.clone().into());
        }
        if budget > 0 && random.chance(1, 2) {
            decorate(random, &mut metadata);
        }
        map.insert("apiVersion".to_owned(), self.api_version.clone().into());
        map.insert("kind".to_owned(), self.kind.clone().into());
        map.insert("metadata".to_owned(), metadata.into());
        Some(())
    }

    fn name(&self, random: &mut Random) -> Option<String> {
        let Some(id) = self.plan.name else { return Some(format::word(random)) };
        if let Kind::Impossible(_) = self.plan.node(id).kind {
            return None;
        }
        (0..32).find_map(|_| {
            let value = self.make(id, random, 0, &[])?;
            value.as_str().filter(|name| is_dns_subdomain_1123(name)).map(str::to_owned)
        })
    }

    /// Fills in the defaults of a part.
    pub(crate) fn fill(&self, id: Id, value: Option<&mut Value>) {
        if let (Some(schema), Some(value)) = (self.plan.node(id).schemas.first(), value) {
            default(schema, value);
        }
    }

    /// Returns true if a field is required, or would come back as its default.
    pub(crate) fn must_stay(&self, id: Id, name: &str) -> bool {
        let node = self.plan.node(id);
        node.schemas.iter().any(|schema| {
            let child = schema.properties.get(name);
            schema.required.iter().any(|required| required == name)
                || child.is_some_and(|child| child.default.is_some())
        })
    }

    /// The minimum number of items of a list.
    pub(crate) fn least_items(&self, id: Id) -> usize {
        let least = self.plan.node(id).schemas.iter().filter_map(|schema| schema.min_items).max();
        least.and_then(|least| usize::try_from(least).ok()).unwrap_or_default()
    }
}

/// Returns the demands below a step.
pub(crate) fn below<'p>(pins: &[Pin<'p>], leads: impl Fn(&Step) -> bool) -> Vec<Pin<'p>> {
    let strip = |pin: &Pin<'p>| {
        let (first, rest) = pin.steps.split_first()?;
        leads(first).then_some(Pin { steps: rest, ..*pin })
    };
    pins.iter().filter_map(strip).collect()
}

/// Random JSON of at most this depth.
pub(crate) fn free(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => format::word(random).into(),
        1 => random.between(-1000, 1000).into(),
        2 => random.chance(1, 2).into(),
        3 => 0.5.into(),
        4 => (0..random.below(3)).map(|_| free(random, depth - 1)).collect::<Vec<_>>().into(),
        _ => {
            (0..random.below(3)).map(|_| (format::word(random), free(random, depth - 1))).collect::<Map<_, _>>().into()
        }
    }
}

/// Labels, annotations, finalizers and owners.
fn decorate(random: &mut Random, metadata: &mut Map<String, Value>) {
    let key = |random: &mut Random| match random.below(2) {
        0 => format::word(random),
        _ => format!("example.com/{}", format::word(random)),
    };
    if random.chance(1, 2) {
        metadata.insert("labels".to_owned(), json!({key(random): format::word(random)}));
    }
    if random.chance(1, 2) {
        metadata.insert("annotations".to_owned(), json!({key(random): "any text, \u{e4}\u{1f980}"}));
    }
    if random.chance(1, 4) {
        metadata.insert("finalizers".to_owned(), json!([format!("example.com/{}", format::word(random))]));
    }
    if random.chance(1, 4) {
        let uid = format::sample("uuid", random, 0);
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": format::word(random), "uid": uid});
        metadata.insert("ownerReferences".to_owned(), json!([owner]));
    }
}
