//! The functions that rules can call, and how their failures are read.

use std::sync::{Arc, OnceLock};

use kube_cel::KubeCelExt;
use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::{Key, Opaque, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, Value};

use super::equal::Shape;
use super::value::Invalid;
use crate::kubernetes::KubeVersion;
use crate::schema::Pattern;

/// Equality with regard to a shape: two values and the number of the shape.
pub(super) const EQUAL: &str = "@equal";
/// `a.?b`.
pub(super) const SELECT: &str = "@select";
/// An optional of a value, none of null.
pub(super) const OPTIONAL: &str = "@optional";
/// What a comprehension with two variables runs over: indices or keys.
pub(super) const KEYS: &str = "@keys";

/// The names of types, which are values in expressions.
const TYPES: [&str; 10] = ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Functions that fail on some arguments of the right type. A failure of any other function shows
/// that our engine has not all of its forms.
const PARTIAL: [&str; 24] = [
    "asInteger",
    "base64.decode",
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
];

type Result<T> = std::result::Result<T, ExecutionError>;

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
        context.add_function("dyn", |value: Value| -> Result<Value> { Ok(value) });
        context.add_function("type", type_of);
        context.add_function("size", size);
        context.add_function("matches", matches);
        context.add_function("find", find);
        context.add_function("findAll", find_all);
        context.add_function(SELECT, select);
        context.add_function(OPTIONAL, |value: Value| -> Result<Value> {
            Ok(optional(Some(value).filter(|value| *value != Value::Null)))
        });
        context.add_function(KEYS, keys);
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

/// Whether a failure would be one on a server too, rather than a gap in our engine.
pub(super) fn is_genuine(error: &ExecutionError) -> bool {
    match error {
        ExecutionError::NoSuchKey(_)
        | ExecutionError::DivisionByZero(_)
        | ExecutionError::RemainderByZero(_)
        | ExecutionError::Overflow(..)
        | ExecutionError::IndexOutOfBounds(_) => true,
        ExecutionError::FunctionError { function, .. } => PARTIAL.contains(&function.as_str()) || function == "value",
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

fn type_of(value: Value) -> Result<Value> {
    let name = match &value {
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

/// The size of a string is counted in characters.
fn size(This(value): This<Value>) -> Result<Value> {
    let size = match &value {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len(),
        Value::Map(map) => map.map.len(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn pattern(name: &str, text: &str) -> Result<Pattern> {
    let pattern = Pattern::new(text);
    match pattern.regex() {
        Ok(_) => Ok(pattern),
        Err(why) => Err(ExecutionError::function_error(name, why)),
    }
}

fn matches(This(text): This<Arc<String>>, regex: Arc<String>) -> Result<Value> {
    let pattern = pattern("matches", &regex)?;
    Ok(Value::Bool(pattern.matches(&text)))
}

fn found(name: &str, text: &str, regex: &str) -> Result<Vec<Value>> {
    let pattern = pattern(name, regex)?;
    let regex = pattern.regex().map_err(|why| ExecutionError::function_error(name, why))?;
    let found = regex.find_iter(text);
    Ok(found.map(|found| Value::String(Arc::new(found.as_str().to_owned()))).collect())
}

fn find(This(text): This<Arc<String>>, regex: Arc<String>) -> Result<Value> {
    let found = found("find", &text, &regex)?;
    let empty = || Value::String(Arc::new(String::new()));
    Ok(found.into_iter().next().unwrap_or_else(empty))
}

fn find_all(This(text): This<Arc<String>>, regex: Arc<String>) -> Result<Value> {
    Ok(Value::List(Arc::new(found("findAll", &text, &regex)?)))
}

fn optional(value: Option<Value>) -> Value {
    let optional = value.map_or_else(OptionalValue::none, OptionalValue::of);
    Value::Opaque(Arc::new(optional))
}

fn select(operand: Value, field: Arc<String>) -> Result<Value> {
    let operand = match <&OptionalValue>::try_from(&operand) {
        Ok(inner) => match inner.value() {
            Some(value) => value.clone(),
            None => return Ok(optional(None)),
        },
        Err(_) => operand,
    };
    match operand {
        Value::Map(map) => Ok(optional(map.map.get(&Key::String(field)).cloned())),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn keys(value: Value) -> Result<Value> {
    let keys = match value {
        Value::List(items) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            (0..length).map(Value::Int).collect()
        }
        Value::Map(map) => map.map.keys().map(Value::from).collect(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(Value::List(Arc::new(keys)))
}
