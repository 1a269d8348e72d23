//! Expressions in a form in which our engine gives them the meaning that they have on a server.

use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use kube_cel::cel::parser::Parser;

use super::super::{Schema, Type};
use super::engine::{EQUAL, Engine, KEYS, OPTIONAL, SELECT};
use super::equal::{Shape, is_unordered};
use super::value::escape;

/// Parses and rewrites an expression about values of a schema. `Err` says why it cannot be evaluated.
pub(super) fn rewrite(text: &str, schema: &Schema, engine: &mut Engine) -> Result<IdedExpr, String> {
    let mut expression = parse(text)?;
    let mut rewriter =
        Rewriter { engine, scope: vec![("self".to_owned(), Some(schema)), ("oldSelf".to_owned(), Some(schema))] };
    rewriter.expression(&mut expression)?;
    Ok(expression)
}

fn parse(text: &str) -> Result<IdedExpr, String> {
    let parser = Parser::new().enable_optional_syntax(true);
    parser.parse(text).map_err(|errors| {
        let first = errors.errors.first();
        first.map_or_else(|| "does not parse".to_owned(), |error| error.msg.clone())
    })
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
                    // Selection from what is no map must fail, as indexing does.
                    let operand = std::mem::take(&mut *select.operand);
                    let field = literal(node.id, &select.field);
                    node.expr = call(operators::INDEX, vec![operand, field]);
                }
                Ok(())
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Call(_) => self.call(node),
        }
    }

    fn comprehension(&mut self, comprehension: &mut ComprehensionExpr) -> Result<(), String> {
        let items = self.schema_of(&comprehension.iter_range).and_then(|schema| schema.items.as_deref());
        self.expression(&mut comprehension.iter_range)?;
        self.expression(&mut comprehension.accu_init)?;
        let depth = self.scope.len();
        self.scope.push((comprehension.iter_var.clone(), items));
        self.scope.push((comprehension.accu_var.clone(), None));
        self.expression(&mut comprehension.loop_cond)?;
        self.expression(&mut comprehension.loop_step)?;
        self.expression(&mut comprehension.result)?;
        self.scope.truncate(depth);
        Ok(())
    }

    fn call(&mut self, node: &mut IdedExpr) -> Result<(), String> {
        let id = node.id;
        if let Some(expanded) = two_variables(node)? {
            *node = expanded;
            return self.expression(node);
        }
        let Expr::Call(call_expr) = &mut node.expr else {
            return Ok(());
        };
        let name = call_expr.func_name.clone();
        let shape = self.shape_of_operands(&name, &call_expr.args)?;
        if let Some(target) = &mut call_expr.target {
            self.expression(target)?;
        }
        let args = call_expr.args.iter_mut();
        args.into_iter().try_for_each(|arg| self.expression(arg))?;
        match name.as_str() {
            operators::OPT_SELECT => call_expr.func_name = SELECT.to_owned(),
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
                call_expr.func_name = EQUAL.to_owned();
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

    /// How the operands of an operator are compared.
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

/// `list.all(i, x, test)` runs over the indices, with `list[i]` for `x`; for maps over the keys.
fn two_variables(node: &IdedExpr) -> Result<Option<IdedExpr>, String> {
    let Expr::Call(CallExpr { func_name, target: Some(range), args }) = &node.expr else {
        return Ok(None);
    };
    let template = match func_name.as_str() {
        "all" => "r.all(i, p)",
        "exists" => "r.exists(i, p)",
        "exists_one" | "existsOne" => "r.exists_one(i, p)",
        _ => return Ok(None),
    };
    let [key, value, test] = args.as_slice() else {
        return Ok(None);
    };
    let (Expr::Ident(key), Expr::Ident(value)) = (&key.expr, &value.expr) else {
        return Err(format!("the variables of {func_name} are no names"));
    };
    let ident = |name: &str| IdedExpr { id: node.id, expr: Expr::Ident(name.to_owned()) };
    let item = IdedExpr { id: node.id, expr: call(operators::INDEX, vec![(**range).clone(), ident(key)]) };
    let mut test = test.clone();
    substitute(&mut test, value, &item);
    let mut expanded = parse(template)?;
    let keys = IdedExpr { id: node.id, expr: call(KEYS, vec![(**range).clone()]) };
    substitute(&mut expanded, "r", &keys);
    substitute(&mut expanded, "p", &test);
    if let Expr::Comprehension(comprehension) = &mut expanded.expr {
        comprehension.iter_var.clone_from(key);
    }
    Ok(Some(expanded))
}

/// Puts an expression in the place of a variable, except where the name means another variable.
fn substitute(node: &mut IdedExpr, name: &str, by: &IdedExpr) {
    match &mut node.expr {
        Expr::Ident(ident) if ident == name => *node = by.clone(),
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
        Expr::Call(call) => {
            let parts = call.target.as_deref_mut().into_iter().chain(&mut call.args);
            parts.for_each(|part| substitute(part, name, by));
        }
        Expr::List(list) => list.elements.iter_mut().for_each(|e| substitute(e, name, by)),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    substitute(&mut entry.key, name, by);
                    substitute(&mut entry.value, name, by);
                }
            }
        }
        Expr::Select(select) => substitute(&mut select.operand, name, by),
        Expr::Comprehension(comprehension) => {
            substitute(&mut comprehension.iter_range, name, by);
            substitute(&mut comprehension.accu_init, name, by);
            if comprehension.iter_var != name {
                substitute(&mut comprehension.loop_cond, name, by);
                substitute(&mut comprehension.loop_step, name, by);
                substitute(&mut comprehension.result, name, by);
            }
        }
    }
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
