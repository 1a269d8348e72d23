//! A default is a value like any other: it must satisfy its own schema and survive pruning.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Reason, prune_value, validate};

pub(crate) const CHECK: Check = Check {
    id: "manifest/defaults-valid",
    title: "every default is valid under its own schema and survives pruning",
    why: "The API server refuses a CRD with a default that its schema would refuse or prune.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting",
        "docs/api-server-behaviour.md#defaults-must-be-valid",
    ],
    severity: Severity::Error,
    since: None,
    help: "correct the default or its schema",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    let mut inconclusive = None;
    let mut examined = 0;
    for version in &evidence.crd.versions {
        let Some(schema) = &version.schema else { continue };
        schema.walk(&mut |path, node| {
            examined += 1;
            let Some(default) = &node.default else { return };
            let mut say = |message: String| {
                let failure = Failure::new(message).at(node.keyword_span("default"));
                failures.push(failure.version(&version.name).path(path));
            };
            if path.is_meta() {
                return say(format!("{path} must not have a default: every object brings its own"));
            }
            if path.is_root() && (default.get("apiVersion").is_none() || default.get("kind").is_none()) {
                return say("the default of the root lacks apiVersion and kind, so API servers refuse it".into());
            }
            let dropped = prune_value(node, &mut default.clone());
            if !dropped.is_empty() {
                say(format!("the default of {path} has fields that its schema does not know: {}", dropped.join(", ")));
            }
            let findings = validate(node, default, KubeVersion::NEWEST);
            for violation in findings.violations {
                // Servers install such a CRD, but refuse every object that gets the default.
                let later = violation.reason == Reason::Duplicate || node.int_or_string && violation.keyword == "type";
                let what = if later {
                    "makes servers refuse every object that gets it"
                } else {
                    "is refused by its own schema"
                };
                say(format!("the default of {path} {what}: {}", violation.message));
            }
            if let Some(rule) = findings.inconclusive.first() {
                inconclusive =
                    Some(format!("the default of {path} meets a rule that cannot be evaluated here: {}", rule.why));
            }
        });
    }
    match inconclusive {
        Some(reason) if failures.is_empty() => Verdict::Inconclusive(reason),
        _ => Verdict::from_failures(failures, examined),
    }
}
