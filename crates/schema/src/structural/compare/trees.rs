//! Operations on trees of rules.

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use serde_json::Value;

use crate::structural::unescape_field;

/// Stands for an expression that cannot be evaluated.
pub(super) const ERROR: &str = "@error";

/// Names that are not variables.
const NAMES: [&str; 12] =
    ["bool", "bytes", "double", "int", "list", "map", "null_type", "optional", "string", "type", "uint", "math"];

pub(super) fn is_error(node: &IdedExpr) -> bool {
    matches!(&node.expr, Expr::Call(call) if call.func_name == ERROR)
}

pub(super) fn error(id: u64) -> IdedExpr {
    IdedExpr { id, expr: Expr::Call(CallExpr { func_name: ERROR.to_owned(), target: None, args: Vec::new() }) }
}

/// The parts of an expression, in the order in which [`rebuild`] visits them.
pub(in crate::structural) fn children(node: &IdedExpr) -> Vec<&IdedExpr> {
    match &node.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => Vec::new(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Map(map) => {
            let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => Some([&entry.key, &entry.value]),
                EntryExpr::StructField(_) => None,
            });
            entries.flatten().collect()
        }
        Expr::Comprehension(fold) => {
            vec![&fold.iter_range, &fold.accu_init, &fold.loop_cond, &fold.loop_step, &fold.result]
        }
    }
}

/// The same expression with other parts.
pub(super) fn rebuild(node: &IdedExpr, change: &mut dyn FnMut(&IdedExpr) -> IdedExpr) -> IdedExpr {
    let mut node = node.clone();
    match &mut node.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
        Expr::Select(select) => *select.operand = change(&select.operand),
        Expr::List(list) => list.elements.iter_mut().for_each(|part| *part = change(part)),
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| **target = change(target));
            call.args.iter_mut().for_each(|part| *part = change(part));
        }
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = change(&entry.key);
                    entry.value = change(&entry.value);
                }
            }
        }
        Expr::Comprehension(fold) => {
            fold.iter_range = change(&fold.iter_range);
            fold.accu_init = change(&fold.accu_init);
            fold.loop_cond = change(&fold.loop_cond);
            fold.loop_step = change(&fold.loop_step);
            fold.result = change(&fold.result);
        }
    }
    node
}

/// Renames a variable wherever it is free.
pub(super) fn rename(node: &IdedExpr, from: &str, to: &str) -> IdedExpr {
    match &node.expr {
        Expr::Ident(name) if name == from => IdedExpr { id: node.id, expr: Expr::Ident(to.to_owned()) },
        // An inner variable of the same name shadows it everywhere except in the range.
        Expr::Comprehension(fold) if fold.iter_var == from || fold.iter_var2.as_deref() == Some(from) => {
            let mut fold = fold.clone();
            fold.iter_range = rename(&fold.iter_range, from, to);
            IdedExpr { id: node.id, expr: Expr::Comprehension(fold) }
        }
        _ => rebuild(node, &mut |part| rename(part, from, to)),
    }
}

/// Returns the nesting depth of comprehensions.
pub(super) fn height(node: &IdedExpr) -> usize {
    let below = children(node).into_iter().map(height).max().unwrap_or_default();
    below + usize::from(matches!(node.expr, Expr::Comprehension(_)))
}

/// Returns true if an expression has no free variables.
pub(super) fn is_closed(node: &IdedExpr, bound: &mut Vec<String>) -> bool {
    match &node.expr {
        Expr::Ident(name) => bound.contains(name) || NAMES.contains(&name.as_str()),
        Expr::Struct(_) | Expr::Unspecified => false,
        Expr::Comprehension(fold) => {
            if !is_closed(&fold.iter_range, bound) || !is_closed(&fold.accu_init, bound) {
                return false;
            }
            let depth = bound.len();
            bound.extend([fold.iter_var.clone(), fold.accu_var.clone()]);
            bound.extend(fold.iter_var2.clone());
            let closed =
                [&fold.loop_cond, &fold.loop_step, &fold.result].into_iter().all(|part| is_closed(part, bound));
            bound.truncate(depth);
            closed
        }
        _ => children(node).into_iter().all(|part| is_closed(part, bound)),
    }
}

/// The names on the path from `self` to a value, as in the schema.
pub(super) fn path_of(node: &IdedExpr) -> Option<Vec<String>> {
    match &node.expr {
        Expr::Ident(name) if name == "self" => Some(Vec::new()),
        Expr::Select(select) if !select.test => {
            let mut path = path_of(&select.operand)?;
            path.push(unescape_field(&select.field));
            Some(path)
        }
        _ => None,
    }
}

/// Visits the longest path of each use of `self`; `has(self.a)` is one, too.
pub(super) fn visit_paths(node: &IdedExpr, visit: &mut dyn FnMut(Vec<String>)) {
    if let Some(path) = tested_path(node).or_else(|| optional_path(node)).or_else(|| path_of(node)) {
        return visit(path);
    }
    for part in children(node) {
        visit_paths(part, visit);
    }
}

/// The path of `has(self.a.b)`.
pub(super) fn tested_path(node: &IdedExpr) -> Option<Vec<String>> {
    let Expr::Select(select) = &node.expr else { return None };
    let mut path = path_of(&select.operand).filter(|_| select.test)?;
    path.push(unescape_field(&select.field));
    Some(path)
}

/// The path of `self.a.?b`.
pub(super) fn optional_path(node: &IdedExpr) -> Option<Vec<String>> {
    let Expr::Call(CallExpr { func_name, target: None, args }) = &node.expr else { return None };
    let [operand, IdedExpr { expr: Expr::Literal(LiteralValue::String(name)), .. }] = args.as_slice() else {
        return None;
    };
    let mut path = path_of(operand).filter(|_| func_name == operators::OPT_SELECT)?;
    path.push(unescape_field(name.inner()));
    Some(path)
}

/// Turns a rule of a node into one about an existing field: `self.field` becomes `self`, and `self` becomes `up`.
pub(super) fn descend(node: &IdedExpr, field: &str) -> IdedExpr {
    let is_field = |path: Option<Vec<String>>| path.is_some_and(|path| path.len() == 1 && path[0] == field);
    let ident = |name: &str| IdedExpr { id: node.id, expr: Expr::Ident(name.to_owned()) };
    match &node.expr {
        _ if is_field(tested_path(node)) => {
            IdedExpr { id: node.id, expr: Expr::Literal(LiteralValue::Boolean(true.into())) }
        }
        _ if is_field(path_of(node)) => ident("self"),
        Expr::Ident(name) if name == "self" => ident("up"),
        _ => rebuild(node, &mut |part| descend(part, field)),
    }
}

/// A value as a literal of a rule. `None` if it has no literal.
pub(super) fn written(id: u64, value: &Value) -> Option<IdedExpr> {
    use kube_cel::cel::common::ast::{IdedEntryExpr, ListExpr, MapEntryExpr, MapExpr};
    let text = |text: &str| Expr::Literal(LiteralValue::String(text.into()));
    let expr = match value {
        Value::Null => Expr::Literal(LiteralValue::Null),
        Value::Bool(value) => Expr::Literal(LiteralValue::Boolean((*value).into())),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Expr::Literal(LiteralValue::Int(value.into())),
            None => Expr::Literal(LiteralValue::Double(number.as_f64()?.into())),
        },
        Value::String(value) => text(value),
        Value::Array(items) => {
            let items = items.iter().map(|item| written(id, item)).collect::<Option<Vec<_>>>()?;
            Expr::List(ListExpr::new(items))
        }
        Value::Object(map) => {
            let entry = |(name, value): (&String, &Value)| {
                let key = IdedExpr { id, expr: text(name) };
                let entry = MapEntryExpr { key, value: written(id, value)?, optional: false };
                Some(IdedEntryExpr { id, expr: EntryExpr::MapEntry(entry) })
            };
            Expr::Map(MapExpr { entries: map.iter().map(entry).collect::<Option<Vec<_>>>()? })
        }
    };
    Some(IdedExpr { id, expr })
}
