//! Expressions in a form in which our engine gives them the meaning that they have on a server.

use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use kube_cel::cel::parser::Parser;

use super::super::{Schema, Type, is_oversized, with_large_stack};
use super::engine::{EQUAL, Engine, NEGATE, OPTIONAL, SELECT};
use super::equal::{Shape, is_unordered};
use super::literals::plain_literals;
use super::macros::{NAMES, variables};
use super::value::escape;

/// Parses and rewrites an expression about values of a schema. `Err` says why it cannot be evaluated.
pub(super) fn rewrite(text: &str, schema: &Schema, engine: &mut Engine) -> Result<IdedExpr, String> {
    let mut expression = parse(text)?;
    let mut rewriter =
        Rewriter { engine, scope: vec![("self".to_owned(), Some(schema)), ("oldSelf".to_owned(), Some(schema))] };
    rewriter.expression(&mut expression)?;
    Ok(expression)
}

/// Rewrites an expression in which no variable is free.
pub(super) fn rewrite_constant(expression: &mut IdedExpr, engine: &mut Engine) -> Result<(), String> {
    Rewriter { engine, scope: Vec::new() }.expression(expression)
}

/// Parses an expression. `Err` says why it cannot be read.
pub(super) fn parse(text: &str) -> Result<IdedExpr, String> {
    if is_oversized(text) {
        return Err("is too large to be read here".to_owned());
    }
    let text = plain_literals(text);
    let parser = Parser::new().enable_optional_syntax(true);
    let tree = with_large_stack(|| parser.parse(&text)).map_err(|errors| {
        let first = errors.errors.first();
        first.map_or_else(|| "does not parse".to_owned(), |error| error.msg.clone())
    })?;
    // Our parser takes `!!a` for `!a` and `--a` for `-a`, so the answer would be the wrong one. A text such as '--'
    // does no harm: without a negation there is no `-_` in the tree.
    let compact: String = text.split_whitespace().collect();
    let is_negated = |operator: &str| format!("{tree:?}").contains(&format!("{operator:?}"));
    if compact.contains("!!") && is_negated(operators::LOGICAL_NOT)
        || compact.contains("--") && is_negated(operators::NEGATE)
    {
        return Err("negates twice in a row".to_owned());
    }
    Ok(tree)
}

struct Rewriter<'a, 'e> {
    engine: &'e mut Engine,
    /// Variables and the schemas of their values, where known. The last one of a name counts.
    scope: Vec<(String, Option<&'a Schema>)>,
}

impl<'a> Rewriter<'a, '_> {
    fn expression(&mut self, node: &mut IdedExpr) -> Result<(), String> {
        match &mut node.expr {
            Expr::Unspecified => Err("is empty".to_owned()),
            Expr::Struct(_) => Err("constructs a message".to_owned()),
            Expr::Ident(_) | Expr::Literal(_) => Ok(()),
            Expr::List(list) => list.elements.iter_mut().try_for_each(|e| self.expression(e)),
            Expr::Map(map) => map.entries.iter_mut().try_for_each(|entry| match &mut entry.expr {
                EntryExpr::StructField(_) => Err("constructs a message".to_owned()),
                EntryExpr::MapEntry(entry) => {
                    self.expression(&mut entry.key)?;
                    self.expression(&mut entry.value)
                }
            }),
            Expr::Select(select) => {
                self.expression(&mut select.operand)?;
                if !select.test {
                    // Selection from what is not a map must fail, as indexing does.
                    let operand = std::mem::take(&mut *select.operand);
                    let field = literal(node.id, &select.field);
                    node.expr = call(operators::INDEX, vec![operand, field]);
                }
                Ok(())
            }
            Expr::Comprehension(comprehension) => {
                node.expr = as_call(comprehension).ok_or("has a loop of an unknown kind")?;
                self.expression(node)
            }
            Expr::Call(_) => self.call(node),
        }
    }

    fn call(&mut self, node: &mut IdedExpr) -> Result<(), String> {
        let id = node.id;
        let Expr::Call(call_expr) = &mut node.expr else {
            return Ok(());
        };
        let name = call_expr.func_name.clone();
        let shape = self.shape_of_operands(&name, &call_expr.args)?;
        if name == "format" && !formats_plainly(call_expr.target.as_deref()) {
            return Err("formats with more than %s and %d".to_owned());
        }
        let depth = self.scope.len();
        self.bind(&name, call_expr);
        if let Some(target) = &mut call_expr.target {
            self.expression(target)?;
        }
        let args = &mut call_expr.args;
        args.iter_mut().try_for_each(|arg| self.expression(arg))?;
        self.scope.truncate(depth);
        match name.as_str() {
            operators::OPT_SELECT => SELECT.clone_into(&mut call_expr.func_name),
            operators::NEGATE => NEGATE.clone_into(&mut call_expr.func_name),
            // The engine gives the format itself, or null.
            "named" if is_ident(call_expr.target.as_deref(), "format") => {
                let named = std::mem::take(node);
                node.id = id;
                node.expr = call(OPTIONAL, vec![named]);
            }
            operators::EQUALS | operators::NOT_EQUALS => {
                let shape = self.engine.shape(shape);
                let shape = Expr::Literal(LiteralValue::Int(shape.into()));
                call_expr.args.push(IdedExpr { id, expr: shape });
                EQUAL.clone_into(&mut call_expr.func_name);
                if name == operators::NOT_EQUALS {
                    let equal = std::mem::take(node);
                    node.id = id;
                    node.expr = call(operators::LOGICAL_NOT, vec![equal]);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts the variables of a macro into scope. The last variable holds the items.
    fn bind(&mut self, name: &str, call: &CallExpr) {
        let (Some(target), true) = (&call.target, NAMES.contains(&name)) else {
            return;
        };
        let schema = self.schema_of(target);
        let parts = schema.and_then(|schema| match name {
            "optMap" | "optFlatMap" => Some(schema),
            _ => schema.items.as_deref().or_else(|| schema.values()),
        });
        let is_map = schema.is_some_and(|schema| schema.items.is_none());
        let variables: Vec<_> = call
            .args
            .iter()
            .take(variables(name, call.args.len()))
            .map_while(|arg| match &arg.expr {
                Expr::Ident(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        match variables.as_slice() {
            // The only variable of a map holds its keys.
            [only] if !is_map || name.starts_with("opt") => self.scope.push((only.clone(), parts)),
            [only] => self.scope.push((only.clone(), None)),
            [key, value] => {
                self.scope.push((key.clone(), None));
                self.scope.push((value.clone(), parts));
            }
            _ => {}
        }
    }

    /// Returns how the operands of an operator are compared.
    fn shape_of_operands(&self, name: &str, args: &[IdedExpr]) -> Result<Shape, String> {
        let mut schemas = args.iter().filter_map(|arg| self.schema_of(arg));
        match name {
            operators::EQUALS | operators::NOT_EQUALS => Ok(schemas.next().map_or(Shape::Plain, Shape::of)),
            operators::ADD if schemas.any(is_unordered) => Err("adds to a set or a list map, which merges".to_owned()),
            _ => Ok(Shape::Plain),
        }
    }

    /// The schema of the values of an expression, where it is plain to see.
    fn schema_of(&self, node: &IdedExpr) -> Option<&'a Schema> {
        match &node.expr {
            Expr::Ident(name) => {
                let known = self.scope.iter().rev().find(|(known, _)| known == name)?;
                known.1
            }
            Expr::Select(select) if !select.test => field(self.schema_of(&select.operand)?, &select.field),
            Expr::Call(call) => match (call.func_name.as_str(), &call.target, call.args.as_slice()) {
                (operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT, _, [operand, key]) => {
                    let schema = self.schema_of(operand)?;
                    match (&key.expr, schema.ty) {
                        (_, Some(Type::Array)) => schema.items.as_deref(),
                        (Expr::Literal(LiteralValue::String(name)), _) => field(schema, name.inner()),
                        _ => schema.values(),
                    }
                }
                ("value" | "orValue" | "filter", Some(target), _) => self.schema_of(target),
                ("dyn", None, [only]) => self.schema_of(only),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The property that a rule selects by an escaped name, or the values of a map.
fn field<'a>(schema: &'a Schema, escaped: &str) -> Option<&'a Schema> {
    let property = schema.properties.iter().find(|(name, _)| escape(name).as_deref() == Some(escaped));
    property.map(|(_, schema)| schema).or_else(|| schema.values())
}

/// A macro as a call again, out of what the parser makes of it. `filter` becomes `map` with a test.
fn as_call(fold: &mut ComprehensionExpr) -> Option<Expr> {
    let Expr::Call(step) = &mut fold.loop_step.expr else { return None };
    let accumulated = fold.accu_var.as_str();
    let (name, values) = match (step.func_name.as_str(), step.args.as_mut_slice()) {
        (operators::LOGICAL_AND, [before, test]) if is_ident(Some(before), accumulated) => ("all", vec![take(test)]),
        (operators::LOGICAL_OR, [before, test]) if is_ident(Some(before), accumulated) => ("exists", vec![take(test)]),
        (operators::CONDITIONAL, [test, step, _]) => match added(step, accumulated)? {
            Added::One => ("exists_one", vec![take(test)]),
            Added::Value(value) => ("map", vec![take(test), value]),
        },
        (operators::ADD, _) => match added(&mut fold.loop_step, accumulated)? {
            Added::Value(value) => ("map", vec![value]),
            Added::One => return None,
        },
        _ => return None,
    };
    let variable = Expr::Ident(std::mem::take(&mut fold.iter_var));
    let variable = IdedExpr { id: fold.iter_range.id, expr: variable };
    Some(Expr::Call(CallExpr {
        func_name: name.to_owned(),
        target: Some(Box::new(take(&mut fold.iter_range))),
        args: std::iter::once(variable).chain(values).collect(),
    }))
}

/// An addition of one round of a loop to its result.
enum Added {
    /// One, to a number.
    One,
    /// A value, to a list.
    Value(IdedExpr),
}

fn added(step: &mut IdedExpr, accumulated: &str) -> Option<Added> {
    let Expr::Call(step) = &mut step.expr else { return None };
    match (step.func_name.as_str(), step.args.as_mut_slice()) {
        (operators::ADD, [before, value]) if is_ident(Some(before), accumulated) => match &mut value.expr {
            Expr::Literal(LiteralValue::Int(_)) => Some(Added::One),
            Expr::List(list) => list.elements.first_mut().map(|value| Added::Value(take(value))),
            _ => None,
        },
        _ => None,
    }
}

fn take(node: &mut IdedExpr) -> IdedExpr {
    std::mem::take(node)
}

/// Returns whether a template is known and has only what all engines print alike.
fn formats_plainly(template: Option<&IdedExpr>) -> bool {
    let Some(Expr::Literal(LiteralValue::String(template))) = template.map(|node| &node.expr) else {
        // `format.dns1123Label()` and its kin are not templates.
        return is_ident(template, "format");
    };
    let mut clauses = template.inner().split('%').skip(1);
    while let Some(clause) = clauses.next() {
        match clause.chars().next() {
            Some('s' | 'd') => {}
            // Two percent signs: the clause between them is empty.
            None => drop(clauses.next()),
            Some(_) => return false,
        }
    }
    true
}

fn is_ident(node: Option<&IdedExpr>, name: &str) -> bool {
    node.is_some_and(|node| matches!(&node.expr, Expr::Ident(ident) if ident == name))
}

fn call(name: &str, args: Vec<IdedExpr>) -> Expr {
    Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args })
}

fn literal(id: u64, text: &str) -> IdedExpr {
    IdedExpr { id, expr: Expr::Literal(LiteralValue::String(text.into())) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("!!self.a", false)]
    #[case("! !self.a", false)]
    #[case("--self.a > 1", false)]
    #[case("1 - - -self.a > 1", false)]
    #[case("!self.a && -self.b > 1", true)]
    #[case("self.a - -1 > 1", true)]
    #[case("!self.contains('--')", true)]
    #[case("self.contains('!!')", true)]
    fn double_negations_are_not_read(#[case] text: &str, #[case] is_read: bool) {
        assert_eq!(parse(text).is_ok(), is_read);
    }
}
