//! Fields that old objects have, lack, or may have, and the value of rules in each case.
//!
//! A server applies defaults before it validates, and has dropped fields that the old schema did not have when it
//! stored an object. So a new field is absent from old objects, or has its default; a required one is present.

use std::collections::{BTreeMap, BTreeSet};

use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};
use serde_json::Value;

use super::node::same;
use super::trees::{
    children, error, is_closed, is_error, optional_path, path_of, rebuild, tested_path, visit_paths, written,
};
use crate::structural::{Schema, default, evaluate_constant};

/// Maximum number of combinations of present and absent fields.
const MAX_WORLDS: usize = 256;

/// A field of old objects when a server validates them by the new schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    Present,
    Absent,
    Known(Value),
}

/// One combination of fields. Other fields may be present or not.
#[derive(Debug, Clone, Default)]
pub(super) struct World(BTreeMap<Vec<String>, Field>);

/// A node in both states.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) old: &'a Schema,
    pub(super) new: &'a Schema,
}

impl<'a> Node<'a> {
    /// The combinations of those fields that old objects can have.
    pub(super) fn worlds<'t>(&self, rules: impl IntoIterator<Item = &'t IdedExpr>) -> Vec<World> {
        let mut paths = BTreeSet::new();
        for rule in rules {
            visit_paths(rule, &mut |path| paths.extend((1..=path.len()).map(|length| path[..length].to_vec())));
        }
        self.worlds_of(&paths)
    }

    /// Returns the same for fields whose parents are among them. A parent sorts before its children.
    pub(super) fn worlds_of(&self, paths: &BTreeSet<Vec<String>>) -> Vec<World> {
        let mut worlds = vec![World::default()];
        for path in paths {
            let field = self.field(path);
            let fork = field.is_none() && worlds.len() * 2 <= MAX_WORLDS;
            let mut more = Vec::new();
            for world in worlds.iter_mut().filter(|world| world.reaches(path)) {
                match &field {
                    Some(field) => drop(world.0.insert(path.clone(), field.clone())),
                    None if fork => {
                        let mut without = world.clone();
                        without.0.insert(path.clone(), Field::Absent);
                        more.push(without);
                        world.0.insert(path.clone(), Field::Present);
                    }
                    None => {}
                }
            }
            worlds.extend(more);
        }
        worlds
    }

    /// Returns the known state of a field whose parent is present.
    fn field(&self, path: &[String]) -> Option<Field> {
        let (name, parents) = path.split_last()?;
        let parent = parents.iter().try_fold(*self, |node, name| {
            Some(Node { old: node.old.properties.get(name)?, new: node.new.properties.get(name)? })
        })?;
        let (old, new) = (parent.old.properties.get(name), parent.new.properties.get(name));
        let is_nullable = [old, new].into_iter().flatten().any(|schema| schema.nullable);
        if parent.old.required.contains(name) && !is_nullable {
            return Some(Field::Present);
        }
        let new = new?;
        let is_free = parent.old.preserves_unknown() || parent.old.additional.is_some();
        match old {
            None if is_free => None,
            None => Some(filled(new).map_or(Field::Absent, Field::Known)),
            Some(_) if new.default.is_some() && !is_nullable => Some(Field::Present),
            Some(_) => None,
        }
    }

    /// The old schema of a field that certainly has a value which it allows; `None` if it has another default.
    pub(super) fn old_at(&self, world: &World, path: &[String]) -> Option<&'a Schema> {
        let mut node = *self;
        for length in 1..=path.len() {
            if world.0.get(&path[..length]) != Some(&Field::Present) {
                return None;
            }
            let name = &path[length - 1];
            node = Node { old: node.old.properties.get(name)?, new: node.new.properties.get(name)? };
            if !node.keeps_default() || node.old.nullable {
                return None;
            }
        }
        self.keeps_default().then_some(node.old)
    }

    /// Returns true if there is no default that the old schema did not have.
    fn keeps_default(&self) -> bool {
        match (&self.old.default, &self.new.default) {
            (Some(old), Some(new)) => same(old, new),
            (_, None) => true,
            (None, Some(_)) => false,
        }
    }

    /// Fields below this node whose values differ when old objects are read by the new schema, by their first step; and
    /// true if there are any at all.
    pub(super) fn altered(&self) -> (BTreeSet<&'a str>, bool) {
        let fields: BTreeSet<_> = self.altered_fields().collect();
        let parts = self.parts().into_iter().any(|part| part.is_altered());
        let any = parts || !fields.is_empty();
        (fields, any)
    }

    fn altered_fields(&self) -> impl Iterator<Item = &'a str> {
        let node = *self;
        let changed = node.new.properties.iter().filter(move |(name, new)| match node.old.properties.get(*name) {
            Some(old) => {
                let node = Node { old, new };
                old.default.as_ref() != new.default.as_ref() || old.nullable != new.nullable || node.is_altered()
            }
            None => new.default.is_some(),
        });
        let removed = node.old.properties.keys().filter(move |name| !node.new.properties.contains_key(*name));
        changed.map(|(name, _)| name.as_str()).chain(removed.map(String::as_str))
    }

    fn is_altered(&self) -> bool {
        self.altered_fields().next().is_some() || self.parts().into_iter().any(|part| part.is_altered())
    }

    /// Items and map values.
    fn parts(&self) -> Vec<Node<'a>> {
        let items = self.old.items.as_deref().zip(self.new.items.as_deref());
        let values = self.old.values().zip(self.new.values());
        items.into_iter().chain(values).map(|(old, new)| Node { old, new }).collect()
    }
}

/// The default of an absent field.
pub(super) fn filled(schema: &Schema) -> Option<Value> {
    let mut value = schema.default.clone()?;
    default(schema, &mut value);
    Some(value)
}

impl World {
    /// Returns true if the parents of a field may be present.
    fn reaches(&self, path: &[String]) -> bool {
        (1..path.len()).all(|length| !matches!(self.0.get(&path[..length]), Some(Field::Absent | Field::Known(_))))
    }

    /// A field by its path. `Err` if reading it is an error, `None` if it may be present or not.
    fn look(&self, path: &[String]) -> Result<Option<Field>, ()> {
        for length in 1..=path.len() {
            match self.0.get(&path[..length]) {
                Some(Field::Absent) if length == path.len() => return Ok(Some(Field::Absent)),
                Some(Field::Absent) => return Err(()),
                Some(Field::Known(value)) => return inside(value, &path[length..]).map(Some),
                Some(Field::Present) | None => {}
            }
        }
        Ok(self.0.get(path).cloned())
    }

    /// The rule in this world: replaces known fields, and evaluates constant expressions.
    pub(super) fn apply(&self, node: &IdedExpr) -> IdedExpr {
        self.replace(node).0
    }

    /// Also returns true if anything was replaced.
    fn replace(&self, node: &IdedExpr) -> (IdedExpr, bool) {
        if let Some(replaced) = self.known(node) {
            return (replaced, true);
        }
        if tested_path(node).or_else(|| path_of(node)).is_some() {
            return (node.clone(), false);
        }
        let mut touched = false;
        let built = rebuild(node, &mut |part| {
            let (part, replaced) = self.replace(part);
            touched |= replaced;
            part
        });
        if !touched {
            return (built, false);
        }
        let chosen = choose(&built).unwrap_or(built);
        if fails(&chosen) {
            return (error(node.id), true);
        }
        let is_computed = matches!(chosen.expr, Expr::Call(_) | Expr::Comprehension(_) | Expr::Select(_));
        if is_computed && is_closed(&chosen, &mut Vec::new()) && !has_error(&chosen) {
            return (evaluated(chosen), true);
        }
        (chosen, true)
    }

    /// Returns the replacement of a path that this world knows.
    fn known(&self, node: &IdedExpr) -> Option<IdedExpr> {
        let boolean = |value: bool| written(node.id, &Value::Bool(value));
        if let Some(path) = tested_path(node) {
            return match self.look(&path) {
                Err(()) => Some(error(node.id)),
                Ok(field) => boolean(field? != Field::Absent),
            };
        }
        if let Some(path) = optional_path(node) {
            let (name, args) = match self.look(&path).ok()?? {
                Field::Absent => ("none", Vec::new()),
                Field::Known(value) => ("of", vec![written(node.id, &value)?]),
                Field::Present => return None,
            };
            let target = IdedExpr { id: node.id, expr: Expr::Ident("optional".to_owned()) };
            let call = CallExpr { func_name: name.to_owned(), target: Some(Box::new(target)), args };
            return Some(IdedExpr { id: node.id, expr: Expr::Call(call) });
        }
        match self.look(&path_of(node)?) {
            Err(()) | Ok(Some(Field::Absent)) => Some(error(node.id)),
            Ok(Some(Field::Known(value))) => written(node.id, &value),
            Ok(Some(Field::Present) | None) => None,
        }
    }
}

fn inside(value: &Value, path: &[String]) -> Result<Field, ()> {
    let Some((name, rest)) = path.split_first() else { return Ok(Field::Known(value.clone())) };
    match (value.get(name), rest) {
        (Some(value), rest) => inside(value, rest),
        (None, []) => Ok(Field::Absent),
        (None, _) => Err(()),
    }
}

/// The selected branch of `a ? b : c`.
fn choose(node: &IdedExpr) -> Option<IdedExpr> {
    let Expr::Call(CallExpr { func_name, args, .. }) = &node.expr else { return None };
    let [test, then, otherwise] = args.as_slice() else { return None };
    match &test.expr {
        Expr::Literal(LiteralValue::Boolean(value)) if func_name == operators::CONDITIONAL => {
            Some(if *value.inner() { then.clone() } else { otherwise.clone() })
        }
        _ => None,
    }
}

/// Returns true if an expression cannot be evaluated because one of its parts cannot.
fn fails(node: &IdedExpr) -> bool {
    let absorbs = |call: &CallExpr| {
        matches!(call.func_name.as_str(), operators::LOGICAL_AND | operators::LOGICAL_OR | operators::CONDITIONAL)
    };
    match &node.expr {
        Expr::Call(call) if call.func_name == operators::CONDITIONAL => call.args.first().is_some_and(is_error),
        Expr::Call(call) if absorbs(call) => call.args.iter().all(is_error),
        Expr::Comprehension(fold) => is_error(&fold.iter_range),
        Expr::Call(_) | Expr::Select(_) | Expr::List(_) | Expr::Map(_) => children(node).into_iter().any(is_error),
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => false,
    }
}

fn has_error(node: &IdedExpr) -> bool {
    is_error(node) || children(node).into_iter().any(has_error)
}

/// The value of a constant expression, if our engine can compute it as a literal.
fn evaluated(node: IdedExpr) -> IdedExpr {
    match evaluate_constant(&node) {
        Some(Ok(value)) => written(node.id, &value).unwrap_or(node),
        Some(Err(())) => error(node.id),
        None => node,
    }
}
