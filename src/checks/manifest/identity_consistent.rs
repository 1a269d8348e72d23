//! The identity of a CRD: its name, group, kinds and scope must be consistent, or the API server refuses it.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{Crd, is_dns_label_1035, is_dns_subdomain_1123};
use crdproof_schema::document::Node;
use crdproof_schema::structural::is_request_uri;

use crdproof_schema::kubernetes::{label_value, qualified_name};

pub(crate) const CHECK: Check = Check {
    id: "manifest/identity-consistent",
    title: "name, group, kinds and scope are valid and consistent",
    why: "The API server refuses a CRD whose name is not <plural>.<group>, or whose names are invalid.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/api-server-behaviour.md#group-kind-and-scope-are-fixed",
    ],
    severity: Severity::Error,
    since: None,
    help: "correct the name; the API server reports the same when you apply the CRD",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let mut failures = Vec::new();
    group(crd, &mut failures);
    names(crd, &mut failures);
    metadata(crd, &mut failures);
    Verdict::from_failures(failures, 7)
}

fn group(crd: &Crd, failures: &mut Vec<Failure>) {
    let group = &crd.group;
    let at_group = crd.span_at("/spec/group");
    if !is_dns_subdomain_1123(group) || !group.contains('.') {
        let message = format!("the group {group:?} is not a domain with at least one dot");
        failures
            .push(Failure::new(message).at(at_group).help("use a domain that you own, such as databases.example.com"));
    }
    let expected = format!("{}.{group}", crd.names.plural);
    if crd.name != expected {
        let message = format!("the CRD is named {:?}, but plural and group make {expected:?}", crd.name);
        failures.push(
            Failure::new(message)
                .at(crd.span_at("/metadata/name"))
                .key("name")
                .help(format!("write `name: {expected}`")),
        );
    }
    if !matches!(crd.scope.as_str(), "Namespaced" | "Cluster") {
        let message = format!("the scope {:?} is neither Namespaced nor Cluster", crd.scope);
        failures.push(Failure::new(message).at(crd.span_at("/spec/scope")).key("scope"));
    }
    let protected = |suffix: &str| group == suffix || group.ends_with(&format!(".{suffix}"));
    let approval = crd.node.at(&["metadata", "annotations", "api-approved.kubernetes.io"]).and_then(Node::as_str);
    if (protected("k8s.io") || protected("kubernetes.io")) && !approval.is_some_and(is_approval) {
        let message = match approval {
            Some(text) if !text.is_empty() => {
                format!(
                    "{group} is a protected group of the Kubernetes community, and {text:?} is not a link to an approval"
                )
            }
            _ => format!(
                "{group} is a protected group of the Kubernetes community, and the CRD has no approval annotation"
            ),
        };
        let help = "add the annotation api-approved.kubernetes.io with the link to the approval (or `unapproved, …`), or use a group of your own";
        failures.push(Failure::new(message).at(at_group).key("approval").help(help));
    }
}

/// Returns true for an approval: a URL with a scheme and a host, or a statement that there is none.
fn is_approval(text: &str) -> bool {
    let host = text.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    text.starts_with("unapproved") || !host.is_empty() && is_request_uri(text)
}

fn names(crd: &Crd, failures: &mut Vec<Failure>) {
    let mut valid = |pointer: &str, name: &str, what: &str| {
        if !is_dns_label_1035(&name.to_lowercase()) || (!what.contains("ind") && name != name.to_lowercase()) {
            let message = format!("the {what} {name:?} is not valid");
            let help =
                "use letters, digits and dashes, start with a letter, at most 63 characters; only kinds have capitals";
            failures.push(Failure::new(message).at(crd.span_at(pointer)).help(help));
        }
    };
    valid("/spec/names/plural", &crd.names.plural, "plural");
    valid("/spec/names/kind", &crd.names.kind, "kind");
    if let Some(singular) = crd.names.singular.as_ref().filter(|name| !name.is_empty()) {
        valid("/spec/names/singular", singular, "singular");
    }
    if let Some(list_kind) = crd.names.list_kind.as_ref().filter(|name| !name.is_empty()) {
        valid("/spec/names/listKind", list_kind, "listKind");
    }
    for (index, name) in crd.names.short_names.iter().enumerate() {
        valid(&format!("/spec/names/shortNames/{index}"), name, "short name");
    }
    for (index, name) in crd.names.categories.iter().enumerate() {
        valid(&format!("/spec/names/categories/{index}"), name, "category");
    }
    if crd.names.list_kind.as_ref() == Some(&crd.names.kind) {
        let message = format!("kind and listKind are both {:?}", crd.names.kind);
        failures.push(Failure::new(message).at(crd.span_at("/spec/names/listKind")).help("end the listKind with List"));
    }
}

fn metadata(crd: &Crd, failures: &mut Vec<Failure>) {
    for map in ["labels", "annotations"] {
        for entry in crd.node.at(&["metadata", map]).map(Node::entries).unwrap_or_default() {
            if let Err(why) = qualified_name(&entry.key) {
                let message = format!("the key {:?} of metadata.{map} is not valid: {why}", entry.key);
                failures.push(Failure::new(message).at(entry.key_span).help("correct or remove the key"));
            }
            let value = entry.value.as_str().filter(|_| map == "labels");
            if let Some(Err(why)) = value.map(label_value) {
                let message = format!("the value of the label {:?} is not valid: {why}", entry.key);
                failures.push(Failure::new(message).at(entry.value.span).help("correct or remove the label"));
            }
        }
    }
}
