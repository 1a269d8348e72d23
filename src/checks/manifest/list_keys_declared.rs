//! Lists that are merged by key need keys that are always present.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::structural::{Path, Schema, Type};

pub(crate) const CHECK: Check = Check {
    id: "manifest/list-keys-declared",
    title: "keys of keyed lists are declared scalars, required or defaulted, and not nullable",
    why: "Server-side apply identifies items by their keys. The API server refuses a keyed list whose keys can be \
          missing; in a set of objects, items are the same only if every byte is.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy",
        "docs/api-server-behaviour.md#list-map-keys-must-be-required-or-defaulted",
        "https://github.com/kubernetes/kubernetes/pull/124553",
    ],
    severity: Severity::Error,
    since: Some(18),
    help: "declare each key as a scalar property of the items, and make it required or give it a default",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    let mut examined = 0;
    for version in &evidence.crd.versions {
        let Some(schema) = &version.schema else {
            continue;
        };
        schema.walk(&mut |path, node| {
            examined += 1;
            let found = list(path, node).into_iter();
            failures.extend(found.map(|failure| failure.version(&version.name).path(path)));
        });
    }
    Verdict::from_failures(failures, examined)
}

fn list(path: &Path, list: &Schema) -> Vec<Failure> {
    let keys_span = list.keyword_span("x-kubernetes-list-map-keys");
    let Some(list_type) = list.list_type.as_deref() else {
        return if list.list_map_keys.is_empty() {
            Vec::new()
        } else {
            vec![Failure::new(format!("{path} has list-map keys but no `x-kubernetes-list-type: map`")).at(keys_span)]
        };
    };
    let mut failures = Vec::new();
    if list_type != "map" && !list.list_map_keys.is_empty() {
        failures
            .push(Failure::new(format!("{path} has list-map keys but is a list of type {list_type}")).at(keys_span));
    }
    let Some(items) = list.items.as_deref() else {
        return failures;
    };
    if matches!(list_type, "map" | "set") && items.nullable {
        failures.push(
            Failure::new(format!("the items of the list-{list_type} {path} are nullable"))
                .at(items.keyword_span("nullable")),
        );
    }
    match list_type {
        "map" => map(path, list, items, &mut failures),
        "set" => set(path, list, items, &mut failures),
        _ => {}
    }
    failures
}

fn map(path: &Path, list: &Schema, items: &Schema, failures: &mut Vec<Failure>) {
    let span = list.keyword_span("x-kubernetes-list-map-keys");
    if list.list_map_keys.is_empty() {
        let at = list.keyword_span("x-kubernetes-list-type");
        failures.push(
            Failure::new(format!("the list-map {path} names no keys")).at(at).help("add x-kubernetes-list-map-keys"),
        );
    }
    if items.ty != Some(Type::Object) {
        failures.push(Failure::new(format!("the items of the list-map {path} are not objects")).at(items.span));
        return;
    }
    for (index, key) in list.list_map_keys.iter().enumerate() {
        if list.list_map_keys[..index].contains(key) {
            failures.push(Failure::new(format!("the key {key:?} of the list-map {path} is named twice")).at(span));
            continue;
        }
        let Some(property) = items.properties.get(key) else {
            failures.push(
                Failure::new(format!("the key {key:?} of the list-map {path} is not a property of its items")).at(span),
            );
            continue;
        };
        if property.ty.is_some_and(|ty| !ty.is_scalar()) {
            failures.push(
                Failure::new(format!("the key {key:?} of the list-map {path} is not a scalar")).at(property.span),
            );
        }
        if property.nullable {
            failures.push(
                Failure::new(format!("the key {key:?} of the list-map {path} is nullable"))
                    .at(property.keyword_span("nullable")),
            );
        }
        if !items.required.contains(key) && property.default.is_none() {
            let message = format!("the key {key:?} of the list-map {path} is neither required nor defaulted");
            failures.push(Failure::new(message).at(property.span));
        }
    }
}

/// Reports lists that the server refuses as errors, and lists whose items it compares byte by byte as warnings.
fn set(path: &Path, list: &Schema, items: &Schema, failures: &mut Vec<Failure>) {
    let at = list.keyword_span("x-kubernetes-list-type");
    let (what, atomic) = match items.ty {
        Some(Type::Object) => ("objects", items.map_type.as_deref() == Some("atomic")),
        Some(Type::Array) => ("lists", items.list_type.as_deref().is_none_or(|ty| ty == "atomic")),
        _ => return,
    };
    if atomic {
        let message = format!("{path} is a set of {what}: two items are the same only if every byte is");
        let help = "use `x-kubernetes-list-type: map` with keys, or atomic";
        failures.push(Failure::new(message).at(at).severity(Severity::Warning).help(help));
    } else {
        let message = format!("{path} is a set of {what} that are not atomic");
        failures.push(
            Failure::new(message).at(at).help("use `x-kubernetes-list-type: map` with keys, or make the items atomic"),
        );
    }
}
