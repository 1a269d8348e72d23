//! Fields of the definition itself. A server drops unknown fields, and cannot read fields of a wrong type.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

use super::shared_shape::{DEFINITION, Misfit};

pub(crate) const CHECK: Check = Check {
    id: "manifest/fields-known",
    title: "every field of the definition is known to API servers, with its type",
    why: "The API server drops a field that it does not know, with a warning, and kubectl refuses it. A setting that \
          is misspelt, or placed where the v1beta1 API had it, has no effect. A field of another type is refused.",
    source: &[
        "https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/",
        "https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation",
    ],
    severity: Severity::Error,
    since: None,
    help: "correct the name or the type of the field, or remove it",
    needs: &[Need::Manifest],
    judge,
};

/// Fields of apiextensions.k8s.io/v1beta1 that belong to each version now.
const MOVED: [&str; 4] = ["additionalPrinterColumns", "subresources", "validation", "version"];

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    DEFINITION.compare(&evidence.crd.node, "", &mut |path, node, misfit| {
        let failure = match misfit {
            Misfit::Type(expected) => {
                Failure::new(format!("{path} must be {expected}; API servers refuse a CRD in which it is not"))
            }
            Misfit::Unknown(name) => {
                let message =
                    format!("{path} is not a field of a CRD: API servers drop it with a warning, kubectl refuses it");
                let failure = Failure::new(message).severity(Severity::Warning);
                if path.starts_with("spec.") && path.matches('.').count() == 1 && MOVED.contains(&name.as_str()) {
                    failure.help("this is a field of v1beta1; in v1 each of spec.versions has its own")
                } else {
                    failure
                }
            }
        };
        failures.push(failure.at(node.span).key(path));
    });
    Verdict::from_failures(failures, 1)
}
