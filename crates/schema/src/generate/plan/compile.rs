//! Compiles schema nodes to plan nodes.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;
use serde_json::Value;

use super::conjunction::{Conjunction, MAX_VARIANTS, says_only};
use super::parts::{greatest, smallest, text_of, without_parts};
use super::{Field, Floating, Id, Kind, List, Node, Object, Plan, Text, Topology, Unsatisfiable, Whole};
use crate::generate::solve::{Goal, pool};
use crate::kubernetes::KubeVersion;
use crate::structural::{Path, Pattern, Schema, Type, Validator, default, fits, keywords};

/// Maximum depth of schemas. No server accepts such deep objects.
const DEPTH_LIMIT: usize = 100;

/// Maximum number of nodes, more than any definition that fits into etcd has.
const MAX_NODES: usize = 1 << 20;

/// The size limit of a request to etcd.
const MAX_BYTES: usize = 1_572_864;

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Compiles a schema. The rules are those of the validator for the same schema.
pub(crate) fn compile<'a>(schema: &'a Schema, kubernetes: KubeVersion, validator: &Validator<'a>) -> Plan<'a> {
    let plan = Plan { nodes: Vec::new(), root: 0, name: None, kubernetes };
    let mut compiler = Compiler { plan, validator, texts: BTreeMap::new() };
    let root = compiler.node(&Path::root(), Conjunction::of(vec![schema]), 0);
    compiler.plan.root = root;
    let path = Path::root().field("metadata").field("name");
    if let Some(name) = schema.at(&path) {
        let conjunction = Conjunction::of(vec![name]);
        compiler.plan.name = Some(compiler.node(&path, conjunction, 0));
    }
    compiler.plan
}

struct Compiler<'a, 'v> {
    plan: Plan<'a>,
    validator: &'v Validator<'a>,
    /// Cache: the same few strings occur in thousands of places, and testing them takes time.
    texts: BTreeMap<String, Option<Text>>,
}

impl<'a> Compiler<'a, '_> {
    fn push(&mut self, path: &Path, schemas: Vec<&'a Schema>, kind: Kind) -> Id {
        let node = Node {
            path: path.clone(),
            schemas,
            kind,
            null: false,
            default: None,
            bytes: 1,
            checked: false,
            goals: Vec::new(),
            pool: Vec::new(),
        };
        self.plan.nodes.push(node);
        let id = self.plan.nodes.len() - 1;
        let (bytes, keyword) = self.plan.least_bytes(id);
        self.plan.nodes[id].bytes = bytes;
        if bytes > MAX_BYTES {
            let why = format!("the smallest value has {bytes} bytes, more than a server takes");
            let fault = Unsatisfiable { path: path.clone(), keyword: keyword.to_owned(), why };
            self.plan.nodes[id].kind = Kind::Impossible(fault);
        }
        id
    }

    fn impossible(&mut self, path: &Path, schemas: Vec<&'a Schema>, keyword: &str, why: &str) -> Id {
        let fault = Unsatisfiable { path: path.clone(), keyword: keyword.to_owned(), why: why.to_owned() };
        self.push(path, schemas, Kind::Impossible(fault))
    }

    /// The node of a place: structure, null, default and rules.
    fn node(&mut self, path: &Path, mut conjunction: Conjunction<'a>, depth: usize) -> Id {
        let stated = conjunction.schemas.clone();
        if depth > DEPTH_LIMIT || self.plan.nodes.len() > MAX_NODES {
            return self.impossible(path, stated, "properties", "the schema is too deep or too large");
        }
        conjunction.flatten(0);
        let id = self.variant(path, conjunction, depth);
        let kubernetes = self.plan.kubernetes;
        let null = stated.iter().any(|schema| schema.nullable)
            && stated.iter().all(|schema| fits(schema, &Value::Null, kubernetes));
        let stated_default = stated.iter().find_map(|schema| schema.default.clone()).filter(|value| !value.is_null());
        let filled = stated_default.map(|mut value| {
            stated.first().into_iter().for_each(|schema| default(schema, &mut value));
            value
        });
        let mut goals = Vec::new();
        for schema in &stated {
            goals_of(schema, &mut goals, 0);
        }
        let node = &mut self.plan.nodes[id];
        node.schemas = stated;
        node.null = null;
        node.default = filled;
        node.goals = goals;
        if !self.plan.nodes[id].goals.is_empty() && self.is_scalar(id) {
            pool::fill(&mut self.plan, id, self.validator);
        }
        id
    }

    fn is_scalar(&self, id: Id) -> bool {
        match &self.plan.nodes[id].kind {
            Kind::Boolean | Kind::Whole(_) | Kind::Number(_) | Kind::Text(_) | Kind::Enumeration(_) => true,
            Kind::Choice(options) => options.iter().all(|option| self.is_scalar(*option)),
            Kind::Free | Kind::List(_) | Kind::Object(_) | Kind::Impossible(_) => false,
        }
    }

    /// One node for each combination of alternatives, under a node that chooses.
    fn variant(&mut self, path: &Path, conjunction: Conjunction<'a>, depth: usize) -> Id {
        let mut open = vec![conjunction];
        let mut closed = Vec::new();
        let mut is_choice = false;
        while let Some(next) = open.pop() {
            match next.variants() {
                Some(variants) if open.len() + closed.len() < MAX_VARIANTS => {
                    is_choice = true;
                    open.extend(variants.into_iter().rev());
                }
                Some(_) | None => closed.push(next),
            }
        }
        if !is_choice && let Some(only) = closed.pop() {
            let checked = !only.nots.is_empty();
            let id = self.shape(path, &only, depth);
            self.plan.nodes[id].checked |= checked;
            return id;
        }
        let schemas = closed.first().map(|variant| variant.schemas.clone()).unwrap_or_default();
        let all: Vec<Id> = closed.iter().map(|variant| self.shape(path, variant, depth)).collect();
        let possible: Vec<Id> =
            all.iter().copied().filter(|id| !matches!(self.plan.nodes[*id].kind, Kind::Impossible(_))).collect();
        if let ([], Some(first)) = (possible.as_slice(), all.first()) {
            return *first;
        }
        let id = self.push(path, schemas, Kind::Choice(possible));
        self.plan.nodes[id].checked = true;
        id
    }

    /// A node whose alternatives are chosen.
    fn shape(&mut self, path: &Path, conjunction: &Conjunction<'a>, depth: usize) -> Id {
        let schemas = conjunction.schemas.clone();
        let mut types = Type::ALL.to_vec();
        for schema in &schemas {
            let own: &[Type] = if schema.int_or_string { &[Type::Integer, Type::String] } else { schema.ty.as_slice() };
            if own.contains(&Type::Number) && types.contains(&Type::Integer) && types.len() == 1 {
                continue;
            }
            if !own.is_empty() {
                types.retain(|ty| own.contains(ty));
            }
        }
        if let Some(values) = schemas.iter().find_map(|schema| schema.enumeration.as_ref()) {
            return self.enumeration(path, schemas, values);
        }
        let described = schemas.iter().any(|schema| !schema.properties.is_empty() || schema.additional.is_some());
        match types.as_slice() {
            [] => self.impossible(path, schemas, "type", "the types exclude each other"),
            [Type::Boolean] => self.push(path, schemas, Kind::Boolean),
            [Type::Integer] => self.whole(path, schemas),
            [Type::Number] => self.number(path, schemas),
            [Type::String] => self.text(path, schemas),
            [Type::Array] => self.list(path, conjunction, depth),
            [Type::Object] => self.object(path, conjunction, depth),
            [Type::Integer, Type::String] => {
                let (whole, text) = (self.whole(path, schemas.clone()), self.text(path, schemas.clone()));
                let options = [whole, text];
                let possible =
                    options.into_iter().filter(|id| !matches!(self.plan.nodes[*id].kind, Kind::Impossible(_)));
                let possible: Vec<Id> = possible.collect();
                if possible.is_empty() { text } else { self.push(path, schemas, Kind::Choice(possible)) }
            }
            _ if described => self.object(path, conjunction, depth),
            _ => {
                let id = self.push(path, schemas, Kind::Free);
                self.plan.nodes[id].checked = !conjunction.nots.is_empty() || conjunction.schemas.len() > 1;
                id
            }
        }
    }

    fn enumeration(&mut self, path: &Path, schemas: Vec<&'a Schema>, values: &'a [Value]) -> Id {
        let kubernetes = self.plan.kubernetes;
        // The test leaves out the list itself, because a long one would be searched for each value.
        let bare: Vec<Schema> = schemas
            .iter()
            .map(|schema| match &schema.enumeration {
                Some(own) if std::ptr::eq(own.as_slice(), values) => without_parts(schema),
                Some(_) | None => (*schema).clone(),
            })
            .collect();
        let faults = |value: &Value| bare.iter().flat_map(|schema| keywords(schema, value, kubernetes)).next();
        let kept: Vec<Value> =
            values.iter().filter(|value| !value.is_null() && faults(value).is_none()).cloned().collect();
        if !kept.is_empty() {
            return self.push(path, schemas, Kind::Enumeration(kept));
        }
        let (keyword, why) = match values.iter().find_map(faults) {
            Some(fault) => (fault.keyword, format!("no value of the enum is left: {}", fault.message)),
            None => ("enum", "the enum is empty".to_owned()),
        };
        self.impossible(path, schemas, keyword, &why)
    }

    fn whole(&mut self, path: &Path, schemas: Vec<&'a Schema>) -> Id {
        match Whole::of(&schemas) {
            Ok(whole) => {
                let low = Value::from(whole.near(0).unwrap_or(whole.low));
                let id = self.push(path, schemas, Kind::Whole(whole));
                self.tested(id, &low)
            }
            Err(keyword) => self.impossible(path, schemas, keyword, "the bounds exclude each other"),
        }
    }

    fn number(&mut self, path: &Path, schemas: Vec<&'a Schema>) -> Id {
        match Floating::of(&schemas) {
            Ok(floating) => {
                let mut random = crate::generate::random::Random::of(0, 0, 0);
                let tries: Vec<Value> = (0..16).map(|_| floating.sample(&mut random)).collect();
                let id = self.push(path, schemas, Kind::Number(floating));
                self.plan.nodes[id].checked = true;
                let fitting = tries.iter().find(|value| self.plan.admits(id, value)).or_else(|| tries.first());
                fitting.cloned().map_or(id, |value| self.tested(id, &value))
            }
            Err(keyword) => self.impossible(path, schemas, keyword, "the bounds exclude each other"),
        }
    }

    /// The node if the value passes its keywords, otherwise one that names the failed keyword.
    fn tested(&mut self, id: Id, value: &Value) -> Id {
        let kubernetes = self.plan.kubernetes;
        let node = &self.plan.nodes[id];
        // Alternatives are chosen; the node that chooses tests the whole.
        let simple = node.schemas.iter().filter(|schema| schema.junctors().next().is_none());
        let fault = simple.flat_map(|schema| keywords(schema, value, kubernetes)).find(|fault| fault.keyword != "type");
        if let Some(fault) = fault {
            let path = node.path.clone();
            let why = format!("{value} was tried: {}", fault.message);
            let fault = Unsatisfiable { path, keyword: fault.keyword.to_owned(), why };
            self.plan.nodes[id].kind = Kind::Impossible(fault);
        }
        id
    }

    fn text(&mut self, path: &Path, schemas: Vec<&'a Schema>) -> Id {
        let text = text_of(&schemas, path, self.plan.kubernetes);
        if text.most.is_some_and(|most| most < text.least) {
            return self.impossible(path, schemas, "minLength", "is more than maxLength");
        }
        if text.least > MAX_BYTES {
            return self.impossible(path, schemas, "minLength", "is more than a server takes");
        }
        let formats: Vec<&String> = text.formats.iter().map(|(name, _)| name).collect();
        let patterns: Vec<&String> = text.patterns.iter().map(|pattern| &pattern.text).collect();
        let key = format!("{:?} {:?} {} {:?} {:?}", patterns, formats, text.least, text.most, text.habit);
        let keyword = if patterns.is_empty() { "format" } else { "pattern" };
        let why = match text.patterns.iter().find_map(Pattern::fault) {
            Some(why) => format!("it cannot be read: {why}"),
            None => format!("no text was found for {key}"),
        };
        match self.texts.entry(key).or_insert_with(|| text.prepare()).clone() {
            Some(text) => self.push(path, schemas, Kind::Text(Box::new(text))),
            None => self.impossible(path, schemas, keyword, &why),
        }
    }

    fn list(&mut self, path: &Path, conjunction: &Conjunction<'a>, depth: usize) -> Id {
        let schemas = conjunction.schemas.clone();
        let least = greatest(schemas.iter().filter_map(|schema| schema.min_items));
        let most = smallest(schemas.iter().filter_map(|schema| schema.max_items));
        if least > most {
            return self.impossible(path, schemas, "minItems", "is more than maxItems");
        }
        let items: Vec<&Schema> = schemas.iter().filter_map(|schema| schema.items.as_deref()).collect();
        let items = (!items.is_empty()).then(|| self.node(&path.item(), Conjunction::of(items), depth + 1));
        let topology = match schemas.iter().find_map(|schema| schema.list_type.as_deref()) {
            Some("set") => Topology::Set,
            Some("map") => {
                Topology::Map(schemas.first().map(|schema| schema.list_map_keys.clone()).unwrap_or_default())
            }
            _ => Topology::Atomic,
        };
        let fault = items.and_then(|items| match &self.plan.nodes[items].kind {
            Kind::Impossible(fault) if !self.plan.nodes[items].null => Some(fault.clone()),
            _ => None,
        });
        match fault {
            Some(fault) if least > 0 => self.push(path, schemas, Kind::Impossible(fault)),
            Some(_) => self.push(path, schemas, Kind::List(List { items: None, least: 0, most: 0, topology })),
            None => self.push(path, schemas, Kind::List(List { items, least, most, topology })),
        }
    }

    fn object(&mut self, path: &Path, conjunction: &Conjunction<'a>, depth: usize) -> Id {
        let schemas = conjunction.schemas.clone();
        let least = greatest(schemas.iter().filter_map(|schema| schema.min_properties));
        let most = smallest(schemas.iter().filter_map(|schema| schema.max_properties));
        if least > most {
            return self.impossible(path, schemas, "minProperties", "is more than maxProperties");
        }
        let embedded = path.is_root() || schemas.iter().any(|schema| schema.embedded_resource);
        let required: BTreeSet<&str> = schemas.iter().flat_map(|schema| &schema.required).map(String::as_str).collect();
        let forbidden: BTreeSet<&str> = conjunction.nots.iter().filter_map(|not| forbids(not)).collect();
        let names: IndexSet<&'a str> =
            schemas.iter().flat_map(|schema| schema.properties.keys()).map(String::as_str).collect();
        let mut object = Object {
            fields: Vec::with_capacity(names.len()),
            values: None,
            free: schemas.iter().any(|schema| schema.preserves_unknown()),
            least,
            most,
            embedded,
        };
        for name in names {
            if embedded && META.contains(&name) {
                continue;
            }
            let is_required = required.contains(&name);
            if forbidden.contains(&name) {
                if is_required {
                    return self.impossible(&path.field(name), schemas, "not", "the field is required and forbidden");
                }
                continue;
            }
            let parts = schemas.iter().filter_map(|schema| schema.properties.get(name)).collect();
            let child = Conjunction::of(parts);
            let node = self.node(&path.field(name), child, depth + 1);
            if let Kind::Impossible(fault) = &self.plan.nodes[node].kind
                && !self.plan.nodes[node].null
                && is_required
                && self.plan.nodes[node].default.is_none()
            {
                let fault = fault.clone();
                return self.push(path, schemas, Kind::Impossible(fault));
            }
            object.fields.push(Field { name: name.to_owned(), node, required: is_required });
        }
        let values: Vec<&Schema> = schemas.iter().filter_map(|schema| schema.values()).collect();
        if !values.is_empty() {
            let child = Conjunction::of(values);
            object.values = Some(self.node(&path.value(), child, depth + 1));
        }
        let described: BTreeSet<String> = object.fields.iter().map(|field| field.name.clone()).collect();
        let known = |name: &str| {
            described.contains(name) || object.values.is_some() || object.free || embedded && META.contains(&name)
        };
        if let Some(name) = required.iter().find(|name| !known(name)) {
            return self.impossible(&path.field(name), schemas, "required", "the field is required and not described");
        }
        if object.values.is_none() && !object.free && object.fields.len() < least {
            return self.impossible(path, schemas, "minProperties", "is more than there are properties");
        }
        // Names that are required without being described.
        for name in required {
            if !(described.contains(name) || embedded && META.contains(&name)) {
                let node = match object.values {
                    Some(values) => values,
                    None => self.push(&path.field(name), Vec::new(), Kind::Free),
                };
                object.fields.push(Field { name: name.to_owned(), node, required: true });
            }
        }
        self.push(path, schemas, Kind::Object(object))
    }
}

/// The field that a schema under `not` forbids, if it has no other keyword.
fn forbids(not: &Schema) -> Option<&str> {
    match not.required.as_slice() {
        [only] if says_only(not, "required") => Some(only),
        _ => None,
    }
}

/// The rules of a schema node, including those in `allOf`.
fn goals_of<'a>(schema: &'a Schema, goals: &mut Vec<Goal<'a>>, depth: usize) {
    goals.extend(schema.rules.iter().filter_map(Goal::read));
    if depth < DEPTH_LIMIT {
        schema.all_of.iter().for_each(|branch| goals_of(branch, goals, depth + 1));
    }
}
