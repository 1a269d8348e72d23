//! A status subresource without a status in the schema: everything written to it is pruned.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "manifest/status-schema-present",
    title: "a version with the status subresource has a schema for status",
    why: "Without a status property, everything that a controller writes to status is pruned, and some API servers \
          panic when status is written.",
    source: &[
        "docs/server-defects.md#v31",
        "docs/api-server-behaviour.md#a-status-subresource-needs-a-status-schema",
        "docs/api-server-behaviour.md#unknown-fields-are-pruned-at-every-step",
        "https://github.com/kubernetes/kubernetes/pull/133721",
    ],
    severity: Severity::Warning,
    since: None,
    help: "add `status` to the schema, or disable the subresource",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    for version in &evidence.crd.versions {
        let (Some(span), Some(schema)) = (version.status, &version.schema) else {
            continue;
        };
        if schema.properties.contains_key("status") {
            continue;
        }
        let failure = |message: String| Failure::new(message).at(span).version(&version.name).key("status");
        failures.push(if schema.preserves_unknown() {
            let message = format!("{} has the status subresource but no status property; API servers before 1.33.7 and 1.34.4 panic on that", version.name);
            failure(message)
        } else {
            failure(format!("{} has the status subresource but no status property, so whatever is written to status is pruned", version.name))
        });
    }
    Verdict::from_failures(failures, evidence.crd.versions.len())
}
