//! Every served version has its schema in OpenAPI.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/schema-published",
    title: "the schema of every served version is published",
    why: "kubectl explain, editors and generated clients read the published schema.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/api-server-behaviour.md#schemas-are-published-per-served-version",
    ],
    severity: Severity::Warning,
    since: Some(24),
    help: "check the conditions of the CRD; API servers do not publish schemas that are not structural",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::Openapi) {
            let Some(schema) = evidence.crd.version(&call.version).and_then(|version| version.schema.as_ref()) else {
                continue;
            };
            found.examined += 1;
            let published = call.answered["root"].as_array().cloned().unwrap_or_default();
            let missing = schema.properties.keys().find(|name| !published.contains(&serde_json::json!(name)));
            if let Some(name) = missing.filter(|_| !schema.preserves_unknown()) {
                // Each of the two documents must have it.
                let message = format!("{name} of {} is not published in {}", call.version, call.action);
                found.failure(&call.version, message, call.action.to_string());
            }
        }
    })
}
