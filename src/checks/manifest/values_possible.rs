//! Schemas that admit no value, or have parts that no value can have.

use std::cmp::Ordering;

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::document::Span;
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Path, Schema, Type, Validator, validate};
use serde_json::{Number, Value, json};

pub(crate) const CHECK: Check = Check {
    id: "manifest/values-possible",
    title: "the schema admits a value for every field",
    why: "API servers accept a schema that no value satisfies, and then refuse every object that sets the field.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation",
        "docs/api-server-behaviour.md#every-version-needs-a-structural-schema",
    ],
    severity: Severity::Warning,
    since: None,
    help: "correct one of the keywords that exclude each other",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    let mut examined = 0;
    for version in &evidence.crd.versions {
        let Some(schema) = &version.schema else { continue };
        schema.walk(&mut |path, node| {
            examined += 1;
            let failure = |(message, span): (String, Span)| {
                let clause =
                    message.replacen("admits", "admit", 1).replacen("has", "have", 1).replacen(" its ", " their ", 1);
                let failure =
                    Failure::new(format!("{path} {message}")).at(span).key(&message).together(&message, clause);
                failure.version(&version.name).path(path)
            };
            failures.extend(bounds(node).into_iter().chain(values(node)).chain(required(path, node)).map(failure));
            if let Some(wide) = wide_bounds(node) {
                // A server refuses every number in these words, also that of a sample: it is one cause.
                let refusal = validate(node, &json!(0), KubeVersion::NEWEST).violations.into_iter().next();
                let complaint = refusal.map(|refusal| refusal.message).unwrap_or_default();
                failures.push(failure(wide).complaint(&complaint));
            }
        });
    }
    Verdict::from_failures(failures, examined)
}

/// Finds a lower bound above the upper one.
fn bounds(node: &Schema) -> Vec<(String, Span)> {
    let excluded = node.exclusive_minimum || node.exclusive_maximum;
    let order = node.minimum.as_ref().zip(node.maximum.as_ref()).map(|(low, high)| compare(low, high));
    let numbers = match order {
        Some(Some(Ordering::Greater)) => true,
        Some(Some(Ordering::Equal)) => excluded,
        _ => false,
    };
    let above = |low: Option<i64>, high: Option<i64>| low.zip(high).is_some_and(|(low, high)| low > high);
    let is_number = matches!(node.ty, Some(Type::Integer | Type::Number)) || node.int_or_string;
    [
        ("minimum", "maximum", is_number && numbers),
        ("minLength", "maxLength", node.ty == Some(Type::String) && above(node.min_length, node.max_length)),
        ("minItems", "maxItems", node.ty == Some(Type::Array) && above(node.min_items, node.max_items)),
        (
            "minProperties",
            "maxProperties",
            node.ty == Some(Type::Object) && above(node.min_properties, node.max_properties),
        ),
    ]
    .into_iter()
    .filter(|(.., broken)| *broken)
    .map(|(low, high, _)| (format!("admits no value: {low} and {high} leave no room"), node.keyword_span(low)))
    .collect()
}

/// Finds a bound that the format cannot have. API servers compare nothing with it, and refuse every number.
fn wide_bounds(node: &Schema) -> Option<(String, Span)> {
    let limit = match (node.ty?, node.format.as_deref()) {
        (Type::Integer | Type::Number, Some("int32")) => 2_f64.powi(31),
        (Type::Integer, None) | (Type::Integer | Type::Number, Some("int64")) => 2_f64.powi(63),
        _ => return None,
    };
    let is_wide = |bound: &Number| bound.as_f64().is_some_and(|bound| bound < -limit || bound >= limit);
    let bounds = [("minimum", &node.minimum), ("maximum", &node.maximum)];
    let (keyword, bound) = bounds
        .into_iter()
        .find_map(|(keyword, bound)| Some((keyword, bound.as_ref().filter(|bound| is_wide(bound))?)))?;
    let format = node.format.as_deref().unwrap_or("int64");
    Some((format!("admits no value: its {keyword} {bound} does not fit {format}"), node.keyword_span(keyword)))
}

fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// Finds values of an enum that the rest of the schema refuses.
fn values(node: &Schema) -> Option<(String, Span)> {
    let all = node.enumeration.as_ref()?;
    let validator = Validator::new(node, KubeVersion::NEWEST);
    let refused = |value: &&Value| {
        let violations = validator.validate(value).violations;
        !value.is_null() && violations.iter().any(|violation| violation.keyword != "x-kubernetes-validations")
    };
    let refused: Vec<String> = all.iter().filter(refused).map(Value::to_string).collect();
    let message = match refused.len() {
        0 => return None,
        count if count == all.len() => {
            "admits no value: the rest of the schema refuses all values of its enum".to_owned()
        }
        _ => format!("has enum values that the rest of the schema refuses: {}", refused.join(", ")),
    };
    Some((message, node.keyword_span("enum")))
}

/// Finds required fields that are pruned before validation.
fn required(path: &Path, node: &Schema) -> Option<(String, Span)> {
    if path.is_meta() || node.ty != Some(Type::Object) || node.preserves_unknown() || node.additional.is_some() {
        return None;
    }
    let is_meta =
        |name: &str| (path.is_root() || node.embedded_resource) && matches!(name, "apiVersion" | "kind" | "metadata");
    let missing = |name: &&String| !node.properties.contains_key(*name) && !is_meta(name);
    let missing: Vec<&str> = node.required.iter().filter(missing).map(String::as_str).collect();
    if missing.is_empty() {
        return None;
    }
    let message = format!("admits no value: it requires {}, which the schema does not declare", missing.join(", "));
    Some((message, node.keyword_span("required")))
}
