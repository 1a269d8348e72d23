//! API servers prefer versions by name: stable before beta before alpha, higher before lower, names of any other form
//! last. Clients that name no version get the first one.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{is_dns_label_1035, is_kubernetes_version_name};

pub(crate) const CHECK: Check = Check {
    id: "manifest/version-names-ordered",
    title: "version names are valid, unique, and sort in the intended order",
    why: "kubectl and controllers use the version that sorts first. A name that does not follow the pattern v1, \
          v1beta1 sorts after all others, so clients may never use the newest version.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority",
        "docs/api-server-behaviour.md#discovery-lists-served-versions-by-priority",
    ],
    severity: Severity::Error,
    since: None,
    help: "name versions v1, v1beta1, v2alpha1 and so on",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let mut failures = Vec::new();
    for (index, version) in crd.versions.iter().enumerate() {
        let name = &version.name;
        let failure = |message: String| Failure::new(message).at(version.name_span).version(name);
        if let Some(first) = crd.versions[..index].iter().find(|other| other.name == *name) {
            let failure = failure(format!("the version name {name:?} is listed twice"));
            failures.push(failure.related(first.name_span, "first here").help("give each version a name of its own"));
        } else if !is_dns_label_1035(name) {
            let help = "use lower-case letters, digits and dashes, start with a letter, at most 63 characters";
            failures.push(failure(format!("the version name {name:?} is not valid")).help(help));
        } else if crd.versions.len() > 1 && !is_kubernetes_version_name(name) {
            let message =
                format!("the version name {name:?} is not of the form v1 or v1beta1, so it sorts after all that are");
            failures.push(failure(message).severity(Severity::Warning));
        }
    }
    if crd.versions.is_empty() {
        failures.push(
            Failure::new("spec.versions is empty").at(crd.span_at("/spec/versions")).help("list at least one version"),
        );
    }
    Verdict::from_failures(failures, crd.versions.len())
}
