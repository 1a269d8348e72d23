//! Every version needs a structural schema. Without one the API server refuses the CRD, and pruning, defaulting and
//! server-side apply could not work.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

use super::shared_structural::{Fault, faults};

pub(crate) const CHECK: Check = Check {
    id: "manifest/schemas-structural",
    title: "every version has a structural schema",
    why: "The API server refuses a CRD whose schema is not structural, and drops schema keywords that it does not \
          know.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema",
        "docs/api-server-behaviour.md#every-version-needs-a-structural-schema",
    ],
    severity: Severity::Error,
    since: None,
    help: "give every field a type outside allOf, anyOf, oneOf and not, and remove keywords that structural schemas \
           forbid",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let mut failures = Vec::new();
    let mut examined = 0;
    if crd.preserve_unknown_fields {
        let failure = Failure::new("spec.preserveUnknownFields is true, which apiextensions.k8s.io/v1 refuses");
        let help = "remove it, and set `x-kubernetes-preserve-unknown-fields: true` where fields are really open";
        failures.push(failure.at(crd.span_at("/spec/preserveUnknownFields")).help(help));
    }
    for version in &crd.versions {
        let Some(schema) = &version.schema else {
            let failure = Failure::new(format!("version {} has no schema", version.name)).at(version.name_span);
            failures.push(failure.version(&version.name).help("add schema.openAPIV3Schema"));
            continue;
        };
        schema.walk_all(&mut |_, _| examined += 1);
        for Fault { path, span, message, help, severity } in faults(schema, version.status.is_some()) {
            let mut failure = Failure::new(message).at(span).version(&version.name).path(&path).severity(severity);
            failure.help = help.map(str::to_owned);
            failures.push(failure);
        }
    }
    Verdict::from_failures(failures, examined)
}
