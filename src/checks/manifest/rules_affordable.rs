//! CEL rules must parse, and stand where API servers allow them. Their types and their cost are the
//! server's to judge.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::structural::{Path, Rule, Schema, syntax_error};

pub(crate) const CHECK: Check = Check {
    id: "manifest/rules-affordable",
    title: "validation rules parse, are well-formed, and fit the cost budget",
    why: "The API server refuses a CRD with a rule that does not compile or costs too much; the cost estimate differs \
          between releases, so a CRD can install on one and not on another.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules",
        "docs/api-server-behaviour.md#rules-have-a-cost-budget",
    ],
    severity: Severity::Error,
    since: Some(25),
    help: "correct the rule; bound lists, maps and strings (maxItems, maxProperties, maxLength) to lower its cost",
    needs: &[Need::Manifest],
    judge,
};

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    let mut rules = 0;
    let mut examined = 0;
    for version in &evidence.crd.versions {
        let Some(schema) = &version.schema else { continue };
        walk(schema, &Path::root(), None, &mut |path, node, uncorrelated| {
            examined += 1;
            for rule in &node.rules {
                rules += 1;
                let found = faults(rule, uncorrelated).into_iter();
                failures
                    .extend(found.map(|message| Failure::new(message).at(rule.span).version(&version.name).path(path)));
            }
        });
    }
    if rules > 0 && failures.is_empty() {
        let reason =
            format!("{rules} rules parse; their types and cost are decided by an API server on a dry-run install");
        return Verdict::Inconclusive(reason);
    }
    Verdict::from_failures(failures, examined)
}

/// Visits all nodes; below a list that is not keyed or an atomic map nothing can be matched with its
/// old state, and the path of that list or map is told.
fn walk(
    schema: &Schema,
    path: &Path,
    uncorrelated: Option<&Path>,
    visit: &mut dyn FnMut(&Path, &Schema, Option<&Path>),
) {
    visit(path, schema, uncorrelated);
    let atomic_map = schema.map_type.as_deref() == Some("atomic");
    let below = uncorrelated.or_else(|| atomic_map.then_some(path));
    for (name, property) in &schema.properties {
        walk(property, &path.field(name), below, visit);
    }
    if let Some(values) = schema.values() {
        walk(values, &path.value(), uncorrelated, visit);
    }
    if let Some(items) = &schema.items {
        let keyed = schema.list_type.as_deref() == Some("map");
        walk(items, &path.item(), uncorrelated.or_else(|| (!keyed).then_some(path)), visit);
    }
}

fn faults(rule: &Rule, uncorrelated: Option<&Path>) -> Vec<String> {
    let text = rule.rule.trim();
    let blank = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty() && text.trim().is_empty());
    let message = rule.message.as_deref().unwrap_or_default().trim();
    let mut faults = Vec::new();
    if text.is_empty() {
        faults.push("the rule is empty".into());
    } else if let Some(error) = syntax_error(text) {
        let first = error.lines().find(|line| !line.trim().is_empty()).unwrap_or("it cannot be parsed");
        faults.push(format!("the rule does not parse: {}", first.trim()));
    }
    if blank(&rule.message) || blank(&rule.message_expression) || blank(&rule.field_path) {
        faults.push("message, messageExpression and fieldPath must not be blank".into());
    }
    if message.contains(['\n', '\r']) {
        faults.push("the message must not contain line breaks".into());
    }
    if text.contains(['\n', '\r']) && message.is_empty() {
        faults.push("a rule over several lines needs a message".into());
    }
    if let Some(reason) = rule.reason.as_ref().filter(|reason| !REASONS.contains(&reason.as_str())) {
        faults.push(format!("the reason {reason:?} is none of {}", REASONS.join(", ")));
    }
    if let Some(path) = uncorrelated.filter(|_| rule.is_transition()) {
        faults.push(format!("the rule uses oldSelf, but items of {path} cannot be matched with their old state"));
    }
    faults
}
