//! Functions that the engine has with another meaning than a server, or not in all forms.

use std::sync::{Arc, LazyLock};

use kube_cel::KubeCelExt;
use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr};
use kube_cel::cel::{Context, ExecutionError, FunctionContext, Value};

use super::super::Pattern;
use super::super::format::go_duration;

pub(super) type Result<T> = std::result::Result<T, ExecutionError>;

/// The functions as they come, for what is not overridden.
static ORIGINAL: LazyLock<Context<'static>> = LazyLock::new(|| Context::default().with_all());

pub(super) fn register(context: &mut Context<'_>) {
    context.add_function("bool", to_bool);
    context.add_function("double", to_double);
    context.add_function("duration", to_duration);
    context.add_function("dyn", |ftx: &FunctionContext| one(ftx));
    context.add_function("find", find);
    context.add_function("findAll", find_all);
    context.add_function("int", to_int);
    context.add_function("isQuantity", is_quantity);
    context.add_function("matches", matches);
    context.add_function("quantity", quantity);
    context.add_function("replace", replace);
    context.add_function("size", size);
    context.add_function("split", split);
    context.add_function("string", to_string);
    context.add_function("sum", sum);
}

/// The target, if there is one, and the arguments.
pub(super) fn arguments(ftx: &FunctionContext<'_, '_>) -> Result<Vec<Value>> {
    let target = ftx.this.iter().cloned().map(Ok);
    let arguments = ftx.args.iter().map(|arg| ftx.ptx.resolve(arg));
    target.chain(arguments).collect()
}

pub(super) fn one(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match arguments(ftx)?.as_slice() {
        [only] => Ok(only.clone()),
        _ => Err(missing(ftx)),
    }
}

/// There is no such form of the function here.
pub(super) fn missing(ftx: &FunctionContext<'_, '_>) -> ExecutionError {
    ExecutionError::undeclared_reference(ftx.name)
}

pub(super) fn text(text: impl Into<String>) -> Value {
    Value::String(Arc::new(text.into()))
}

/// Calls the original function.
pub(super) fn original(name: &str, arguments: Vec<Value>) -> Result<Value> {
    let mut scope = ORIGINAL.new_inner_scope();
    let mut args = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.into_iter().enumerate() {
        let ident = format!("@{index}");
        scope.add_variable_from_value(ident.clone(), argument);
        args.push(IdedExpr { id: 0, expr: Expr::Ident(ident) });
    }
    let call = CallExpr { func_name: name.to_owned(), target: None, args };
    let call = IdedExpr { id: 0, expr: Expr::Call(call) };
    scope.resolve(&call)
}

/// Reads texts as Go does: the engine takes some that servers refuse, and refuses `µs`.
fn to_duration(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match one(ftx)? {
        Value::String(text) => go_duration(&text)
            .map(|nanos| Value::Duration(chrono::Duration::nanoseconds(nanos)))
            .ok_or_else(|| ftx.error("not a duration")),
        value => original("duration", vec![value]),
    }
}

/// A number that is too great is none, rather than infinite.
fn to_double(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let argument = one(ftx)?;
    if let Value::String(text) = &argument
        && !text.to_ascii_lowercase().contains("inf")
        && text.parse::<f64>().is_ok_and(f64::is_infinite)
    {
        return Err(ExecutionError::function_error("double", "type conversion error"));
    }
    original("double", vec![argument])
}

/// The size of a string is counted in characters.
fn size(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let size = match one(ftx)? {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len(),
        Value::Map(map) => map.map.len(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn to_bool(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match one(ftx)? {
        Value::Bool(value) => Ok(Value::Bool(value)),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(ftx.error("neither true nor false")),
        },
        _ => Err(missing(ftx)),
    }
}

fn to_int(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match one(ftx)? {
        Value::Timestamp(time) => Ok(Value::Int(time.timestamp())),
        Value::Duration(duration) => {
            let nanos = duration.num_nanoseconds();
            nanos.map(Value::Int).ok_or_else(|| ftx.error("overflow"))
        }
        value => original("int", vec![value]),
    }
}

fn to_string(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    Ok(match one(ftx)? {
        Value::Bool(value) => text(value.to_string()),
        Value::Float(value) => text(float(value)),
        Value::Bytes(bytes) => match String::from_utf8(bytes.to_vec()) {
            Ok(valid) => text(valid),
            Err(_) => return Err(ftx.error("invalid UTF-8")),
        },
        Value::Duration(duration) => {
            let seconds = duration.num_milliseconds();
            let whole = duration == chrono::Duration::milliseconds(seconds) && seconds % 1000 == 0;
            if !whole {
                return Err(missing(ftx));
            }
            text(format!("{}s", seconds / 1000))
        }
        Value::Timestamp(time) => {
            if time.timestamp_subsec_nanos() != 0 {
                return Err(missing(ftx));
            }
            text(time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
        }
        value => return original("string", vec![value]),
    })
}

/// A number with the fewest digits, and an exponent if it is less than 0.0001 or more than a million.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if exponent < -4 => format!("{mantissa}e-{:02}", -exponent),
        Ok(exponent) if exponent >= 6 => format!("{mantissa}e+{exponent:02}"),
        _ => format!("{value}"),
    }
}

/// Replaces up to a number of times, which is without limit if negative.
fn replace(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match arguments(ftx)?.as_slice() {
        [Value::String(whole), Value::String(from), Value::String(to)] => Ok(text(whole.replace(from.as_str(), to))),
        [Value::String(whole), Value::String(from), Value::String(to), Value::Int(limit)] => {
            Ok(match usize::try_from(*limit) {
                Ok(limit) => text(whole.replacen(from.as_str(), to, limit)),
                Err(_) => text(whole.replace(from.as_str(), to)),
            })
        }
        _ => Err(missing(ftx)),
    }
}

/// Splits into up to a number of parts; between all characters where the separator is empty.
fn split(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let (whole, separator, limit) = match arguments(ftx)?.as_slice() {
        [Value::String(whole), Value::String(separator)] => (Arc::clone(whole), Arc::clone(separator), -1),
        [Value::String(whole), Value::String(separator), Value::Int(limit)] => {
            (Arc::clone(whole), Arc::clone(separator), *limit)
        }
        _ => return Err(missing(ftx)),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts: Vec<Value> = Vec::new();
    let mut rest = whole.as_str();
    if limit == 0 || (rest.is_empty() && separator.is_empty()) {
        return Ok(Value::List(Arc::new(parts)));
    }
    while parts.len() + 1 < limit {
        let cut = if separator.is_empty() {
            let first = rest.chars().next().map_or(0, char::len_utf8);
            (first < rest.len()).then(|| rest.split_at(first))
        } else {
            rest.split_once(separator.as_str())
        };
        let Some((part, next)) = cut else { break };
        parts.push(text(part));
        rest = next;
    }
    parts.push(text(rest));
    Ok(Value::List(Arc::new(parts)))
}

fn sum(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let list = one(ftx)?;
    if let Value::List(items) = &list
        && let Some(Value::Duration(_)) = items.first()
    {
        let mut total = chrono::Duration::zero();
        for item in items.iter() {
            let Value::Duration(duration) = item else {
                return Err(ExecutionError::NoSuchOverload);
            };
            let added = total.checked_add(duration);
            total = added.ok_or(ExecutionError::NoSuchOverload)?;
        }
        return Ok(Value::Duration(total));
    }
    original("sum", vec![list])
}

fn found(ftx: &FunctionContext<'_, '_>, whole: &str, regex: &str) -> Result<Vec<Value>> {
    let pattern = Pattern::new(regex);
    let found = pattern.find_all(whole).map_err(|why| ftx.error(why))?;
    Ok(found.into_iter().map(text).collect())
}

fn matches(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match arguments(ftx)?.as_slice() {
        [Value::String(whole), Value::String(regex)] => {
            let pattern = Pattern::new(regex);
            pattern.fault().map_or_else(|| Ok(Value::Bool(pattern.matches(whole))), |why| Err(ftx.error(why)))
        }
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn find(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match arguments(ftx)?.as_slice() {
        [Value::String(whole), Value::String(regex)] => {
            let first = found(ftx, whole, regex)?.into_iter().next();
            Ok(first.unwrap_or_else(|| text("")))
        }
        _ => Err(missing(ftx)),
    }
}

fn find_all(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let found = match arguments(ftx)?.as_slice() {
        [Value::String(whole), Value::String(regex)] => found(ftx, whole, regex)?,
        [Value::String(whole), Value::String(regex), Value::Int(limit)] => {
            let mut found = found(ftx, whole, regex)?;
            found.truncate(usize::try_from(*limit).unwrap_or(usize::MAX));
            found
        }
        _ => return Err(missing(ftx)),
    };
    Ok(Value::List(Arc::new(found)))
}

fn is_quantity(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match one(ftx)? {
        Value::String(text) => Ok(Value::Bool(reads_as_quantity(&text))),
        _ => Err(missing(ftx)),
    }
}

fn quantity(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match one(ftx)? {
        Value::String(text) if !reads_as_quantity(&text) => Err(ftx.error("not a quantity")),
        value => original("quantity", vec![value]),
    }
}

/// A decimal number and a suffix: of thousands, of powers of 1024, or a decimal exponent.
fn reads_as_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 || number.len() > digits + 1 {
        return false;
    }
    match suffix {
        "" | "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei" => true,
        _ => suffix.strip_prefix(['e', 'E']).is_some_and(|exponent| {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        }),
    }
}
