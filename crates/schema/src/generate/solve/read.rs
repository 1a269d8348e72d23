//! Rules as trees, for repairs.

use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, Expr as Cel, IdedExpr, LiteralValue, operators};
use serde_json::Value;

use crate::structural::parse_rule;

/// A step to a part of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seg {
    Field(String),
    Item(usize),
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A quantifier over the items of a list or the keys of a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantifier {
    All,
    Exists,
    One,
    Filter,
    Map,
}

/// A rule, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Constant(Value),
    /// A part of a variable: `self.a.b`.
    Part(String, Vec<Seg>),
    Has(String, Vec<Seg>),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Compare(Relation, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    List(Vec<Expr>),
    Quantified(Quantifier, Box<Expr>, String, Box<Expr>),
    /// `a.?b.orValue(c)`: the value, or another.
    Else(Box<Expr>, Box<Expr>),
    /// Any other function, its target first.
    Call(String, Vec<Expr>),
}

/// Reads a rule. `None` if it cannot be read.
pub(super) fn read(rule: &str) -> Option<Expr> {
    expression(&parse_rule(rule)?)
}

fn expression(node: &IdedExpr) -> Option<Expr> {
    Some(match &node.expr {
        Cel::Unspecified | Cel::Struct(_) | Cel::Map(_) => return None,
        Cel::Ident(name) => Expr::Part(name.clone(), Vec::new()),
        Cel::Literal(literal) => Expr::Constant(constant(literal)?),
        Cel::List(list) => Expr::List(list.elements.iter().map(expression).collect::<Option<_>>()?),
        Cel::Select(select) => {
            let operand = expression(&select.operand)?;
            match part_of(operand, Seg::Field(unescape(&select.field))) {
                Expr::Part(name, steps) if select.test => Expr::Has(name, steps),
                other => other,
            }
        }
        Cel::Comprehension(comprehension) => quantified(comprehension)?,
        Cel::Call(call) => called(call)?,
    })
}

fn part_of(operand: Expr, step: Seg) -> Expr {
    match operand {
        Expr::Part(name, mut steps) => {
            steps.push(step);
            Expr::Part(name, steps)
        }
        // A part of a computed value.
        other => {
            let step = match step {
                Seg::Field(name) => Value::from(name),
                Seg::Item(index) => Value::from(index),
            };
            Expr::Call("[]".to_owned(), vec![other, Expr::Constant(step)])
        }
    }
}

fn constant(literal: &LiteralValue) -> Option<Value> {
    Some(match literal {
        LiteralValue::Boolean(value) => Value::from(*value.inner()),
        LiteralValue::Double(value) => Value::from(*value.inner()),
        LiteralValue::Int(value) => Value::from(*value.inner()),
        LiteralValue::UInt(value) => Value::from(*value.inner()),
        LiteralValue::String(value) => Value::from(value.inner()),
        LiteralValue::Null => Value::Null,
        LiteralValue::Bytes(_) => return None,
    })
}

fn quantified(comprehension: &ComprehensionExpr) -> Option<Expr> {
    let range = expression(&comprehension.iter_range)?;
    let Cel::Call(step) = &comprehension.loop_step.expr else { return None };
    let (kind, body) = match (step.func_name.as_str(), step.args.as_slice()) {
        (operators::LOGICAL_AND, [_, body]) => (Quantifier::All, expression(body)?),
        (operators::LOGICAL_OR, [_, body]) => (Quantifier::Exists, expression(body)?),
        // `map` adds a list of one, `filter` does so under a condition, `exists_one` counts.
        (operators::ADD, [_, added]) => match &added.expr {
            Cel::List(list) => (Quantifier::Map, expression(list.elements.first()?)?),
            _ => return None,
        },
        (operators::CONDITIONAL, [test, then, _]) => {
            let kind = match &then.expr {
                Cel::Call(add) if matches!(add.args.last().map(|arg| &arg.expr), Some(Cel::List(_))) => {
                    Quantifier::Filter
                }
                _ => Quantifier::One,
            };
            (kind, expression(test)?)
        }
        _ => return None,
    };
    Some(Expr::Quantified(kind, Box::new(range), comprehension.iter_var.clone(), Box::new(body)))
}

fn called(call: &CallExpr) -> Option<Expr> {
    let mut args: Vec<Expr> = Vec::new();
    let macros = ["all", "exists", "exists_one", "existsOne", "filter", "map"];
    if let (Some(target), true, [variable, body]) =
        (&call.target, macros.contains(&call.func_name.as_str()), call.args.as_slice())
        && let Cel::Ident(variable) = &variable.expr
    {
        let kind = match call.func_name.as_str() {
            "all" => Quantifier::All,
            "exists" => Quantifier::Exists,
            "filter" => Quantifier::Filter,
            "map" => Quantifier::Map,
            _ => Quantifier::One,
        };
        let (range, body) = (expression(target)?, expression(body)?);
        return Some(Expr::Quantified(kind, Box::new(range), variable.clone(), Box::new(body)));
    }
    for arg in call.target.as_deref().into_iter().chain(&call.args) {
        args.push(expression(arg)?);
    }
    let relation = match call.func_name.as_str() {
        operators::EQUALS => Some(Relation::Equal),
        operators::NOT_EQUALS => Some(Relation::Unequal),
        operators::LESS => Some(Relation::Less),
        operators::LESS_EQUALS => Some(Relation::AtMost),
        operators::GREATER => Some(Relation::Greater),
        operators::GREATER_EQUALS => Some(Relation::AtLeast),
        _ => None,
    };
    let two = |args: &mut Vec<Expr>| Some((Box::new(args.pop()?), Box::new(args.pop()?)));
    if let Some(relation) = relation {
        let (right, left) = two(&mut args)?;
        return Some(Expr::Compare(relation, left, right));
    }
    Some(match call.func_name.as_str() {
        operators::LOGICAL_AND => Expr::And(flat(args, |expr| match expr {
            Expr::And(parts) => Ok(parts),
            other => Err(other),
        })),
        operators::LOGICAL_OR => Expr::Or(flat(args, |expr| match expr {
            Expr::Or(parts) => Ok(parts),
            other => Err(other),
        })),
        operators::LOGICAL_NOT => Expr::Not(Box::new(args.pop()?)),
        operators::NEGATE => match args.pop()? {
            Expr::Constant(Value::Number(number)) => match number.as_i64() {
                Some(whole) => Expr::Constant((-whole).into()),
                None => Expr::Constant((-number.as_f64()?).into()),
            },
            other => Expr::Call("-".to_owned(), vec![other]),
        },
        operators::CONDITIONAL => {
            let (otherwise, then) = two(&mut args)?;
            Expr::If(Box::new(args.pop()?), then, otherwise)
        }
        operators::IN => {
            let (list, item) = two(&mut args)?;
            Expr::In(item, list)
        }
        operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT => {
            let (key, operand) = two(&mut args)?;
            match *key {
                Expr::Constant(Value::String(name)) => part_of(*operand, Seg::Field(name)),
                Expr::Constant(Value::Number(index)) => {
                    part_of(*operand, Seg::Item(usize::try_from(index.as_u64()?).ok()?))
                }
                key => Expr::Call("[]".to_owned(), vec![*operand, key]),
            }
        }
        "orValue" => {
            let (other, value) = two(&mut args)?;
            Expr::Else(value, other)
        }
        "hasValue" if matches!(args.first(), Some(Expr::Part(..))) => match args.pop()? {
            Expr::Part(name, steps) => Expr::Has(name, steps),
            _ => return None,
        },
        name => Expr::Call(name.to_owned(), args),
    })
}

fn flat(args: Vec<Expr>, open: impl Fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    args.into_iter()
        .flat_map(|arg| match open(arg) {
            Ok(parts) => parts,
            Err(other) => vec![other],
        })
        .collect()
}

/// The name of a field in the schema.
fn unescape(name: &str) -> String {
    let mut text = name.to_owned();
    if let Some(word) = text.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"))
        && !word.contains("__")
        && !matches!(word, "underscores" | "dot" | "dash" | "slash")
    {
        return word.to_owned();
    }
    for (escaped, plain) in [("__dot__", "."), ("__dash__", "-"), ("__slash__", "/"), ("__underscores__", "__")] {
        text = text.replace(escaped, plain);
    }
    text
}

impl Expr {
    /// Collects every constant string and every pattern in the rule, as candidates.
    pub(crate) fn texts<'e>(&'e self, plain: &mut Vec<&'e str>, patterns: &mut Vec<&'e str>) {
        match self {
            Self::Constant(Value::String(text)) => plain.push(text),
            Self::Constant(_) | Self::Part(..) | Self::Has(..) => {}
            Self::Call(name, args) if name == "matches" => {
                for arg in args {
                    match arg {
                        Self::Constant(Value::String(text)) => patterns.push(text),
                        other => other.texts(plain, patterns),
                    }
                }
            }
            _ => self.parts().for_each(|part| part.texts(plain, patterns)),
        }
    }

    /// Collects every part of a value that the rule reads.
    pub(crate) fn places<'e>(&'e self, found: &mut Vec<(&'e str, &'e [Seg])>) {
        if let Self::Part(name, steps) | Self::Has(name, steps) = self {
            found.push((name, steps));
        }
        self.parts().for_each(|part| part.places(found));
    }

    fn parts(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::Constant(_) | Self::Part(..) | Self::Has(..) => Box::new(std::iter::empty()),
            Self::Not(only) => Box::new(std::iter::once(&**only)),
            Self::And(parts) | Self::Or(parts) | Self::List(parts) | Self::Call(_, parts) => Box::new(parts.iter()),
            Self::If(test, then, otherwise) => Box::new([&**test, then, otherwise].into_iter()),
            Self::Compare(_, left, right)
            | Self::In(left, right)
            | Self::Else(left, right)
            | Self::Quantified(_, left, _, right) => Box::new([&**left, right].into_iter()),
        }
    }
}
