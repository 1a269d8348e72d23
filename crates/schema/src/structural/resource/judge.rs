//! The rules for metadata.

use serde_json::{Map, Value};

use super::super::place::Place;
use super::super::verdict::{Reason, Violation};
use crate::kubernetes::is_dns_subdomain_1123;

const METADATA: &str = "metadata";

/// Maximum size of all annotations of an object together, keys and values.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// The rule for names.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::structural) enum Naming {
    /// A DNS subdomain, for top-level objects.
    Subdomain,
    /// A segment of a URL path, for embedded objects, whose name is optional.
    PathSegment,
}

/// Validates the metadata of an object on creation, or of an embedded one.
pub(in crate::structural) fn judge_created(
    metadata: &Map<String, Value>,
    naming: Naming,
    place: &Place<'_>,
    found: &mut Vec<Violation>,
) {
    judge_names(metadata, naming, place, found);
    if let Some(namespace) = text(metadata, "namespace")
        && (!is_dns_subdomain_1123(namespace) || namespace.contains('.') || namespace.len() > 63)
    {
        let message = format!("{namespace:?} is not a DNS label");
        found.push(invalid(&place.field("namespace"), message));
    }
    let generation = metadata.get("generation").and_then(Value::as_i64);
    if let Some(generation) = generation.filter(|generation| *generation < 0) {
        let message = format!("must not be negative, is {generation}");
        found.push(invalid(&place.field("generation"), message));
    }
    judge_finalizers(metadata, &place.field("finalizers"), found);
    judge_updated(metadata, place, found);
}

/// Validates the parts that are also validated on updates.
pub(in crate::structural) fn judge_updated(
    metadata: &Map<String, Value>,
    place: &Place<'_>,
    found: &mut Vec<Violation>,
) {
    judge_labels(metadata, &place.field("labels"), found);
    judge_annotations(metadata, &place.field("annotations"), found);
    judge_owners(metadata, &place.field("ownerReferences"), found);
}

fn invalid(place: &Place<'_>, message: String) -> Violation {
    place.refused(Reason::Invalid, METADATA, message)
}

fn text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

fn judge_names(metadata: &Map<String, Value>, naming: Naming, place: &Place<'_>, found: &mut Vec<Violation>) {
    if let Some(prefix) = text(metadata, "generateName")
        && !may_start_name(prefix, naming)
    {
        let message = format!("{prefix:?} cannot start a name");
        found.push(invalid(&place.field("generateName"), message));
    }
    let place = place.field("name");
    let Some(name) = text(metadata, "name") else {
        if naming == Naming::Subdomain {
            let message = "name or generateName is required".to_owned();
            found.push(place.refused(Reason::Required, METADATA, message));
        }
        return;
    };
    let valid = match naming {
        Naming::Subdomain => is_dns_subdomain_1123(name),
        Naming::PathSegment => !name.contains(['/', '%']) && name != "." && name != "..",
    };
    if !valid {
        found.push(invalid(&place, format!("{name:?} is not a valid name")));
    }
}

fn may_start_name(prefix: &str, naming: Naming) -> bool {
    match naming {
        Naming::PathSegment => !prefix.contains(['/', '%']),
        // The dash before the generated part is not the end of the name, so a letter replaces it and the character
        // before it.
        Naming::Subdomain => match prefix.strip_suffix('-') {
            Some(front) if !front.is_empty() => {
                let mut front = front.to_owned();
                front.pop();
                is_dns_subdomain_1123(&format!("{front}a"))
            }
            _ => is_dns_subdomain_1123(prefix),
        },
    }
}

fn judge_labels(metadata: &Map<String, Value>, place: &Place<'_>, found: &mut Vec<Violation>) {
    for (key, value) in entries(metadata, "labels") {
        if !is_qualified_name(key) {
            found.push(invalid(place, format!("{key:?} is not a valid label key")));
        }
        if !value.is_empty() && !is_name_part(value) {
            found.push(invalid(place, format!("{value:?} is not a valid label value")));
        }
    }
}

fn judge_annotations(metadata: &Map<String, Value>, place: &Place<'_>, found: &mut Vec<Violation>) {
    let mut size = 0;
    for (key, value) in entries(metadata, "annotations") {
        size += key.len() + value.len();
        if !is_qualified_name(&key.to_lowercase()) {
            found.push(invalid(place, format!("{key:?} is not a valid annotation key")));
        }
    }
    if size > ANNOTATIONS_LIMIT {
        let message = format!("has {size} bytes, may have at most {ANNOTATIONS_LIMIT}");
        found.push(place.refused(Reason::TooLong, METADATA, message));
    }
}

fn entries<'a>(metadata: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let map = metadata.get(name).and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

fn judge_finalizers(metadata: &Map<String, Value>, place: &Place<'_>, found: &mut Vec<Violation>) {
    let finalizers: Vec<&str> = items(metadata, "finalizers").iter().filter_map(Value::as_str).collect();
    for finalizer in &finalizers {
        if !is_qualified_name(finalizer) {
            found.push(invalid(place, format!("{finalizer:?} is not a valid finalizer")));
        }
    }
    if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
        let message = "orphan and foregroundDeletion exclude each other".to_owned();
        found.push(invalid(place, message));
    }
}

fn items<'a>(metadata: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    metadata.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn judge_owners(metadata: &Map<String, Value>, place: &Place<'_>, found: &mut Vec<Violation>) {
    let mut controllers = 0;
    for owner in items(metadata, "ownerReferences").iter().filter_map(Value::as_object) {
        let api_version = text(owner, "apiVersion").unwrap_or_default();
        if version_of(api_version).is_empty() {
            let message = format!("{api_version:?} names no version");
            found.push(invalid(&place.field("apiVersion"), message));
        }
        for name in ["kind", "name", "uid"] {
            if text(owner, name).is_none_or(str::is_empty) {
                found.push(invalid(&place.field(name), "must not be empty".to_owned()));
            }
        }
        if api_version == "v1" && text(owner, "kind") == Some("Event") {
            found.push(invalid(place, "an Event cannot be an owner".to_owned()));
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            controllers += 1;
        }
    }
    if controllers > 1 {
        let message = format!("{controllers} owners are controllers, only one may be");
        found.push(invalid(place, message));
    }
}

/// The version in an apiVersion; empty if there is none.
fn version_of(api_version: &str) -> &str {
    match api_version.split_once('/') {
        None => api_version,
        Some((_, version)) if !version.contains('/') => version,
        Some(_) => "",
    }
}

/// A name of letters, digits, dashes, dots and underscores, perhaps with a DNS subdomain and a slash
/// before it.
fn is_qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain_1123(prefix) && is_name_part(name),
        None => is_name_part(text),
    }
}

fn is_name_part(text: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 63
        && text.starts_with(alphanumeric)
        && text.ends_with(alphanumeric)
        && text.chars().all(|c| alphanumeric(c) || matches!(c, '-' | '_' | '.'))
}
