//! CEL rules must parse, and be at places where API servers allow them. The server judges their types and their cost.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::structural::{Path, Schema};

use super::shared_rules::faults;

pub(crate) const CHECK: Check = Check {
    id: "manifest/rules-affordable",
    title: "validation rules compile and fit the cost budget",
    why: "The API server refuses a CRD with a rule that does not compile or costs too much. The cost estimate \
          differs between releases, so a CRD may install on one release and not on another.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules",
        "docs/api-server-behaviour.md#rules-have-a-cost-budget",
    ],
    severity: Severity::Error,
    since: Some(25),
    help: "correct the rule, or lower its cost with bounds on lists, maps and strings (maxItems, maxProperties, \
           maxLength)",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    let mut rules = 0;
    let mut examined = 0;
    for version in &evidence.crd.versions {
        let Some(schema) = &version.schema else { continue };
        if !schema.has_rules() {
            examined += 1;
            continue;
        }
        walk(schema, &Path::root(), None, &mut |path, node, uncorrelated| {
            examined += 1;
            for rule in &node.rules {
                rules += 1;
                let found = faults(rule, node, path, uncorrelated).into_iter();
                failures
                    .extend(found.map(|message| Failure::new(message).at(rule.span).version(&version.name).path(path)));
            }
        });
    }
    if rules > 0 && failures.is_empty() {
        let reason = "its rules parse; their types and cost are decided by an API server on a dry-run install";
        return Verdict::Inconclusive(reason.into());
    }
    Verdict::from_failures(failures, examined)
}

/// Visits all nodes; passes on the path of a list without keys, below which nothing can be matched with its old state.
fn walk(
    schema: &Schema,
    path: &Path,
    uncorrelated: Option<&Path>,
    visit: &mut dyn FnMut(&Path, &Schema, Option<&Path>),
) {
    visit(path, schema, uncorrelated);
    for (name, property) in &schema.properties {
        walk(property, &path.field(name), uncorrelated, visit);
    }
    if let Some(values) = schema.values() {
        walk(values, &path.value(), uncorrelated, visit);
    }
    if let Some(items) = &schema.items {
        let keyed = schema.list_type.as_deref() == Some("map");
        walk(items, &path.item(), uncorrelated.or_else(|| (!keyed).then_some(path)), visit);
    }
}
