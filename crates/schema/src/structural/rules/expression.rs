//! An expression that computes a value, over an object as it is.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use kube_cel::cel::common::ast::IdedExpr;
use kube_cel::cel::objects::{Key, Map, OptionalValue};
use kube_cel::cel::{ExecutionError, Value as Cel};
use serde_json::Value;

use super::super::Schema;
use super::budget::{self, OBJECT_LIMIT};
use super::engine::Engine;
use super::program::guarded;
use super::rewrite::rewrite;
use crate::document::{Sources, Span};
use crate::kubernetes::KubeVersion;

/// A compiled expression over `self`. In contrast to a rule it sees every field under its own name, metadata
/// included, with the type that the value has.
pub struct Expression {
    expression: IdedExpr,
    engine: Engine,
}

/// An error of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExpressionError(String);

impl From<String> for ExpressionError {
    fn from(why: String) -> Self {
        Self(why)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expression").finish_non_exhaustive()
    }
}

impl Expression {
    /// Compiles an expression.
    pub fn compile(text: &str) -> Result<Self, ExpressionError> {
        if text.trim().is_empty() {
            return Err("the expression is empty".to_owned().into());
        }
        let mut engine = Engine::new(KubeVersion::NEWEST);
        let untyped = Schema::empty(Span::start_of(Sources::default().add("expression", "")));
        let expression = guarded(|| rewrite(text, &untyped, &mut engine)).unwrap_or_else(Err)?;
        let references = expression.references();
        // Names that expressions have in other places of Kubernetes.
        let elsewhere = ["oldSelf", "object", "oldObject", "request", "params"];
        if let Some(stray) = elsewhere.iter().find(|name| references.has_variable(name)) {
            return Err(format!("{stray} is not known here; the object is called self").into());
        }
        engine.seal();
        Ok(Self { expression, engine })
    }

    /// Evaluates it.
    pub fn evaluate(&self, object: &Value) -> Result<Value, ExpressionError> {
        let mut scope = self.engine.scope();
        scope.add_variable_from_value("self", to_cel(object));
        let (result, cost) =
            budget::measured(&self.expression, OBJECT_LIMIT, || guarded(|| scope.resolve(&self.expression)));
        if cost.least > OBJECT_LIMIT {
            return Err(format!("it costs more than {OBJECT_LIMIT}, the limit of all rules of an object").into());
        }
        match result? {
            Ok(value) => Ok(to_json(&value)?),
            Err(ExecutionError::UndeclaredReference(name)) => Err(format!("{name} is not known here").into()),
            Err(error) => Err(error.to_string().into()),
        }
    }
}

fn to_cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Cel::Int(value),
            (None, Some(value)) => Cel::UInt(value),
            (None, None) => number.as_f64().map_or(Cel::Null, Cel::Float),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(map) => {
            let entries = map.iter().map(|(name, value)| (Key::String(Arc::new(name.clone())), to_cel(value)));
            Cel::Map(Map { map: Arc::new(entries.collect::<HashMap<_, _>>()) })
        }
    }
}

pub(super) fn to_json(value: &Cel) -> Result<Value, String> {
    match value {
        Cel::Null => Ok(Value::Null),
        Cel::Bool(value) => Ok(Value::Bool(*value)),
        Cel::Int(value) => Ok((*value).into()),
        Cel::UInt(value) => Ok((*value).into()),
        Cel::Float(value) => serde_json::Number::from_f64(*value)
            .map(Value::Number)
            .ok_or_else(|| format!("{value} is not a JSON number")),
        Cel::String(text) => Ok(Value::String(text.as_ref().clone())),
        Cel::List(items) => items.iter().map(to_json).collect::<Result<_, _>>().map(Value::Array),
        Cel::Map(map) => {
            let entries = map.map.iter().map(|(key, value)| match key {
                Key::String(name) => Ok((name.as_ref().clone(), to_json(value)?)),
                _ => Err("a map has keys that are not texts".to_owned()),
            });
            // Collected in order, since the map itself has none.
            let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            Ok(Value::Object(entries.into_iter().collect()))
        }
        Cel::Opaque(_) => match <&OptionalValue>::try_from(value) {
            Ok(optional) => optional.value().map_or(Ok(Value::Null), to_json),
            Err(_) => Err("the result has no form in JSON; make it a text".to_owned()),
        },
        Cel::Duration(_) | Cel::Timestamp(_) | Cel::Bytes(_) | Cel::Function(..) => {
            Err("the result has no form in JSON; make it a text with string()".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("self.spec.a + 1", json!(3))]
    #[case("self.metadata.labels['a/b']", json!("x"))]
    #[case("has(self.spec.none) ? self.spec.none : null", json!(null))]
    #[case("self.spec.l.map(x, {'v': x})", json!([{"v": 1}, {"v": 2}]))]
    #[case("self.spec.?none.orValue('d')", json!("d"))]
    #[case("double(self.spec.a) / 4.0", json!(0.5))]
    #[case("string(self.spec.a) + 'm'", json!("2m"))]
    fn values_are_computed(#[case] text: &str, #[case] expected: Value) {
        let object = json!({"metadata": {"labels": {"a/b": "x"}}, "spec": {"a": 2, "l": [1, 2]}});
        assert_eq!(Expression::compile(text).unwrap().evaluate(&object), Ok(expected));
    }

    /// Texts and verdicts of Go's `time.ParseDuration`, by which API servers read them.
    #[rstest]
    #[case("0", Some(0))]
    #[case("30s", Some(30_000))]
    #[case("1h30m", Some(5_400_000))]
    #[case("-1.5h", Some(-5_400_000))]
    #[case(".5s", Some(500))]
    #[case("3000µs", Some(3))]
    #[case("3000μs", Some(3))]
    #[case("1msi", None)]
    #[case("1h xx", None)]
    #[case("1m1", None)]
    #[case("1e3s", None)]
    #[case("1h-30m", None)]
    #[case("1d", None)]
    #[case("", None)]
    #[case("9223372036854775808ns", None)]
    #[case("2562048h", None)]
    fn durations_are_read_as_servers_read_them(#[case] text: &str, #[case] millis: Option<i64>) {
        let rule = Expression::compile("duration(self.text).getMilliseconds()").unwrap();
        assert_eq!(rule.evaluate(&json!({"text": text})).ok(), millis.map(Value::from));
    }

    #[test]
    fn errors_of_expressions_are_reported() {
        assert!(Expression::compile("self.spec.(").is_err());
        assert!(Expression::compile(" ").unwrap_err().to_string().contains("empty"));
        assert!(Expression::compile("object.spec.a").unwrap_err().to_string().contains("object is not known"));
        let object = json!({"spec": {"a": 2}});
        assert!(Expression::compile("self.spec.b").unwrap().evaluate(&object).is_err());
        assert!(Expression::compile("self.spec.a / 0").unwrap().evaluate(&object).is_err());
    }
}
