//! `x-kubernetes-validations`: rules in the Common Expression Language.
//!
//! The walk over the schema, the values that rules see, transition rules, ratcheting, reasons and
//! field paths are ours; expressions are evaluated by `cel` with the functions of `kube-cel`. What
//! that engine reads differently from a server is rewritten before evaluation (`rewrite`): field
//! selection on what is not a map, `?.`, negation, comparison of sets and list maps without regard to
//! order, and `all` and `exists` over failing tests. Functions with another meaning, or missing
//! forms, are replaced (`library`, `macros`, `times`, `urls`).
//!
//! What is left open is reported as [`Inconclusive`](super::Inconclusive), never passed:
//!
//! - functions and macros that the engine does not have, such as `transformMapEntry`, time zones by
//!   name, sums of durations, and `format` with anything but `%s`, `%d` and `%%`;
//! - message construction, and addition to sets and list maps, which merges on a server;
//! - a rule that holds although a value in its reach has a form that a server does not let rules
//!   see, such as 1.0 for an integer: whether the rule touched that value is not known;
//! - a rule that holds, but may cost more than a server allows;
//! - an expression at which the engine fails in a way that a server's type check excludes.
//!
//! Loops end where a server ends them for their cost (`budget`), and the estimates by which servers refuse definitions are
//! computed (`cost`). Rules are not type-checked; a server refuses the definition where they are wrong.

mod budget;
mod constants;
mod cost;
mod engine;
mod equal;
mod expression;
mod library;
mod literals;
mod macros;
mod program;
mod rewrite;
mod times;
mod urls;
mod value;

use std::collections::BTreeMap;
use std::fmt;

use kube_cel::cel::common::ast::{Expr, IdedExpr};
use serde_json::Value;

use super::place::Place;
use super::ratchet::{Correlation, counterpart};
use super::verdict::Findings;
use super::{Path, Rule, Schema, Step};
use crate::kubernetes::KubeVersion;
pub use constants::constant_faults;
pub use cost::{RULE_COST_LIMIT, RuleCost, SCHEMA_COST_LIMIT, rule_costs};
use engine::Engine;
pub use expression::{Expression, ExpressionError};
use program::{Program, Subject, guarded};

/// The rules of a schema, compiled.
pub(super) struct Rules<'a> {
    root: Node<'a>,
    engine: Engine,
}

impl fmt::Debug for Rules<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").finish_non_exhaustive()
    }
}

/// The rules at a schema node and below. Nodes without any are left out.
struct Node<'a> {
    schema: &'a Schema,
    /// True if rules see apiVersion, kind and the name here.
    resource: bool,
    programs: Vec<Program<'a>>,
    all_of: Vec<Node<'a>>,
    properties: BTreeMap<&'a str, Node<'a>>,
    items: Option<Box<Node<'a>>>,
    values: Option<Box<Node<'a>>>,
}

/// The old and the new value, on the way down. Below a part that has no counterpart, the last part
/// that has one decides.
#[derive(Clone, Copy, Default)]
struct Ratchet<'a> {
    here: Option<Correlation<'a>>,
    above: Option<Correlation<'a>>,
}

impl Ratchet<'_> {
    fn forgives(&self) -> bool {
        let nearest = self.here.as_ref().or(self.above.as_ref());
        nearest.is_some_and(Correlation::is_unchanged)
    }

    /// Old and new objects are converted to one version, so that a change of type does not show.
    fn key(self, name: &str) -> Self {
        match self.here {
            None => self,
            Some(_) if self.above.is_none() && matches!(name, "apiVersion" | "kind") => Self::default(),
            Some(here) => Self { here: here.key(name), above: Some(here) },
        }
    }

    fn index(self, index: usize) -> Self {
        match self.here {
            None => self,
            Some(here) => Self { here: here.index(index), above: Some(here) },
        }
    }
}

impl<'a> Rules<'a> {
    /// Compiles all rules; `None` where there are none.
    pub(super) fn compile(schema: &'a Schema, kubernetes: KubeVersion) -> Option<Self> {
        // Most schemas have none, and an engine with all its functions takes time to set up.
        if !schema.has_rules() {
            return None;
        }
        let mut engine = Engine::new(kubernetes);
        let root = Node::compile(schema, schema, true, 0, &mut engine)?;
        engine.seal();
        Some(Self { root, engine })
    }

    /// Runs the rules that are stated right at a schema node, not below, on a part of an object.
    /// `said` gets each rule that fails, and each that cannot be decided with the reason.
    pub(super) fn judge_at(&self, path: &Path, value: &Value, said: &mut dyn FnMut(&'a Rule, Option<String>)) {
        budget::start_object();
        self.root.judge_at(&self.engine, path.steps(), value, said);
    }

    /// Runs all rules on a value.
    pub(super) fn judge<'v>(
        &self,
        value: &'v Value,
        old: Option<&'v Value>,
        correlation: Option<Correlation<'v>>,
        findings: &mut Findings,
    ) {
        budget::start_object();
        let ratchet = Ratchet { here: correlation, above: None };
        self.root.judge(&self.engine, value, old, ratchet, &Place::root(), findings);
    }
}

impl<'a> Node<'a> {
    /// `stated` holds the rules, `schema` describes the values. They differ inside `allOf`.
    fn compile(
        stated: &'a Schema,
        schema: &'a Schema,
        resource: bool,
        depth: usize,
        engine: &mut Engine,
    ) -> Option<Self> {
        if depth > super::place::DEPTH_LIMIT {
            return None;
        }
        let depth = depth + 1;
        let program = |rule: &'a Rule| Program::compile(rule, schema, engine);
        let programs: Vec<_> = stated.rules.iter().map(program).collect();
        let mut node = Self {
            schema,
            resource,
            programs,
            all_of: Vec::new(),
            properties: BTreeMap::new(),
            items: None,
            values: None,
        };
        for (name, property) in &stated.properties {
            if let Some(described) = schema.properties.get(name) {
                let embedded = described.embedded_resource;
                let child = Self::compile(property, described, embedded, depth, engine);
                node.properties.extend(child.map(|child| (name.as_str(), child)));
            }
        }
        node.items = Self::child(stated.items.as_deref(), schema.items.as_deref(), depth, engine);
        node.values = Self::child(stated.values(), schema.values(), depth, engine);
        for branch in &stated.all_of {
            node.all_of.extend(Self::compile(branch, schema, resource, depth, engine));
        }
        (!node.is_empty()).then_some(node)
    }

    fn is_empty(&self) -> bool {
        self.programs.is_empty()
            && self.all_of.is_empty()
            && self.properties.is_empty()
            && self.items.is_none()
            && self.values.is_none()
    }

    fn child(
        stated: Option<&'a Schema>,
        schema: Option<&'a Schema>,
        depth: usize,
        engine: &mut Engine,
    ) -> Option<Box<Self>> {
        let (stated, schema) = (stated?, schema?);
        Self::compile(stated, schema, schema.embedded_resource, depth, engine).map(Box::new)
    }

    fn judge_at(&self, engine: &Engine, steps: &[Step], value: &Value, said: &mut dyn FnMut(&'a Rule, Option<String>)) {
        let Some((step, rest)) = steps.split_first() else {
            let subject = Subject::new(self.schema, self.resource, value, None);
            for program in self.programs.iter().filter(|_| !value.is_null()) {
                let mut findings = Findings::default();
                program.judge(engine, &subject, || false, &Place::root(), &mut findings);
                if let Some(inconclusive) = findings.inconclusive.pop() {
                    said(program.rule(), Some(inconclusive.why));
                } else if !findings.violations.is_empty() {
                    said(program.rule(), None);
                }
            }
            for branch in &self.all_of {
                branch.judge_at(engine, steps, value, said);
            }
            return;
        };
        let child = match step {
            Step::Field(name) => self.properties.get(name.as_str()),
            Step::Item => self.items.as_deref(),
            Step::Value => self.values.as_deref(),
        };
        if let Some(node) = child {
            node.judge_at(engine, rest, value, said);
        }
        for branch in &self.all_of {
            branch.judge_at(engine, steps, value, said);
        }
    }

    fn judge<'v>(
        &self,
        engine: &Engine,
        value: &'v Value,
        old: Option<&'v Value>,
        ratchet: Ratchet<'v>,
        place: &Place<'_>,
        findings: &mut Findings,
    ) {
        // A rule on a nullable field does not run for null; the parent's rules can see it.
        if value.is_null() || place.is_too_deep() {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        if !self.programs.is_empty() {
            let subject = Subject::new(self.schema, self.resource, value, old);
            for program in &self.programs {
                program.judge(engine, &subject, || ratchet.forgives(), place, findings);
            }
        }
        for branch in &self.all_of {
            let ratchet = Ratchet { here: None, ..ratchet };
            branch.judge(engine, value, old, ratchet, place, findings);
        }
        self.judge_parts(engine, value, old, ratchet, place, findings);
    }

    fn judge_parts<'v>(
        &self,
        engine: &Engine,
        value: &'v Value,
        old: Option<&'v Value>,
        ratchet: Ratchet<'v>,
        place: &Place<'_>,
        findings: &mut Findings,
    ) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let old = old.and_then(|old| old.get(name));
                    let ratchet = ratchet.key(name);
                    if let Some(node) = self.properties.get(name.as_str()) {
                        let place = place.field(name);
                        node.judge(engine, value, old, ratchet, &place, findings);
                    }
                    if let Some(node) = &self.values {
                        let place = place.value(name);
                        node.judge(engine, value, old, ratchet, &place, findings);
                    }
                }
            }
            Value::Array(items) => {
                let Some(node) = &self.items else { return };
                let others = old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                for (index, item) in items.iter().enumerate() {
                    let old = counterpart(self.schema, item, others);
                    let ratchet = ratchet.index(index);
                    node.judge(engine, item, old, ratchet, &place.item(index), findings);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// Parses a rule into a tree. Returns `None` if the parser cannot read it.
pub(crate) fn parse_rule(text: &str) -> Option<IdedExpr> {
    guarded(|| rewrite::parse(text)).ok()?.ok()
}

/// Returns whether a rule about values of a schema selects a property by a name that CEL reserves, such as `namespace`,
/// without an escape. Keys of maps may have any name. Only what is selected from `self` is looked at.
pub fn selects_reserved_word(schema: &Schema, rule: &str) -> bool {
    fn selected<'a>(node: &IdedExpr, schema: &'a Schema, found: &mut bool) -> Option<&'a Schema> {
        match &node.expr {
            Expr::Ident(name) if matches!(name.as_str(), "self" | "oldSelf") => Some(schema),
            Expr::Select(select) => {
                let parent = selected(&select.operand, schema, found)?;
                let name = value::unescape(&select.field);
                let property = parent.properties.get(&name);
                *found |= property.is_some() && value::is_reserved(&select.field);
                property
            }
            _ => {
                for part in super::compare::children(node) {
                    selected(part, schema, found);
                }
                None
            }
        }
    }
    if !value::mentions_reserved(rule) {
        return false;
    }
    let mut found = false;
    if let Some(tree) = parse_rule(rule) {
        selected(&tree, schema, &mut found);
    }
    found
}

/// Evaluates an expression in which no variable is free. `None` where our engine cannot; the inner `Err` is an evaluation
/// error that a server has too.
pub(crate) fn evaluate_constant(expression: &IdedExpr) -> Option<Result<Value, ()>> {
    let mut expression = expression.clone();
    let mut engine = Engine::new(KubeVersion::NEWEST);
    guarded(|| rewrite::rewrite_constant(&mut expression, &mut engine)).ok()?.ok()?;
    engine.seal();
    let scope = engine.scope();
    let (result, cost) = budget::measured(&expression, budget::RULE_LIMIT, || guarded(|| scope.resolve(&expression)));
    match result.ok().filter(|_| cost.least <= budget::RULE_LIMIT)? {
        Ok(value) => expression::to_json(&value).ok().map(Ok),
        Err(error) if engine::is_genuine(&error) => Some(Err(())),
        Err(_) => None,
    }
}

/// The property that a rule selects by this name: reserved words and some characters are escaped there.
pub(crate) fn unescape_field(escaped: &str) -> String {
    value::unescape(escaped)
}

/// Returns the syntax error of a rule. Syntax that our parser does not support, such as `.?`, and rules that are nested
/// too deeply for it are not errors.
pub fn syntax_error(text: &str) -> Option<String> {
    if super::is_oversized(text) {
        return None;
    }
    let compile = || kube_cel::cel::Program::compile(text).map(drop);
    let parsed = super::with_large_stack(|| std::panic::catch_unwind(compile));
    let error = parsed.ok()?.err()?.to_string();
    let ours = error.contains("unsupported syntax") || error.contains("Recursion limit");
    if ours { None } else { Some(error) }
}
