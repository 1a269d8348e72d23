//! The functions that rules can call, and how their failures are read.

use std::sync::{Arc, OnceLock};

use kube_cel::KubeCelExt;
use kube_cel::cel::objects::{Key, Opaque, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, FunctionContext, Value};

use super::equal::Shape;
use super::library::{self, Result, arguments, one};
use super::value::Invalid;
use super::{macros, times, urls};
use crate::kubernetes::KubeVersion;

/// Equality with regard to a shape: two values and the number of the shape.
pub(super) const EQUAL: &str = "@equal";
/// `a.?b`.
pub(super) const SELECT: &str = "@select";
/// An optional of a value, none of null.
pub(super) const OPTIONAL: &str = "@optional";
/// `-a`.
pub(super) const NEGATE: &str = "@negate";

/// The names of types, which are values in expressions.
pub(super) const TYPES: [&str; 10] =
    ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Functions that fail on some arguments of the right type. A failure of any other function shows
/// that our engine has not all of its forms.
const PARTIAL: [&str; 27] = [
    "asInteger",
    "base64.decode",
    "bool",
    "charAt",
    "cidr",
    "containsCIDR",
    "containsIP",
    "decode",
    "double",
    "duration",
    "first",
    "int",
    "ip",
    "ip.isCanonical",
    "isCanonical",
    "last",
    "matches",
    "max",
    "min",
    "quantity",
    "semver",
    "slice",
    "substring",
    "timestamp",
    "uint",
    "url",
    "value",
];

/// Evaluates expressions.
pub(super) struct Engine {
    context: Context<'static>,
    shapes: Vec<Shape>,
    sealed: Arc<OnceLock<Vec<Shape>>>,
    kubernetes: KubeVersion,
}

impl Engine {
    pub(super) fn new(kubernetes: KubeVersion) -> Self {
        let mut context = Context::default().with_all();
        library::register(&mut context);
        macros::register(&mut context);
        times::register(&mut context);
        urls::register(&mut context);
        context.add_function("type", type_of);
        context.add_function(NEGATE, negate);
        context.add_function(SELECT, select);
        context.add_function(OPTIONAL, |value: Value| -> Result<Value> {
            Ok(optional(Some(value).filter(|value| *value != Value::Null)))
        });
        for name in TYPES {
            context.add_variable_from_value(name, type_value(name));
        }
        let sealed = Arc::new(OnceLock::<Vec<Shape>>::new());
        let shapes = Arc::clone(&sealed);
        context.add_function(EQUAL, move |left: Value, right: Value, shape: i64| -> Result<Value> {
            let shape = usize::try_from(shape).ok().and_then(|index| shapes.get()?.get(index)).unwrap_or(&Shape::Plain);
            Ok(Value::Bool(shape.equal(&left, &right)))
        });
        Self { context, shapes: Vec::new(), sealed, kubernetes }
    }

    /// The release that the rules are for.
    pub(super) fn kubernetes(&self) -> KubeVersion {
        self.kubernetes
    }

    /// The number of a shape, for use in [`EQUAL`].
    pub(super) fn shape(&mut self, shape: Shape) -> i64 {
        let index = self.shapes.iter().position(|known| *known == shape);
        let index = index.unwrap_or_else(|| {
            self.shapes.push(shape);
            self.shapes.len() - 1
        });
        i64::try_from(index).unwrap_or(i64::MAX)
    }

    /// Makes the shapes known to the functions. Nothing is evaluated before.
    pub(super) fn seal(&mut self) {
        // It is sealed once, after compilation.
        let _first = self.sealed.set(std::mem::take(&mut self.shapes));
    }

    /// A scope for the variables of one value.
    pub(super) fn scope(&self) -> Context<'_> {
        self.context.new_inner_scope()
    }
}

/// Returns whether a failure would be one on a server too, rather than a gap in our engine.
pub(super) fn is_genuine(error: &ExecutionError) -> bool {
    match error {
        ExecutionError::NoSuchKey(_)
        | ExecutionError::DivisionByZero(_)
        | ExecutionError::RemainderByZero(_)
        | ExecutionError::Overflow(..)
        | ExecutionError::IndexOutOfBounds(_) => true,
        ExecutionError::FunctionError { function, .. } => PARTIAL.contains(&function.as_str()),
        _ => false,
    }
}

/// The value that stands for a type.
#[derive(Debug, PartialEq, Eq)]
struct TypeValue(&'static str);

impl Opaque for TypeValue {
    fn runtime_type_name(&self) -> &'static str {
        "crdproof.type"
    }
}

fn type_value(name: &'static str) -> Value {
    Value::Opaque(Arc::new(TypeValue(name)))
}

fn type_of(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let name = match &one(ftx)? {
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Int(_) => "int",
        Value::UInt(_) => "uint",
        Value::Float(_) => "double",
        Value::String(_) => "string",
        Value::Bytes(_) => "bytes",
        Value::Bool(_) => "bool",
        Value::Null => "null_type",
        Value::Opaque(opaque) if opaque.downcast_ref::<TypeValue>().is_some() => "type",
        Value::Opaque(opaque) if opaque.downcast_ref::<Invalid>().is_some() => {
            return Err(ExecutionError::function_error("type", "invalid data"));
        }
        Value::Function(..) | Value::Opaque(_) | Value::Duration(_) | Value::Timestamp(_) => {
            return Err(ExecutionError::undeclared_reference("type"));
        }
    };
    Ok(type_value(name))
}

pub(super) fn optional(value: Option<Value>) -> Value {
    let optional = value.map_or_else(OptionalValue::none, OptionalValue::of);
    Value::Opaque(Arc::new(optional))
}

fn negate(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match one(ftx)? {
        Value::Int(value) => {
            value.checked_neg().map(Value::Int).ok_or(ExecutionError::Overflow("neg", value.into(), Value::Null))
        }
        Value::Float(value) => Ok(Value::Float(-value)),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn select(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let arguments = arguments(ftx)?;
    let [operand, Value::String(field)] = arguments.as_slice() else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let operand = match <&OptionalValue>::try_from(operand) {
        Ok(inner) => match inner.value() {
            Some(value) => value,
            None => return Ok(optional(None)),
        },
        Err(_) => operand,
    };
    match operand {
        Value::Map(map) => {
            let value = map.map.get(&Key::String(Arc::clone(field)));
            Ok(optional(value.cloned()))
        }
        _ => Err(ExecutionError::NoSuchOverload),
    }
}
