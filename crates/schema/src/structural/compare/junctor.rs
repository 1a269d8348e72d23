//! `allOf`, `anyOf`, `oneOf` and `not`: compared branch by branch if that is meaningful.

use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators};
use serde_json::{Map, Value, json};

use super::node::{PROSE, Scene};
use super::{Direction, Shape, What};
use crate::structural::{Additional, Schema};

impl Scene<'_> {
    pub(super) fn junctors(&mut self) {
        let (old, new) = (self.old, self.new);
        self.branches("allOf", &old.all_of, &new.all_of);
        self.branches("anyOf", any_of(old), any_of(new));
        self.branches("oneOf", &old.one_of, &new.one_of);
        let not = |schema: &Schema| schema.not.as_deref().map(canonical);
        let (before, after) = (not(old), not(new));
        if before == after {
            return;
        }
        let direction = match (&before, &after) {
            (Some(_), None) => Direction::Wider,
            (None, _) => Direction::Narrower,
            (Some(_), Some(_)) => Direction::Unknown,
        };
        let direction = self.unless_implied(direction, tree_of_not(new));
        let what = What::JunctorChanged {
            keyword: "not",
            added: usize::from(before.is_none()),
            removed: usize::from(after.is_none()),
        };
        self.report("not", direction, what);
    }

    fn branches(&mut self, keyword: &'static str, old: &[Schema], new: &[Schema]) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        let texts = |branches: &[Schema]| branches.iter().map(canonical).collect::<Vec<_>>();
        let (before, after) = (texts(old), texts(new));
        let gone = before.iter().filter(|branch| !after.contains(branch)).count();
        let fresh = after.iter().filter(|branch| !before.contains(branch)).count();
        if gone == 0 && fresh == 0 {
            return;
        }
        let direction = match (keyword, gone, fresh) {
            (_, _, _) if new.is_empty() => Direction::Wider,
            (_, _, _) if old.is_empty() => Direction::Narrower,
            ("allOf", _, 0) | ("anyOf", 0, _) => Direction::Wider,
            ("allOf", 0, _) | ("anyOf", _, 0) => Direction::Narrower,
            ("allOf" | "anyOf", _, _) if old.len() == new.len() => pairwise(old, new),
            _ => Direction::Unknown,
        };
        let goal = match keyword {
            "allOf" => all(new.iter().map(|branch| tree(branch, self.new, &[]))),
            "anyOf" => any(new.iter().map(|branch| tree(branch, self.new, &[]))),
            _ => one(new, self.new, &[]),
        };
        let direction = self.unless_implied(direction, Some(goal));
        let what = What::JunctorChanged { keyword, added: fresh, removed: gone };
        self.report(keyword, direction, what);
    }
}

impl Scene<'_> {
    /// The direction of a combined schema, unless every old object satisfies it.
    fn unless_implied(&self, direction: Direction, goal: Option<IdedExpr>) -> Direction {
        let is_breaking = matches!(direction, Direction::Narrower | Direction::Unknown);
        let Some(goal) = goal.filter(|_| is_breaking) else { return direction };
        let node = self.node();
        if node.entails(&node.facts(), &goal) { Direction::Harmless } else { direction }
    }
}

/// The combined schemas of a node as equivalent rules.
pub(super) fn trees(schema: &Schema) -> Vec<IdedExpr> {
    let mut trees: Vec<_> = schema.all_of.iter().map(|branch| tree(branch, schema, &[])).collect();
    if !any_of(schema).is_empty() {
        trees.push(any(schema.any_of.iter().map(|branch| tree(branch, schema, &[]))));
    }
    if !schema.one_of.is_empty() {
        trees.push(one(&schema.one_of, schema, &[]));
    }
    trees.extend(tree_of_not(schema));
    trees
}

fn tree_of_not(schema: &Schema) -> Option<IdedExpr> {
    schema.not.as_deref().map(|branch| not(tree(branch, schema, &[])))
}

/// A branch as a rule. Validation always has a result, so fields are only read if present; keywords without an
/// equivalent become an opaque call that is true or false.
fn tree(branch: &Schema, node: &Schema, path: &[&str]) -> IdedExpr {
    let mut parts: Vec<IdedExpr> = branch.required.iter().map(|name| has(path, name)).collect();
    parts.extend(branch.all_of.iter().map(|branch| tree(branch, node, path)));
    if !branch.any_of.is_empty() {
        parts.push(any(branch.any_of.iter().map(|branch| tree(branch, node, path))));
    }
    if !branch.one_of.is_empty() {
        parts.push(one(&branch.one_of, node, path));
    }
    parts.extend(branch.not.as_deref().map(|branch| not(tree(branch, node, path))));
    for (name, property) in &branch.properties {
        let below = [path, &[name.as_str()]].concat();
        parts.push(any([not(has(path, name)), tree(property, node, &below)]));
    }
    parts.extend(rest(branch, node, path));
    all(parts)
}

/// Keywords without an equivalent in rules.
fn rest(branch: &Schema, node: &Schema, path: &[&str]) -> Option<IdedExpr> {
    let Value::Object(mut keywords) = canonical(branch) else { return None };
    for keyword in ["required", "allOf", "anyOf", "oneOf", "not", "properties"] {
        keywords.remove(keyword);
    }
    let here = path.iter().try_fold(node, |node, name| node.properties.get(*name));
    // The node already has this constraint.
    if here.is_some_and(|here| here.ty == branch.ty) {
        keywords.remove("type");
    }
    if keywords.is_empty() {
        return None;
    }
    let text = format!("{} {}", path.join("."), Value::Object(keywords));
    Some(call("@fits", vec![literal(&text)]))
}

/// Exactly one of them.
fn one(branches: &[Schema], node: &Schema, path: &[&str]) -> IdedExpr {
    let trees: Vec<_> = branches.iter().map(|branch| tree(branch, node, path)).collect();
    any((0..trees.len()).map(|only| {
        let part = |(at, tree): (usize, &IdedExpr)| if at == only { tree.clone() } else { not(tree.clone()) };
        all(trees.iter().enumerate().map(part))
    }))
}

fn has(path: &[&str], name: &str) -> IdedExpr {
    let ident = IdedExpr { id: 0, expr: Expr::Ident("self".to_owned()) };
    let select = |operand, name: &str, test| {
        let select = SelectExpr { operand: Box::new(operand), field: name.to_owned(), test };
        IdedExpr { id: 0, expr: Expr::Select(select) }
    };
    let parent = path.iter().fold(ident, |operand, name| select(operand, name, false));
    select(parent, name, true)
}

fn not(tree: IdedExpr) -> IdedExpr {
    call(operators::LOGICAL_NOT, vec![tree])
}

fn all(trees: impl IntoIterator<Item = IdedExpr>) -> IdedExpr {
    joined(operators::LOGICAL_AND, true, trees)
}

fn any(trees: impl IntoIterator<Item = IdedExpr>) -> IdedExpr {
    joined(operators::LOGICAL_OR, false, trees)
}

/// Joins rules in pairs, as the parser does.
fn joined(operator: &str, none: bool, trees: impl IntoIterator<Item = IdedExpr>) -> IdedExpr {
    let joined = trees.into_iter().reduce(|left, right| call(operator, vec![left, right]));
    joined.unwrap_or_else(|| IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::Boolean(none.into())) })
}

fn literal(text: &str) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::String(text.into())) }
}

fn call(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }) }
}

/// The direction of branches that changed one by one.
fn pairwise(old: &[Schema], new: &[Schema]) -> Direction {
    let deltas = old.iter().zip(new).flat_map(|(old, new)| super::compare(old, new));
    let breaking = deltas.filter(super::Delta::is_breaking).count();
    if breaking == 0 { Direction::Wider } else { Direction::Unknown }
}

/// `anyOf` without the two branches that `x-kubernetes-int-or-string` implies.
fn any_of(schema: &Schema) -> &[Schema] {
    let is_pair = schema.int_or_string
        && schema.any_of.len() == 2
        && schema.any_of.iter().all(|branch| branch.keywords.len() == 1 && Shape::of(branch).is_scalar());
    if is_pair { &[] } else { &schema.any_of }
}

/// A schema without locations and documentation, in a canonical order.
fn canonical(schema: &Schema) -> Value {
    let mut map = Map::new();
    for keyword in &schema.keywords {
        let name = keyword.name.as_str();
        if PROSE.contains(&name) {
            continue;
        }
        let list = |schemas: &[Schema]| Value::Array(schemas.iter().map(canonical).collect());
        let value = match name {
            "properties" => schema
                .properties
                .iter()
                .map(|(name, schema)| (name.clone(), canonical(schema)))
                .collect::<Map<_, _>>()
                .into(),
            "items" => json!(schema.items.as_deref().map(canonical)),
            "additionalProperties" => match &schema.additional {
                Some(Additional::Schema(schema)) => canonical(schema),
                Some(Additional::Allowed(allowed)) => json!(allowed),
                None => Value::Null,
            },
            "allOf" => list(&schema.all_of),
            "anyOf" => list(&schema.any_of),
            "oneOf" => list(&schema.one_of),
            "not" => json!(schema.not.as_deref().map(canonical)),
            "required" => {
                let mut names = schema.required.clone();
                names.sort_unstable();
                json!(names)
            }
            _ => keyword.value.clone().unwrap_or_default(),
        };
        map.insert(name.to_owned(), value);
    }
    Value::Object(map)
}
