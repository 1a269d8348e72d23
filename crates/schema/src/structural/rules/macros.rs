//! Macros over expressions that the engine does not have, or in which it gives up at the first
//! failure: a failing test of `all` does not matter if another one is false.

use std::sync::Arc;

use kube_cel::cel::common::ast::Expr;
use kube_cel::cel::objects::{Map, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, FunctionContext, Value};

use super::budget;
use super::engine::optional;

type Result<T> = std::result::Result<T, ExecutionError>;

/// The macros that bind one variable, or two, before their last arguments.
pub(super) const NAMES: [&str; 10] = [
    "all",
    "exists",
    "existsOne",
    "exists_one",
    "map",
    "optFlatMap",
    "optMap",
    "sortBy",
    "transformList",
    "transformMap",
];

/// The number of variables that a macro binds.
pub(super) fn variables(name: &str, arguments: usize) -> usize {
    match name {
        "all" | "exists" | "existsOne" | "exists_one" => arguments.saturating_sub(1),
        "transformList" | "transformMap" => 2,
        _ => 1,
    }
}

pub(super) fn register(context: &mut Context<'_>) {
    context.add_function("all", |ftx: &FunctionContext| quantify(ftx, false));
    context.add_function("exists", |ftx: &FunctionContext| quantify(ftx, true));
    context.add_function("existsOne", exists_one);
    context.add_function("exists_one", exists_one);
    context.add_function("map", map);
    context.add_function("optMap", |ftx: &FunctionContext| {
        let value = opt_flat_map(ftx)?;
        Ok(optional(value)) as Result<Value>
    });
    context.add_function("optFlatMap", |ftx: &FunctionContext| -> Result<Value> {
        Ok(opt_flat_map(ftx)?.unwrap_or_else(|| optional(None)))
    });
    context.add_function("sortBy", sort_by);
    context.add_function("transformList", transform_list);
    context.add_function("transformMap", transform_map);
}

/// The parts of a list with their indices, or of a map with their keys.
fn entries(ftx: &FunctionContext<'_, '_>) -> Result<Vec<(Value, Value)>> {
    match &ftx.this {
        Some(Value::List(items)) => Ok((0..).map(Value::Int).zip(items.iter().cloned()).collect()),
        Some(Value::Map(map)) => {
            let entries = map.map.iter();
            Ok(entries.map(|(key, value)| (Value::from(key), value.clone())).collect())
        }
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn variable<'a>(ftx: &'a FunctionContext<'_, '_>, index: usize) -> Result<&'a str> {
    match ftx.args.get(index).map(|arg| &arg.expr) {
        Some(Expr::Ident(name)) => Ok(name),
        _ => Err(ExecutionError::undeclared_reference(ftx.name)),
    }
}

/// Evaluates the argument at an index with the variables bound: both to key and value, or the only
/// one to the item of a list or the key of a map.
fn evaluate(
    ftx: &FunctionContext<'_, '_>,
    variables: usize,
    (key, value): &(Value, Value),
    index: usize,
) -> Result<Value> {
    let mut scope = ftx.ptx.new_inner_scope();
    let is_map = matches!(ftx.this, Some(Value::Map(_)));
    match variables {
        1 if is_map => scope.add_variable_from_value(variable(ftx, 0)?, key.clone()),
        1 => scope.add_variable_from_value(variable(ftx, 0)?, value.clone()),
        _ => {
            scope.add_variable_from_value(variable(ftx, 0)?, key.clone());
            scope.add_variable_from_value(variable(ftx, 1)?, value.clone());
        }
    }
    let argument = ftx.args.get(index).ok_or(ExecutionError::MissingArgumentOrTarget)?;
    // The value that a filter keeps is a branch of a condition, which servers do not count.
    let is_filter = ftx.name == "map" && ftx.args.len() == 3;
    budget::round(if is_filter { "filter" } else { ftx.name }, argument, is_filter && index == 2)?;
    scope.resolve(argument)
}

fn test(ftx: &FunctionContext<'_, '_>, variables: usize, entry: &(Value, Value), index: usize) -> Result<bool> {
    match evaluate(ftx, variables, entry, index)? {
        Value::Bool(holds) => Ok(holds),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

/// Returns whether some test gives `decisive`; if none does, a failure of any of them counts.
fn quantify(ftx: &FunctionContext<'_, '_>, decisive: bool) -> Result<Value> {
    let variables = ftx.args.len().saturating_sub(1);
    let mut failure = None;
    for entry in entries(ftx)? {
        match test(ftx, variables, &entry, variables) {
            Ok(result) if result == decisive => return Ok(Value::Bool(decisive)),
            Ok(_) => {}
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(Value::Bool(!decisive)), Err)
}

fn exists_one(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let variables = ftx.args.len().saturating_sub(1);
    let mut count = 0;
    for entry in entries(ftx)? {
        count += usize::from(test(ftx, variables, &entry, variables)?);
    }
    Ok(Value::Bool(count == 1))
}

/// The new values of the entries that pass the test, if there is one. `filter` is a test with the variable as the value.
fn map(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let last = ftx.args.len().saturating_sub(1);
    let mut values = Vec::new();
    for entry in entries(ftx)? {
        if last < 2 || test(ftx, 1, &entry, 1)? {
            values.push(evaluate(ftx, 1, &entry, last)?);
        }
    }
    Ok(Value::List(Arc::new(values)))
}

fn opt_flat_map(ftx: &FunctionContext<'_, '_>) -> Result<Option<Value>> {
    let this = ftx.this.as_ref().ok_or(ExecutionError::NoSuchOverload)?;
    let Some(value) = <&OptionalValue>::try_from(this)?.value() else {
        return Ok(None);
    };
    evaluate(ftx, 1, &(Value::Null, value.clone()), 1).map(Some)
}

fn sort_by(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let mut keyed = Vec::new();
    for entry in entries(ftx)? {
        keyed.push((evaluate(ftx, 1, &entry, 1)?, entry.1));
    }
    let comparable = keyed.windows(2).all(|pair| pair[0].0.partial_cmp(&pair[1].0).is_some());
    if !comparable {
        return Err(ExecutionError::NoSuchOverload);
    }
    keyed.sort_by(|left, right| {
        let order = left.0.partial_cmp(&right.0);
        order.unwrap_or(std::cmp::Ordering::Equal)
    });
    let items = keyed.into_iter().map(|(_, item)| item).collect();
    Ok(Value::List(Arc::new(items)))
}

/// The entries that pass the test, if there is one, with their new values.
fn transformed(ftx: &FunctionContext<'_, '_>) -> Result<Vec<(Value, Value)>> {
    let last = ftx.args.len().saturating_sub(1);
    let mut kept = Vec::new();
    for entry in entries(ftx)? {
        if last < 3 || test(ftx, 2, &entry, 2)? {
            kept.push((entry.0.clone(), evaluate(ftx, 2, &entry, last)?));
        }
    }
    Ok(kept)
}

fn transform_list(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let values = transformed(ftx)?.into_iter().map(|(_, value)| value);
    Ok(Value::List(Arc::new(values.collect())))
}

fn transform_map(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let mut map = std::collections::HashMap::new();
    for (key, value) in transformed(ftx)? {
        let key = key.try_into().map_err(ExecutionError::UnsupportedKeyType)?;
        map.insert(key, value);
    }
    Ok(Value::Map(Map { map: Arc::new(map) }))
}
