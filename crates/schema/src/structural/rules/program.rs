//! One rule: compiled, evaluated, and its outcome told.

use crate::document::pointer;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use kube_cel::cel::common::ast::IdedExpr;
use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{Context, ExecutionError, Value as Cel};
use serde_json::Value;

use super::super::place::{NIL, Place};
use super::super::verdict::{Findings, Inconclusive, Reason, Violation};
use super::super::{Rule, Schema};
use super::budget::{self, RULE_LIMIT, text_size};
use super::engine::{Engine, is_genuine};
use super::rewrite::rewrite;
use super::value::{Converted, convert};

const KEYWORD: &str = "x-kubernetes-validations";

/// Longer messages are not shown by a server.
const MESSAGE_LIMIT: usize = 5 * 1024;

/// A rule ready to run.
pub(super) struct Program<'a> {
    rule: &'a Rule,
    /// The expression, or why there is none.
    expression: Result<IdedExpr, String>,
    message: Option<IdedExpr>,
    uses_old: bool,
    /// The answer of a rule without variables, and its cost, after the first evaluation. Loops over constants are the ones that
    /// cost most, and they cost the same for every object.
    constant: Option<OnceLock<(Answer, u64)>>,
    /// `fieldPath` as the server writes it, and as a JSON pointer.
    field: Option<(String, String)>,
}

/// A value and its predecessor, converted when the first rule asks.
pub(super) struct Subject<'v> {
    schema: &'v Schema,
    resource: bool,
    value: &'v Value,
    old: Option<&'v Value>,
    converted: OnceLock<Converted>,
    converted_old: OnceLock<Converted>,
}

impl<'v> Subject<'v> {
    pub(super) fn new(schema: &'v Schema, resource: bool, value: &'v Value, old: Option<&'v Value>) -> Self {
        Self { schema, resource, value, old, converted: OnceLock::new(), converted_old: OnceLock::new() }
    }

    fn new_value(&self) -> &Converted {
        self.converted.get_or_init(|| convert(self.value, self.schema, self.resource))
    }

    /// A scope in which `self` is the value.
    pub(super) fn scope<'e>(&self, engine: &'e Engine) -> Context<'e> {
        let mut scope = engine.scope();
        scope.add_variable_from_value("self", self.new_value().value.clone());
        scope
    }

    /// The number of characters of everything that a rule sees.
    fn size(&self, with_old: bool) -> u64 {
        let old = self.old.filter(|_| with_old).map_or(0, text_size);
        text_size(self.value).saturating_add(old)
    }

    fn old_value(&self) -> Option<&Converted> {
        let old = self.old?;
        Some(self.converted_old.get_or_init(|| convert(old, self.schema, self.resource)))
    }
}

/// The verdict of a rule.
#[derive(Clone)]
enum Answer {
    Holds,
    Fails,
    Error(String),
    /// It costs more than a server allows.
    Expensive,
    Open(String),
}

impl<'a> Program<'a> {
    pub(super) fn compile(rule: &'a Rule, schema: &'a Schema, engine: &mut Engine) -> Self {
        let expression = guarded(|| rewrite(&rule.rule, schema, engine)).unwrap_or_else(Err);
        let message =
            rule.message_expression.as_deref().and_then(|text| guarded(|| rewrite(text, schema, engine)).ok()?.ok());
        let uses_old = match &expression {
            Ok(expression) => expression.references().has_variable("oldSelf"),
            Err(_) => rule.is_transition(),
        };
        let is_constant = expression.as_ref().is_ok_and(|tree| {
            let references = tree.references();
            !references.has_variable("self") && !references.has_variable("oldSelf")
        });
        Self {
            rule,
            expression,
            message,
            uses_old,
            constant: is_constant.then(OnceLock::new),
            field: rule.field_path.as_deref().and_then(|path| field_path(schema, path)),
        }
    }

    pub(super) fn rule(&self) -> &'a Rule {
        self.rule
    }

    pub(super) fn judge(
        &self,
        engine: &Engine,
        subject: &Subject<'_>,
        forgives: impl Fn() -> bool,
        place: &Place<'_>,
        findings: &mut Findings,
    ) {
        let optional = self.rule.optional_old_self == Some(true) && engine.kubernetes().at_least(30);
        if budget::is_exhausted()
            || self.rule.rule.trim().is_empty()
            || self.uses_old && subject.old.is_none() && !optional
        {
            return;
        }
        let scope = self.scope(engine, subject, optional);
        match self.answer(&scope, subject) {
            Answer::Holds => {}
            Answer::Fails if !self.uses_old && forgives() => {}
            Answer::Fails => findings.violations.push(self.failure(&scope, place)),
            Answer::Error(why) => {
                let message = format!("{why} while evaluating: {}", self.says());
                let violation = place.refused(Reason::Invalid, KEYWORD, message);
                findings.violations.push(violation);
            }
            Answer::Expensive => {
                let message = format!("no further rules are run, because the cost exceeds the limit: {}", self.says());
                findings.violations.push(place.refused(Reason::Invalid, KEYWORD, message));
            }
            Answer::Open(why) => {
                findings.inconclusive.push(Inconclusive {
                    field: place.bracketed(),
                    rule: self.rule.rule.clone(),
                    why,
                });
            }
        }
    }

    /// A scope with the variables of the rule.
    fn scope<'e>(&self, engine: &'e Engine, subject: &Subject<'_>, optional: bool) -> Context<'e> {
        let mut scope = subject.scope(engine);
        if self.uses_old {
            let old = subject.old_value().map(|old| old.value.clone());
            match (old, optional) {
                (old, true) => {
                    let old = old.map_or_else(OptionalValue::none, OptionalValue::of);
                    scope.add_variable_from_value("oldSelf", Cel::Opaque(Arc::new(old)));
                }
                (Some(old), false) => scope.add_variable_from_value("oldSelf", old),
                (None, false) => {}
            }
        }
        scope
    }

    /// Evaluates the rule, unless the budget of the object is used up.
    fn answer(&self, scope: &Context<'_>, subject: &Subject<'_>) -> Answer {
        let (answer, cost) = match &self.constant {
            Some(known) => known.get_or_init(|| self.evaluate(scope, subject)).clone(),
            None => self.evaluate(scope, subject),
        };
        if budget::spend(cost) { answer } else { Answer::Expensive }
    }

    /// The answer, and what it costs at least. After a rule that is too expensive no other is run.
    fn evaluate(&self, scope: &Context<'_>, subject: &Subject<'_>) -> (Answer, u64) {
        let expression = match &self.expression {
            Ok(expression) => expression,
            Err(why) => return (Answer::Open(why.clone()), 0),
        };
        let (result, cost) = budget::measured(expression, RULE_LIMIT, || guarded(|| scope.resolve(expression)));
        if cost.least > RULE_LIMIT {
            return (Answer::Expensive, u64::MAX);
        }
        let invalid = self.constant.is_none()
            && (subject.new_value().has_invalid
                || self.uses_old && subject.old_value().is_some_and(|old| old.has_invalid));
        let answer = match result {
            Err(why) => Answer::Open(why),
            Ok(Ok(Cel::Bool(true))) if invalid => {
                Answer::Open("a value is not of the type that the rule sees".to_owned())
            }
            Ok(Ok(Cel::Bool(true))) if cost.most(subject.size(self.uses_old)) > RULE_LIMIT => {
                Answer::Open("its cost may exceed the limit of API servers".to_owned())
            }
            Ok(Ok(Cel::Bool(true))) => Answer::Holds,
            Ok(Ok(Cel::Bool(false))) => Answer::Fails,
            Ok(Ok(_)) => Answer::Open("the result is neither true nor false".to_owned()),
            Ok(Err(error)) if is_genuine(&error) => Answer::Error(error.to_string()),
            Ok(Err(ExecutionError::UndeclaredReference(name))) => Answer::Open(format!("{name} is not supported")),
            Ok(Err(error)) if invalid => Answer::Error(error.to_string()),
            Ok(Err(error)) => Answer::Open(error.to_string()),
        };
        (answer, cost.least)
    }

    fn failure(&self, scope: &Context<'_>, place: &Place<'_>) -> Violation {
        let reason = match self.rule.reason.as_deref() {
            Some("FieldValueForbidden") => Reason::Forbidden,
            Some("FieldValueRequired") => Reason::Required,
            Some("FieldValueDuplicate") => Reason::Duplicate,
            _ => Reason::Invalid,
        };
        let message = self.computed(scope).unwrap_or_else(|| self.says());
        let mut violation = place.refused(reason, KEYWORD, message);
        if let Some((path, pointer)) = &self.field {
            violation.field = if violation.field == NIL { path.clone() } else { format!("{}.{path}", violation.field) };
            violation.pointer.push_str(pointer);
        }
        violation
    }

    /// The message of `messageExpression`, where it is one line that says something.
    fn computed(&self, scope: &Context<'_>) -> Option<String> {
        let expression = self.message.as_ref()?;
        let (result, cost) = budget::measured(expression, RULE_LIMIT, || guarded(|| scope.resolve(expression)));
        let Ok(Ok(Cel::String(text))) = result else { return None };
        if cost.least > RULE_LIMIT {
            return None;
        }
        let text = text.trim();
        let shown = !text.is_empty() && !text.contains('\n') && text.len() <= MESSAGE_LIMIT;
        shown.then(|| text.to_owned())
    }

    fn says(&self) -> String {
        match self.rule.message.as_deref() {
            Some(message) if !message.is_empty() => message.trim().to_owned(),
            _ => format!("failed rule: {}", self.rule.rule.trim()),
        }
    }
}

/// The engine has corners in which it panics. They make a rule inconclusive, not the run a failure.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "the expression engine failed on it".to_owned())
}

/// Reads a path of `.name` and `['name']`: fields are joined by dots, map keys go into brackets.
fn field_path(schema: &Schema, path: &str) -> Option<(String, String)> {
    let mut schema = Some(schema);
    let (mut written, mut pointer) = (String::new(), String::new());
    let mut rest = path;
    while !rest.is_empty() {
        let (name, next) = step(rest)?;
        let is_field = schema.is_some_and(|schema| !schema.properties.is_empty());
        if !is_field {
            written.extend(["[", &name, "]"]);
        } else if written.is_empty() {
            written.push_str(&name);
        } else {
            written.extend([".", &name]);
        }
        pointer::descend(&mut pointer, &name);
        schema = schema.and_then(|schema| schema.child(&name));
        rest = next;
    }
    Some((written, pointer))
}

/// Reads the first step of a path of `.name` and `['name']`, and what follows it.
pub(super) fn step(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix("['") {
        let mut name = String::new();
        let mut chars = quoted.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => name.push(chars.next()?.1),
                '\'' => return Some((name, quoted[at + 1..].strip_prefix(']')?)),
                c => name.push(c),
            }
        }
        return None;
    }
    let rest = text.strip_prefix('.')?;
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    Some((rest[..end].to_owned(), &rest[end..]))
}
