//! Faults of a validation rule that can be found without types and cost.

use crdproof_schema::structural::{Path, Rule, Schema, constant_faults, syntax_error};

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Returns the reasons why API servers refuse a rule at a schema node. `uncorrelated` is the list above it whose items
/// have no old state.
pub(super) fn faults(rule: &Rule, node: &Schema, path: &Path, uncorrelated: Option<&Path>) -> Vec<String> {
    let mut faults = Vec::new();
    expressions(rule, &mut faults);
    texts(rule, &mut faults);
    if !rule.finds_field(node, path.is_root()) {
        let stated = rule.field_path.as_deref().unwrap_or_default();
        faults.push(format!("the fieldPath {stated:?} leads to no field below {path}"));
    }
    if rule.optional_old_self.is_some() && !rule.is_transition() {
        faults.push("optionalOldSelf needs a rule that uses oldSelf".into());
    }
    if node.ty.is_none() && !node.int_or_string {
        faults.push("a rule needs a field with a type".into());
    }
    if let Some(path) = uncorrelated.filter(|_| rule.is_transition()) {
        faults.push(format!("the rule uses oldSelf, but items of {path} cannot be matched with their old state"));
    }
    faults
}

/// Checks that the rule and its messageExpression parse, and that their constants are valid.
fn expressions(rule: &Rule, faults: &mut Vec<String>) {
    let message = rule.message_expression.as_deref().unwrap_or_default();
    for (what, text) in [("rule", rule.rule.trim()), ("messageExpression", message.trim())] {
        if text.is_empty() {
            if what == "rule" {
                faults.push("the rule is empty".into());
            }
        } else if let Some(error) = syntax_error(text) {
            let first = error.lines().find(|line| !line.trim().is_empty()).unwrap_or("it cannot be parsed");
            faults.push(format!("the {what} does not parse: {}", first.trim()));
        } else {
            faults.extend(constant_faults(text).into_iter().map(|why| format!("the {what} does not compile: {why}")));
        }
    }
}

fn texts(rule: &Rule, faults: &mut Vec<String>) {
    let blank = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty() && text.trim().is_empty());
    let message = rule.message.as_deref().unwrap_or_default().trim();
    if blank(&rule.message) || blank(&rule.message_expression) || blank(&rule.field_path) {
        faults.push("message, messageExpression and fieldPath must not be blank".into());
    }
    if message.contains(['\n', '\r']) {
        faults.push("the message must not contain line breaks".into());
    }
    if rule.rule.trim().contains(['\n', '\r']) && message.is_empty() {
        faults.push("a rule over several lines needs a message".into());
    }
    if let Some(reason) = rule.reason.as_ref().filter(|reason| !REASONS.contains(&reason.as_str())) {
        faults.push(format!("the reason {reason:?} is not one of {}", REASONS.join(", ")));
    }
}
